package offsets

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/hostile"
)

// seedELF returns a small valid file with two functions.
func seedELF() []byte {
	code := []byte{0x55, 0xc3, 0x90, 0xc3}
	symbols := []hostile.Symbol{{Name: 1, Addr: hostile.Text, Size: 2}, {Name: 3, Addr: hostile.Text + 2, Size: 2}}
	return hostile.ELF(code, hostile.SymbolTable([]byte("\x00f\x00g\x00"), symbols)...)
}

// FuzzOpen checks that no file makes the reader panic or return a site outside the executable segments.
func FuzzOpen(f *testing.F) {
	f.Add(seedELF())
	f.Add([]byte("\x7fELF"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, fmt.Sprint(os.Getpid()))
		fixture.NoError(t, os.WriteFile(path, data, 0o644))
		if err := readHostile(path, data); err != nil {
			t.Error(err)
		}
	})
}
