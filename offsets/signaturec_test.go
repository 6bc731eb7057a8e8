package offsets

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/offsets/internal/debug"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestCSignature checks parameters and results of C functions. If debug information has the location of a parameter at the
// first instruction, the locations must agree.
func TestCSignature(t *testing.T) {
	for _, c := range []struct {
		compiler, source string
		functions        []struct{ name, params, results string }
	}{
		{"gcc", "values.c", []struct{ name, params, results string }{
			{"add", "a=di/4 b=si/8", "r0=ax/8"},
			{"swap", "p=di/8,si/8 s=dx/8", "r0=ax/8,dx/8"},
			{"mix", "d=x/8 m=x/8,di/8 n=si/4", "r0=x/8,ax/8"},
			{"grow", "l=8(sp)/24 n=si/4", "r0=0(ax)/24"},
			{"sum", "f=x/8,x/4 c=di/1", "r0=x/4"},
			{"many", "a=di/8 b=si/8 c=dx/8 d=cx/8 e=r8/8 p=8(sp)/16 f=r9/8 g=24(sp)/1", "r0=ax/8"},
			{"choose", "e=? n=?", "r0=ax/4"},
			{"name", "c=di/4 fallback=si/8 f=dx/8", "r0=ax/8"},
			{"nothing", "", ""},
		}},
		{"aarch64-linux-gnu-gcc", "values.c", []struct{ name, params, results string }{
			{"add", "a=x0/4 b=x1/8", "r0=x0/8"},
			{"swap", "p=x0/8,x1/8 s=x2/8", "r0=x0/8,x1/8"},
			{"mix", "d=x/8 m=x0/8,x1/8 n=x2/4", "r0=x0/8,x1/8"},
			{"grow", "l=0(x0)/24 n=x1/4", "r0=?"},
			{"sum", "f=x/4,x/4,x/4 c=x0/1", "r0=x/4"},
			{"many", "a=x0/8 b=x1/8 c=x2/8 d=x3/8 e=x4/8 p=x5/8,x6/8 f=x7/8 g=0(sp)/1", "r0=x0/8"},
			{"choose", "e=? n=?", "r0=x0/4"},
		}},
		{"aarch64-linux-gnu-gcc", "homogeneous.c", []struct{ name, params, results string }{
			{"spread", "d=x/8,x/8,x/8,x/8 n=x0/4", "r0=x/8"},
			{"turn", "d=x/8,x/8,x/8,x/8", "r0=x/8,x/8,x/8,x/8"},
			{"referred", "f=0(x0)/20 n=x1/4", "r0=x/4"},
			{"twice", "u=x0/8,x1/8 n=x2/4", "r0=x/8"},
			{"rest", "a=x/8 b=x/4,x/4,x/4,x/4 c=0(sp)/16 d=16(sp)/4 n=x0/4", "r0=x/8"},
			{"ended", "a=x0/8 b=x1/8 c=x2/8 d=x3/8 e=x4/8 f=x5/8 g=x6/8 w=0(sp)/16 h=16(sp)/4", "r0=x0/8"},
			{"five", "p=x0/8 n=x1/4", "r0=?"},
			{"text", "t=x0/8,x1/1 n=x2/4", "r0=x0/8,x1/1"},
			{"complexes", "z=x/8,x/8 n=x0/4 y=x/4,x/4", "r0=x/8"},
			{"vector", "v=? n=?", "r0=x/4"},
		}},
	} {
		t.Run(c.compiler+" "+c.source, func(t *testing.T) {
			b := openPath(t, fixture.Compile(t, c.compiler, "signatures/c/"+c.source, "-g", "-O1"))
			compared := 0
			for _, want := range c.functions {
				s := signatureOf(t, b, want.name)
				if params, results := spell(s.Params), spell(s.Results); params != want.params || results != want.results {
					t.Errorf("%s: %s -> %s\nwant %s -> %s", want.name, params, results, want.params, want.results)
				}
				if color := s.Params; want.name == "name" && (color[0].Type.Constant(0) != "RED" || color[0].Type.Constant(1) != "GREEN" || color[0].Type.Constant(2) != "") {
					t.Errorf("constants of %s: %q", color[0].Type.Name, color[0].Type.Constant(0))
				}
				compared += compareLocations(t, b, want.name, s.Params)
			}
			if compared < 8 {
				t.Errorf("%d parameters compared", compared)
			}
		})
	}
}

