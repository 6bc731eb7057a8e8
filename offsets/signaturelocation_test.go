package offsets

import (
	"slices"
	"testing"

	"github.com/ftgo/ftgo/offsets/internal/debug"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestSignatureLocations: where whole programs' debug information tells at which place
// a parameter is at entry, it is the one that was found by type.
func TestSignatureLocations(t *testing.T) {
	// Debug information is wrong here, of all versions: the code takes max from DI.
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
				for _, v := range s.Params {
					if v.Err != nil {
						unknown++
					}
					told := byName[v.Name]
					if told == nil || v.Err != nil {
						continue
					}
					at, ok := d.Location(fn, f.Addr, told)
					pieces, fits := piecesAt(at, v.Type)
					if !ok || !fits {
						continue
					}
					if compared++; !slices.Equal(pieces, v.Pieces) && f.Name+" "+v.Name != wrong {
						t.Errorf("%s %s %s: at %v, debug information has %v", f.Name, v.Name, v.Type.Name, v.Pieces, pieces)
					}
				}
			}
			t.Logf("%d parameters compared, %d without a place", compared, unknown)
			if compared < 2000 || unknown > compared/400 {
				t.Errorf("%d parameters compared, %d without a place", compared, unknown)
			}
		})
	}
}
