package offsets

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/offsets/symname"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func noType(string) (*gotype.Type, bool) { return nil, false }

// TestGivenSignature: what debug information says of a function, said by the user, has
// the values in the same places.
func TestGivenSignature(t *testing.T) {
	for _, version := range []string{"1.16.15", "1.18.10", "1.24.6", fixture.Current} {
		t.Run("go "+version, func(t *testing.T) {
			b := openPath(t, fixture.BuildWith(t, version, "signatures"))
			compared := 0
			for _, f := range b.Funcs() {
				if f.Package() != "main" || untold(b, f.Name) {
					continue
				}
				want, err := b.Signature(&f)
				if err != nil || want.Note != "" {
					continue
				}
				g := Given{Function: f.Name, HasSignature: true, params: given(want.Params), results: given(want.Results)}
				got, err := b.GivenSignature(&f, g)
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

// untold: before Go 1.22 debug information has no parameters without names, and what it
// calls the generic type of a receiver before 1.21 is not what a user would.
func untold(b *Binary, function string) bool {
	name := symname.Split(function)
	return strings.EqualFold(name.Func, "blank") && b.goVer.Minor < 22 || name.TypeArgs != "" && !name.Pointer && name.Receiver != "" && b.goVer.Minor < 21
}

func given(variables []Variable) (out []givenVariable) {
	for _, v := range variables {
		out = append(out, givenVariable{v.Name, v.Type.Name})
	}
	return out
}

func compareVariables(t *testing.T, function string, got, want []Variable) {
	t.Helper()
	for i := range want {
		if g, w := got[i], want[i]; w.Err == nil && !reflect.DeepEqual(g.Pieces, w.Pieces) || g.Type.Kind != w.Type.Kind || g.Type.Size != w.Type.Size {
			t.Errorf("%s: %s %s is at %v (%v), as given at %v (%v)", function, w.Name, w.Type.Name, w.Pieces, w.Err, g.Pieces, g.Err)
		}
	}
}

// places writes where variables are: "key=ax+bx n=8(sp)".
func places(variables []Variable) string {
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

func TestGivenPlaces(t *testing.T) {
	b := openPath(t, fixture.Build(t, "exact", "-ldflags=-w"))
	tests := []struct {
		name string
		abi  ABI
		text string
		want string
	}{
		{"main.(*T).Get", ABIInternal, `f(t ptr, key string, n int) (v string, err error)`, `t=ax key=bx+cx n=di | v=ax+bx err=cx+di`},
		{"main.f", ABIInternal, `f(a [2]int, b []byte, c float64, d int8) float32`, `a=8(sp) b=ax+bx+cx c= d=di | r0=`},
		{"main.f", ABI0, `f(a int8, key string, n int) (ok bool, err error)`, `a=8(sp) key=16(sp) n=32(sp) | ok=40(sp) err=48(sp)`},
		{"main.f[go.shape.int]", ABIInternal, `f(a int)`, `a=bx | `},
		{"main.(*G[go.shape.int]).f", ABIInternal, `f(g *G, a int)`, `g=ax a=cx | `},
		{"f", SystemV, `f(a int, s *char, x float64, n int32) int`, `a=di s=si x= n=dx | r0=ax`},
		{"f", SystemV, `f(a int) (n int, err error)`, `a=si | n=0(ax) err=8(ax)`},
		{"f", SystemV, `f(a int) (n int, ok bool)`, `a=di | n=ax ok=dx`},
		{"main.f", ABIInternal, `f(goarg1, key=goarg2:string, x=goarg9:uint8, e=goret3:error, p=goarg1:*T)`, `goarg1=ax key=bx+cx x=r11 p=ax | e=cx+di`},
		{"main.f", ABI0, `f(goarg1:bool, key=goarg2:string, f=goarg4:float64)`, `goarg1=8(sp) key=16(sp) f=32(sp) | `},
		{"main.f", ABIInternal, `f(key, k=%ax)`, ` | `},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			g, ok, err := ParseGiven(tt.text)
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			s, err := b.GivenSignature(&Func{Name: tt.name, ABI: tt.abi}, g)
			if err != nil {
				t.Fatal(err)
			}
			if got := places(s.Params) + " | " + places(s.Results); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestGivenSignatureErrors(t *testing.T) {
	b := openPath(t, fixture.Build(t, "exact", "-ldflags=-w"))
	tests := []struct {
		abi        ABI
		text, want string
	}{
		{ABIInternal, `f(a foo)`, `lay out parameters of main.f: a: type "foo": neither predeclared nor in debug information`},
		{ABIInternal, `f() (a, b b|c)`, `a: type "b|c": not a type`},
		{ABIInternal, `f(a.b int)`, `p0: type "a.b int": not a type`},
		{ABIInternal, `f(a [x]int)`, `a: type "[x]int": bad length of an array`},
		{ABIInternal, `f(a [2]foo)`, `a: type "foo": neither predeclared nor in debug information`},
		{ABIInternal, `f(a [2000000000][2000000000]int)`, `too large`},
		{ABIInternal, `f(a *[x]int)`, `a: type "[x]int": bad length of an array`},
		{ABIInternal, `f(goarg10)`, `goarg10: only 9 of Go's registers are for integers`},
		{ABIInternal, `f(k=goarg9:string)`, `k: a string does not fit into the registers from there on`},
		{ABIInternal, `f(k=goarg1:float64)`, `k: goargN and goretN are registers for integers, and its type is floating point`},
		{ABIInternal, `f(k=goarg1:foo)`, `k: type "foo": neither predeclared nor in debug information`},
		{ABI0, `f(k=goret1)`, `k: results of this function follow its parameters on the stack: give its signature`},
		{SystemV, `f(k=goarg1)`, `k: goargN and goretN are Go's own registers, which this function does not use: give its signature`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			g, ok, err := ParseGiven(tt.text)
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			if _, err = b.GivenSignature(&Func{Name: "main.f", ABI: tt.abi}, g); err == nil || !strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestGivenType(t *testing.T) {
	point := &gotype.Type{Name: "main.point", Kind: reflect.Struct, Size: 8, Align: 4}
	named := func(name string) (*gotype.Type, bool) { return point, name == "main.point" }
	tests := []struct {
		text string
		kind reflect.Kind
		size int64
		elem string // of what it leads to, "" if that is not known
	}{
		{"int32", reflect.Int, 4, ""},
		{"ptr", reflect.UnsafePointer, 8, ""},
		{"main.point", reflect.Struct, 8, ""},
		{"*main.point", reflect.Pointer, 8, "main.point"},
		{"*main.other", reflect.Pointer, 8, ""},
		{"**net/http.Request", reflect.Pointer, 8, "*net/http.Request"},
		{"[]byte", reflect.Slice, 24, "byte"},
		{"[][]main.G[int]", reflect.Slice, 24, "[]main.G[int]"},
		{"...string", reflect.Slice, 24, "string"},
		{"...[]string", reflect.Slice, 24, "[]string"},
		{"[3]main.point", reflect.Array, 24, "main.point"},
		{"[0]int", reflect.Array, 0, "int"},
		{"map", reflect.Map, 8, ""},
		{"map[string]int", reflect.Map, 8, ""},
		{"chan", reflect.Chan, 8, ""},
		{"chan<- int", reflect.Chan, 8, ""},
		{"<-chan int", reflect.Chan, 8, ""},
		{"func", reflect.Func, 8, ""},
		{"func(int) error", reflect.Func, 8, ""},
		{"error", reflect.Interface, 16, ""},
		{"any", reflect.Interface, 16, ""},
		{"interface{}", reflect.Interface, 16, ""},
		{"interface { M() }", reflect.Interface, 16, ""},
		{"struct{}", reflect.Struct, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := givenType(tt.text, named)
			if err != nil {
				t.Fatal(err)
			}
			elem := ""
			if e := got.Elem(); e != nil {
				elem = e.Name
			}
			if got.Kind != tt.kind || got.Size != tt.size || elem != tt.elem {
				t.Errorf("kind %d, size %d, leads to %q", got.Kind, got.Size, elem)
			}
			methods := slices.Contains([]string{"error", "interface { M() }"}, tt.text)
			if got.Methods != methods {
				t.Errorf("has methods: %v", got.Methods)
			}
		})
	}
}
