package offsets

import (
	"errors"
	"slices"
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/offsets/internal/debug"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestSignatureOfC checks that debug information of C is not read.
func TestSignatureOfC(t *testing.T) {
	b := buildC(t, `int add(int a, int b) { return a + b; }`, "-g", "-shared", "-fPIC")
	if s, err := b.Signature(lookup(t, b, "add")); !errors.Is(err, ErrNoDebugInfo) {
		t.Errorf("%+v, %v", s, err)
	}
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
