package debug

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"

	"github.com/ftgo/ftgo/testdata/hostile"
)

// TestConstantsHostile: constants that share one long name take no more memory than they take of the file.
func TestConstantsHostile(t *testing.T) {
	const n, long = 4000, 1 << 16
	le := binary.LittleEndian
	// A unit p of Go, constants of the type behind them by .debug_str, values of two bytes, and that type.
	abbrevs := []byte{1, 0x11, 1, 0x03, 0x08, 0x13, 0x0b, 0, 0, 2, 0x27, 0, 0x03, 0x0e, 0x1c, 0x05, 0x49, 0x13, 0, 0, 3, 0x24, 0, 0x03, 0x0e, 0x0b, 0x0b, 0x3e, 0x0b, 0, 0, 0}
	const typeAt = 11 + 4 + n*11
	entries := []byte{1, 'p', 0, 0x16}
	for i := range n {
		entries = le.AppendUint32(append(entries, 2), 0)
		entries = le.AppendUint16(entries, uint16(i))
		entries = le.AppendUint32(entries, typeAt)
	}
	entries = append(le.AppendUint32(append(entries, 3), 0), 8, 0x05, 0)
	info := le.AppendUint32(nil, uint32(7+len(entries)))
	info = append(le.AppendUint32(le.AppendUint16(info, 4), 0), 8)
	info = append(info, entries...)
	text := append([]byte("p."), bytes.Repeat([]byte("c"), long)...)
	path := filepath.Join(t.TempDir(), "constants")
	f := hostile.File{Data: hostile.ELF(make([]byte, 16), hostile.Section{Name: ".debug_abbrev", Data: abbrevs},
		hostile.Section{Name: ".debug_info", Data: info}, hostile.Section{Name: ".debug_str", Data: append(text, 0)})}
	fixture.NoError(t, f.Write(path))
	d, err := Open(openPath(t, path))
	fixture.NoError(t, err)
	typ, _, _ := d.Constant("p", strings.Repeat("c", long))
	if typ == nil {
		t.Fatal("no constant")
	}
	typ.Constant(1)
	kept := 0
	for _, c := range d.units[0].constants {
		kept += len(c.name)
	}
	if most := 8 * (len(info) + len(text)); kept > most {
		t.Errorf("%d bytes of names, want %d at most", kept, most)
	}
}
