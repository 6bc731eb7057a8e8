package target

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/binaries"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func noType(string) (*gotype.Type, bool) { return nil, false }

// TestSignature checks that the types from debug information, given by the user, yield the same places.
func TestSignature(t *testing.T) {
	for _, version := range []string{"1.16.15", "1.18.10", "1.24.6", fixture.Current} {
		t.Run("go "+version, func(t *testing.T) {
			b := binaries.Open(t, fixture.BuildWith(t, version, "signatures"))
			compared := 0
			for _, f := range b.Funcs() {
				if symname.Split(f.Name).Package != "main" || incomparable(b, f.Name) {
					continue
				}
				want, err := b.Signature(&f)
				if err != nil || want.Note != "" {
					continue
				}
				g := funcArg{hasSignature: true, params: spelled(want.Params), results: spelled(want.Results)}
				got, err := g.signature(b, &f)
				if err != nil {
					t.Errorf("%s: %v", f.Name, err)
					continue
				}
				compareVariables(t, f.Name, got.Params, want.Params)
				compareVariables(t, f.Name, got.Results, want.Results)
				compared++
			}
			if compared < 20 {
				t.Errorf("%d functions compared", compared)
			}
		})
	}
}

// incomparable reports whether debug information differs from the source: before Go 1.22 it lacks parameters without names,
// and before 1.21 it has another name for the generic type of a receiver.
func incomparable(b *offsets.Binary, function string) bool {
	name := symname.Split(function)
	minor, _ := b.GoVersion()
	return strings.EqualFold(name.Func, "blank") && minor < 22 || name.TypeArgs != "" && !name.Pointer && name.Receiver != "" && minor < 21
}

func spelled(variables []offsets.Variable) (out []selection) {
	for _, v := range variables {
		out = append(out, selection{Name: v.Name, Type: v.Type.Name})
	}
	return out
}

func compareVariables(t *testing.T, function string, got, want []offsets.Variable) {
	t.Helper()
	for i := range want {
		if g, w := got[i], want[i]; w.Err == nil && !reflect.DeepEqual(g.Pieces, w.Pieces) || g.Type.Kind != w.Type.Kind || g.Type.Size != w.Type.Size {
			t.Errorf("%s: %s %s is at %v (%v), as given at %v (%v)", function, w.Name, w.Type.Name, w.Pieces, w.Err, g.Pieces, g.Err)
		}
	}
}

// places formats the places of variables: "key=ax+bx n=8(sp)".
func places(variables []offsets.Variable) string {
	var out []string
	for _, v := range variables {
		var pieces []string
		for _, p := range v.Pieces {
			if p.InMemory {
				pieces = append(pieces, fmt.Sprintf("%d(%s)", p.Disp, p.Register))
			} else {
				pieces = append(pieces, string(p.Register))
			}
		}
		if v.Err != nil {
			pieces = append(pieces, v.Err.Error())
		}
		out = append(out, v.Name+"="+strings.Join(pieces, "+"))
	}
	return strings.Join(out, " ")
}

// typesThereAre is the end of the error about an unknown type.
const typesThereAre = "neither predeclared nor known of this program: say int, uint64, bool, string, []byte, error, any, ptr or a type that is"

