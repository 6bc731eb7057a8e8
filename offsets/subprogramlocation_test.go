package offsets

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ftgo/ftgo/offsets/arch/amd64"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestSignatureLocations: where whole programs' debug information tells at which place
// a parameter is at entry, it is the one that was found by type.
func TestSignatureLocations(t *testing.T) {
	// Debug information is wrong here, of all versions: the code takes max from DI.
	const wrong = "runtime.(*pallocData).findScavengeCandidate max"
	for _, version := range []string{"1.10.8", "1.12.17", "1.16.15", "1.18.10", "1.20.14", "1.24.6"} {
		t.Run(version, func(t *testing.T) {
			b := openPath(t, fixture.BuildWith(t, version, "server"))
			d, err := b.entries()
			if err != nil {
				t.Fatal(err)
			}
			compared, unknown := 0, 0
			for i := range b.Funcs() {
				f := &b.Funcs()[i]
				s, err := b.Signature(f)
				if f.ABI == SystemV || err != nil {
					continue
				}
				fn, err := d.function(f)
				if err != nil {
					t.Fatal(err)
				}
				byName := make(map[string]*formal)
				for i := range fn.params {
					byName[fn.params[i].name] = &fn.params[i]
				}
				for _, v := range s.Params {
					if v.Err != nil {
						unknown++
					}
					told := byName[v.Name]
					if told == nil || v.Err != nil {
						continue
					}
					at, ok := d.entryLocation(fn.unit, f.Addr, told)
					pieces, fits := at.pieces(v.Type)
					if !ok || !fits {
						continue
					}
					if compared++; !slices.Equal(pieces, v.Pieces) && f.Name+" "+v.Name != wrong {
						t.Errorf("%s %s %s: at %v, debug information has %v", f.Name, v.Name, v.Type.Name, v.Pieces, pieces)
					}
				}
			}
			t.Logf("%d parameters compared, %d without a place", compared, unknown)
			if compared < 2000 || unknown > compared/500 {
				t.Errorf("%d parameters compared, %d without a place", compared, unknown)
			}
		})
	}
}

func TestReadExpression(t *testing.T) {
	for _, c := range []struct {
		name       string
		expression []byte
		want       string
	}{
		{"a register", []byte{0x50}, "[ax]"},
		{"a register by number", []byte{0x90, 8}, "[r8]"},
		{"a floating-point register", []byte{0x61}, "[]"},
		{"registers in pieces", []byte{0x50, 0x93, 8, 0x53, 0x93, 8}, "[ax bx]"},
		{"the same register twice", []byte{0x50, 0x93, 8, 0x50, 0x93, 8, 0x53, 0x93, 8}, "[ax bx]"},
		{"from the frame", []byte{0x91, 16}, "24 of 0"},
		{"at the frame", []byte{0x9c}, "8 of 0"},
		{"behind the frame, Go 1.7", []byte{0x9c, 0x11, 16, 0x22}, "24 of 0"},
		{"behind the frame, Go 1.4", []byte{0x9c, 0x23, 16}, "24 of 0"},
		{"on the stack in pieces", []byte{0x91, 0, 0x93, 8, 0x91, 8, 0x93, 8}, "8 of 16"},
		{"pieces that are not neighbours", []byte{0x91, 16, 0x93, 8, 0x91, 16, 0x93, 8}, "nothing"},
		{"one piece is nowhere", []byte{0x50, 0x93, 8, 0x93, 8}, "nothing"},
		{"on the stack and in a register", []byte{0x91, 0, 0x93, 8, 0x50, 0x93, 8}, "nothing"},
		{"a value and no place", []byte{0x50, 0x9f}, "nothing"},
		{"cut off", []byte{0x91}, "nothing"},
		{"empty", nil, "nothing"},
		{"no such register", []byte{0x90, 99}, "nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			at, ok := readExpression(amd64.Processor, c.expression)
			got := "nothing"
			if ok && at.stack {
				got = fmt.Sprintf("%d of %d", at.disp, at.size)
			} else if ok {
				got = fmt.Sprint(at.registers)
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// FuzzExpression: no expression makes the reader panic, and what it makes out is a
// place.
func FuzzExpression(f *testing.F) {
	f.Add([]byte{0x50, 0x93, 8, 0x53, 0x93, 8})
	f.Add([]byte{0x9c, 0x11, 16, 0x22})
	f.Add([]byte{0x91, 0, 0x93, 8, 0x91, 8, 0x93, 8})
	f.Fuzz(func(t *testing.T, expression []byte) {
		at, ok := readExpression(amd64.Processor, expression)
		if ok && at.stack == (len(at.registers) > 0) {
			t.Errorf("% x: %+v", expression, at)
		}
	})
}
