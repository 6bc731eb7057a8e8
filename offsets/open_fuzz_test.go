package offsets

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
		b, err := Open(path)
		if err != nil {
			if !strings.HasPrefix(err.Error(), path+": ") {
				t.Errorf("error %q does not begin with the path", err)
			}
			return
		}
		defer b.Close()
		b.Internals().Layout()
		b.Inlined()
		b.Internals().Frames(b.Funcs()[0].Addr)
		b.Internals().LinkAt(b.Funcs()[0].Addr)
		b.File().BuildID()
		for i := range b.Funcs() {
			fn := &b.Funcs()[i]
			b.Signature(fn)
			s, err := b.Sites(fn)
			if err != nil {
				continue
			}
			for _, site := range slices.Concat(begins(s), s.Returns, s.Tails) {
				off, err := b.File().FileOffset(site.Addr())
				if err != nil || off != site.Offset() || off >= uint64(len(data)) {
					t.Errorf("%s: site at %#x, file offset %#x: %v", fn.Name, site.Addr(), site.Offset(), err)
				}
			}
		}
	})
}