// TestPlacesOnArm64 checks where C has values in words, by reference and on the stack.
func TestPlacesOnArm64(t *testing.T) {
	b := binaries.Open(t, fixture.BuildFor(t, "arm64", fixture.Current, "exact"))
	for text, want := range map[string]string{
		`f(a, b, c, d, e int, p string, f int, g int8) string`:           `a=x0 b=x1 c=x2 d=x3 e=x4 p=x5+x6 f=x7 g=0(sp) | r0=x0+x1`,
		`f(a, b, c, d, e, f, g int, w string, h int32) [4]float64`:       `a=x0 b=x1 c=x2 d=x3 e=x4 f=x5 g=x6 w=0(sp) h=16(sp) | r0=+++`,
		`f(l []byte, n int32, a complex128, b [5]float32, c [2]float64)`: `l=0(x0) n=x1 a=+ b=0(x2) c=+ | `,
		`f() []byte`: ` | r0=the place of the result is unknown`,
	} {
		g, err := parseFunc(text, false, true)
		fixture.NoError(t, err)
		s, err := g.signature(b, &offsets.Func{Name: "f", ABI: offsets.SystemV})
		fixture.NoError(t, err)
		if got := places(s.Params) + " | " + places(s.Results); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// TestPlaces checks where parameters and results are, or the ends of errors.
func TestPlaces(t *testing.T) {
	b := binaries.Open(t, fixture.Build(t, "exact", "-ldflags=-w"))
	const receiver = "the first parameter of a method is its receiver, here a pointer: (t ptr, …)"
	for _, tt := range []struct {
		name       string
		abi        offsets.ABI
		text, want string
	}{
		{"main.(*T).Get", offsets.ABIInternal, `f(t ptr, key string, n int) (v string, err error)`, `t=ax key=bx+cx n=di | v=ax+bx err=cx+di`},
		{"main.f", offsets.ABIInternal, `f(a [2]int, b []byte, c float64, d int8) float32`, `a=8(sp) b=ax+bx+cx c= d=di | r0=`},
		{"main.f", offsets.ABI0, `f(a int8, key string, n int) (ok bool, err error)`, `a=8(sp) key=16(sp) n=32(sp) | ok=40(sp) err=48(sp)`},
		{"main.f[go.shape.int]", offsets.ABIInternal, `f(a int)`, `a=bx | `},
		{"main.(*G[go.shape.int]).f", offsets.ABIInternal, `f(g *G, a int)`, `g=ax a=cx | `},
		{"f", offsets.SystemV, `f(a int, s *char, x float64, n int32) int`, `a=di s=si x= n=dx | r0=ax`},
		{"f", offsets.SystemV, `f(a int) (n int, err error)`, `a=di | n=a function of C has one result err=a function of C has one result`},
		{"f", offsets.SystemV, `f(l []byte, n int32) []byte`, `l=8(sp) n=si | r0=0(ax)`},
		{"f", offsets.SystemV, `f(a, b, c, d, e int, p string, f int, g int8) string`, `a=di b=si c=dx d=cx e=r8 p=8(sp) f=r9 g=24(sp) | r0=ax+dx`},
		{"f", offsets.SystemV, `f(z complex64, y complex128, n [2]int32) complex128`, `z= y=+ n=di | r0=+`},
		{"main.f", offsets.ABIInternal, `f(goarg1, key=goarg2:string, x=goarg9:uint8, e=goret3:error, p=goarg1:*T)`, `goarg1=ax key=bx+cx x=r11 p=ax | e=cx+di`},
		{"main.f", offsets.ABI0, `f(goarg1:bool, key=goarg2:string, f=goarg4:float64)`, `goarg1=8(sp) key=16(sp) f=32(sp) | `},
		{"main.f", offsets.ABIInternal, `f(k=%ax)`, `k= | `},
		{"main.(*T).Get", offsets.ABIInternal, `f(key string)`, receiver},
		{"main.(*T).Get", offsets.ABIInternal, `f(w any, n int)`, receiver},
		{"main.(*T).Get", offsets.ABIInternal, `f(t *T)`, `t=ax | `},
		{"main.(*T).Get", offsets.ABIInternal, `f(t uintptr)`, `t=ax | `},
		{"main.(*T).Get", offsets.ABIInternal, `f() (n int)`, ` | n=ax`},
		{"main.f", offsets.ABIInternal, `f(a foo)`, `lay out parameters of main.f: a: type "foo": ` + typesThereAre},
		{"main.f", offsets.ABIInternal, `f() (a, b b|c)`, `a: type "b|c": not a type`},
		{"main.f", offsets.ABIInternal, `f(a.b int)`, `p0: type "a.b int": not a type`},
		{"main.f", offsets.ABIInternal, `f(a [x]int)`, `a: type "[x]int": bad length of an array`},
		{"main.f", offsets.ABIInternal, `f(a [2000000000][2000000000]int)`, `too large`},
		{"main.f", offsets.ABIInternal, `f(k=%x0)`, `k: %x0 is not a register of x86-64`},
		{"main.f", offsets.ABIInternal, `f(goarg10)`, `goarg10: only 9 of Go's registers are for integers`},
		{"main.f", offsets.ABIInternal, `f(k=goarg9:string)`, `k: a string does not fit into the registers from there on`},
		{"main.f", offsets.ABIInternal, `f(k=goarg1:float64)`, `k: goargN and goretN are registers for integers, and its type is floating point`},
		{"main.f", offsets.ABIInternal, `f(k=goarg1:foo)`, `k: type "foo": ` + typesThereAre},
		{"main.f", offsets.ABI0, `f(k=goret1)`, `k: results of this function follow its parameters on the stack: give its signature`},
		{"main.f", offsets.SystemV, `f(k=goarg1)`, `k: goargN and goretN are Go's own registers, which this function does not use: give its signature`},
	} {
		t.Run(tt.text, func(t *testing.T) {
			g, err := parseFunc(tt.text, false, true)
			fixture.NoError(t, err)
			s, err := g.signature(b, &offsets.Func{Name: tt.name, ABI: tt.abi})
			got := fmt.Sprint(err)
			if err == nil {
				got = places(s.Params) + " | " + places(s.Results)
			}
			if isError := !strings.Contains(tt.want, " | "); isError != (err != nil) || got != tt.want && !(isError && strings.HasSuffix(got, tt.want)) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