// TestSignatureOfOthers checks that parameters in other languages than C are refused.
func TestSignatureOfOthers(t *testing.T) {
	b := buildC(t, `extern "C" int add(int a, int b) { return a + b; }`, "-g", "-shared", "-fPIC", "-xc++")
	if s, err := b.Signature(lookup(t, b, "add")); !errors.Is(err, ErrNoDebugInfo) || !strings.Contains(err.Error(), "of C or of Go's") {
		t.Errorf("%+v, %v", s, err)
	}
}

// compareLocations compares the locations of parameters with debug information's at the first instruction, and returns
// the number of compared parameters.
func compareLocations(t *testing.T, b *Binary, name string, params []Variable) (compared int) {
	t.Helper()
	f, _ := b.Lookup(name)
	d, err := b.debug()
	fixture.NoError(t, err)
	fn, err := d.Function(f.Addr)
	fixture.NoError(t, err)
	for i, v := range params {
		at, ok := d.Location(fn, f.Addr, &fn.Params[i])
		if !ok || v.Err != nil || at.Stack && at.Disp < at.Lowest { // in the function's own frame
			continue
		}
		compared++
		told := len(at.Registers) == len(v.Pieces)
		for k, p := range v.Pieces {
			told = told && !p.InMemory && p.Register == at.Registers[k]
		}
		if at.Stack {
			told = len(v.Pieces) == 1 && v.Pieces[0].InMemory && v.Pieces[0].Register == at.SP && v.Pieces[0].Disp == at.Disp
		}
		if !told {
			t.Errorf("%s: %s is at %s, debug information has %+v", name, v.Name, whereIs(v), at)
		}
	}
	return compared
}

// TestSignatureLocations checks a whole program: if debug information has the location of a parameter at entry, it is
// the location that follows from the types.
func TestSignatureLocations(t *testing.T) {
	// The debug information of all versions is wrong here: the code reads max from DI.
	const wrong = "runtime.(*pallocData).findScavengeCandidate max"
	for _, of := range [][2]string{
		{"amd64", "1.10.8"}, {"amd64", "1.12.17"}, {"amd64", "1.16.15"}, {"amd64", "1.18.10"}, {"amd64", "1.20.14"}, {"amd64", "1.24.6"},
		{"arm64", "1.16.15"}, {"arm64", "1.17.13"}, {"arm64", "1.18.10"}, {"arm64", "1.20.14"}, {"arm64", "1.22.12"}, {"arm64", "1.24.6"},
	} {
		t.Run(of[0]+" "+of[1], func(t *testing.T) {
			b := openPath(t, fixture.BuildFor(t, of[0], of[1], "server"))
			d, err := b.debug()
			fixture.NoError(t, err)
			compared, unknown := 0, 0
			for i := range b.Funcs() {
				f := &b.Funcs()[i]
				s, err := b.Signature(f)
				if f.ABI == SystemV || err != nil || s.Source != fromDebug {
					continue
				}
				fn, err := d.Function(f.Addr)
				fixture.NoError(t, err)
				byName := make(map[string]*debug.Formal)
				for i := range fn.Params {
					byName[fn.Params[i].Name] = &fn.Params[i]
				}
				for i := range fn.Results {
					byName[variablesOf(fn.Results, "r")[i].Name] = &fn.Results[i]
				}
				for i, v := range slices.Concat(s.Params, s.Results) {
					if v.Err != nil {
						unknown++
					}
					told := byName[v.Name]
					if told == nil || v.Err != nil {
						continue
					}
					at, ok := d.Location(fn, f.Addr, told)
					pieces, fits := piecesAt(at, v.Type)
					if i >= len(s.Params) { // only on the stack a result has the same place at the function's start
						var disp int64
						disp, ok = d.Slot(fn, told)
						fits = v.Type.Size > 0 && f.ABI == ABI0
						pieces = arch.OnStack(b.File().Processor.Machine().SP, v.Type.Size, disp)
					}
					if !ok || !fits {
						continue
					}
					if compared++; !slices.Equal(pieces, v.Pieces) && f.Name+" "+v.Name != wrong {
						t.Errorf("%s %s %s: at %v, debug information has %v", f.Name, v.Name, v.Type.Name, v.Pieces, pieces)
					}
				}
			}
			most := compared / 200
			if of[1] == "1.12.17" { // its debug information omits the receivers of wrappers
				most = compared / 20
			}
			if compared < 2000 || unknown > most {
				t.Errorf("%d parameters compared, %d without a place", compared, unknown)
			}
		})
	}
}
