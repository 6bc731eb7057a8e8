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

// TestSignatureLocations checks whole programs that pass arguments on the stack: if debug information has the location of a
// parameter, it is the location that follows from the types. TestWords does the same for registers.
func TestSignatureLocations(t *testing.T) {
	for _, of := range [][2]string{
		{"amd64", "1.10.8"}, {"amd64", "1.12.17"}, {"amd64", "1.16.15"}, {"arm64", "1.16.15"}, {"arm64", "1.17.13"},
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
				for _, v := range slices.Concat(s.Params, s.Results) {
					if v.Err != nil {
						unknown++
					}
					told := byName[v.Name]
					if told == nil || v.Err != nil {
						continue
					}
					disp, ok := d.Slot(told)
					if !ok || v.Type.Size == 0 || f.ABI != ABI0 {
						continue
					}
					pieces := arch.OnStack(b.File().Processor.Machine().SP, v.Type.Size, disp)
					if compared++; !slices.Equal(pieces, v.Pieces) {
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
