package gotab

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/hostile"
)

// hostileTypes are builds of testdata/types of each kind of layout.
var hostileTypes = []struct{ version, flags string }{
	{fixture.Current, "-ldflags=-s"}, {fixture.Current, "-buildmode=pie -ldflags=-s"}, {"1.12.17", "-ldflags=-s"}, {"1.5.4", ""}, {"1.27.4", "-ldflags=-s"},
}

// walkType visits what a type holds by value, and counts it; then, a few steps far,
// what pointers, slices and channels in it lead to.
func walkType(t *gotype.Type, steps int) (n int, err error) {
	if t.Size < 0 || t.Align <= 0 || t.Len < 0 || t.Name == "" {
		return 0, fmt.Errorf("%+v", t)
	}
	n = 1
	end := int64(0)
	for _, f := range t.Fields {
		if f.Offset < end || f.Offset+f.Type.Size > t.Size || f.Name == "" {
			return n, fmt.Errorf("%s: field %+v", t.Name, f)
		}
		end = f.Offset + f.Type.Size
		held, err := walkType(f.Type, steps)
		if n += held; err != nil || n > 1<<20 {
			return n, errors.Join(err, fmt.Errorf("%s holds %d", t.Name, n))
		}
	}
	if steps == 0 && t.Kind != reflect.Array {
		return n, nil
	}
	if elem := t.Elem(); elem != nil {
		if t.Kind != reflect.Array {
			steps--
		}
		held, err := walkType(elem, steps)
		return n + held, err
	}
	return n, nil
}

// TestRuntimeTypeDamaged: types of damaged files are refused, or sound enough to be
// walked.
func TestRuntimeTypeDamaged(t *testing.T) {
	for _, build := range hostileTypes {
		t.Run(build.version+" "+build.flags, func(t *testing.T) {
			path := buildTypes(t, build.version, build.flags)
			addrs := typeAddrs(t, openPath(t, path))
			seed, err := os.ReadFile(path)
			fixture.NoError(t, err)
			m, err := hostile.NewMutator(seed)
			fixture.NoError(t, err)
			mutant := filepath.Join(t.TempDir(), "mutant")
			read := 0
			for n := range 40 {
				data := m.Mutant(n)
				r := rand.New(rand.NewPCG(uint64(n), 2))
				for range 50 {
					if len(data) == len(seed) {
						m.Damage(r, data, ".rodata", ".data.rel.ro", ".rela", ".rela.dyn", ".dynamic", ".go.module", ".noptrdata", ".data")
					}
				}
				fixture.NoError(t, os.WriteFile(mutant, data, 0o600))
				f, err := os.Open(mutant)
				fixture.NoError(t, err)
				if b, err := openFile(f); err == nil {
					read += walkTypes(t, b, addrs)
				}
				f.Close()
			}
			t.Logf("%d types", read)
			if read < 1000 {
				t.Errorf("only %d types could be read", read)
			}
		})
	}
}

// typeAddrs are the addresses of types, found by trying all.
func typeAddrs(t testing.TB, b *Tables) []uint64 {
	types, err := b.types()
	fixture.NoError(t, err)
	start, end := types.start, types.end
	if s := b.image.ELF.Section(".rodata"); b.Version.Minor < firstInterned {
		start, end = s.Addr, s.Addr+s.Size
	}
	var addrs []uint64
	for addr := start; addr < end && len(addrs) < 500; addr += 8 {
		if _, err := b.RuntimeType(addr); err == nil {
			addrs = append(addrs, addr)
		}
	}
	if len(addrs) < 300 {
		t.Fatalf("only %d types", len(addrs))
	}
	return addrs
}

func walkTypes(t testing.TB, b *Tables, addrs []uint64) (read int) {
	for _, addr := range addrs {
		typ, err := b.RuntimeType(addr)
		if err != nil {
			continue
		}
		read++
		if _, err := walkType(typ, 2); err != nil {
			t.Errorf("type at %#x: %v", addr, err)
		}
		b.ItabType(addr)
	}
	return read
}

// patched is a file with some bytes replaced.
type patched struct {
	io.ReaderAt
	at    int64
	bytes []byte
}

func (p patched) ReadAt(into []byte, off int64) (int, error) {
	n, err := p.ReaderAt.ReadAt(into, off)
	if from := max(p.at, off); from < min(p.at+int64(len(p.bytes)), off+int64(n)) {
		copy(into[from-off:n], p.bytes[from-p.at:])
	}
	return n, err
}

// FuzzRuntimeType replaces bytes of a sound type.
func FuzzRuntimeType(f *testing.F) {
	type seed struct {
		binary *Tables
		addrs  []uint64
	}
	var seeds []seed
	for _, build := range hostileTypes {
		b := openPath(f, buildTypes(f, build.version, build.flags))
		seeds = append(seeds, seed{b, typeAddrs(f, b)})
	}
	f.Add(uint8(0), uint16(0), int16(0), []byte{0xff})
	f.Add(uint8(1), uint16(7), int16(48), make([]byte, 16))
	f.Fuzz(func(t *testing.T, which uint8, index uint16, at int16, bytes []byte) {
		s := seeds[int(which)%len(seeds)]
		i := int(index) % len(s.addrs)
		whole := s.binary
		m := *whole.image
		m.ELF = &elf.File{FileHeader: m.ELF.FileHeader}
		b := &Tables{image: &m, Version: whole.Version}
		for _, p := range whole.image.ELF.Progs {
			offset := int64(s.addrs[i]-p.Vaddr) + int64(at)
			m.ELF.Progs = append(m.ELF.Progs, &elf.Prog{ProgHeader: p.ProgHeader, ReaderAt: patched{p.ReaderAt, offset, bytes}})
		}
		all, _ := whole.types()
		own := b.newTypes(all.start, all.end)
		b.types = func() (*types, error) { return own, nil }
		walkTypes(t, b, s.addrs[i:min(i+20, len(s.addrs))])
	})
}
