package offsets

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/hostile"
)

// allocated returns the number of bytes that what allocates, including garbage.
func allocated(what func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	what()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// named returns symbols for n functions f0, f1 … at equal distances, each of which claims to reach to the end of text.
func named(n int, text []byte) []hostile.Section {
	names := []byte{0}
	var symbols []hostile.Symbol
	for i := range n {
		at := uint64(i * (len(text) / n))
		symbols = append(symbols, hostile.Symbol{Name: uint32(len(names)), Addr: hostile.Text + at, Size: uint64(len(text)) - at})
		names = fmt.Appendf(names, "f%d\x00", i)
	}
	return hostile.SymbolTable(names, symbols)
}

// TestSparseSections checks that sections which claim gigabytes do not cost memory, and that functions are found if the
// symbol table is valid.
func TestSparseSections(t *testing.T) {
	const claim = 3 << 30
	text := bytes.Repeat([]byte{0x90, 0xc3}, 8)
	for _, name := range []string{
		".strtab", ".symtab", ".eh_frame", ".gopclntab", ".note", ".debug_abbrev", ".debug_info", ".debug_line", "headers", "names",
	} {
		t.Run(name, func(t *testing.T) {
			sections := named(2, text)
			symbols := name == ".symtab" || name == ".strtab"
			if !symbols {
				kind := elf.SHT_PROGBITS
				if name == ".note" {
					kind = elf.SHT_NOTE
				}
				sections = append(sections, hostile.Section{
					Name: name, Data: []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8, 1}, Section64: elf.Section64{Type: uint32(kind)},
				})
			}
			for i := range sections {
				if sections[i].Name == name {
					sections[i].Section64.Size = claim / elf.Sym64Size * elf.Sym64Size
				}
			}
			data := hostile.ELF(text, sections...)
			whole := !symbols
			switch name {
			case "headers": // the first section header has their number
				clear(data[60:62])
				first := data[elfShoff(data):]
				copy(first[32:40], []byte{0, 0, 0, 4})
				whole = false
			case "names":
				last := data[len(data)-64:]
				copy(last[32:40], []byte{0, 0, 0, 0xc0})
				whole = false
			}
			path := filepath.Join(t.TempDir(), "sparse")
			fixture.NoError(t, (hostile.File{Data: data, Size: 4 * claim}).Write(path))
			if spent := allocated(func() { fixture.NoError(t, readHostile(path, data)) }); spent > 16<<20 {
				t.Errorf("%d MiB of memory", spent>>20)
			}
			if whole {
				b := openPath(t, path)
				lookup(t, b, "f0")
				lookup(t, b, "f1")
			}
		})
	}
}

// TestManyFunctionsClaimed checks that a function table that claims a huge number of functions costs no more memory
// than its size.
func TestManyFunctionsClaimed(t *testing.T) {
	for _, goarch := range []string{"amd64", "arm64"} {
		for _, flags := range []string{"-ldflags=-s -w", "-ldflags=-w"} {
			t.Run(goarch+" "+flags, func(t *testing.T) {
				sound, err := os.ReadFile(fixture.BuildFor(t, goarch, fixture.Current, "inlined", flags))
				fixture.NoError(t, err)
				table := bytes.Index(sound, []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, map[string]byte{"amd64": 1, "arm64": 4}[goarch], 8})
				if table < 0 {
					t.Fatalf("%s: no function table", goarch)
				}
				path := filepath.Join(t.TempDir(), "claims")
				cost := func(at int, claim uint64) uint64 {
					data := bytes.Clone(sound)
					if at > 0 {
						binary.LittleEndian.PutUint64(data[table+at:], claim)
					}
					fixture.NoError(t, os.WriteFile(path, data, 0o600))
					return allocated(func() {
						if err := readHostile(path, data); err != nil {
							t.Errorf("%s, %s: %d at %d of the table: %v", goarch, flags, claim, at, err)
						}
					})
				}
				most := 2*cost(0, 0) + uint64(len(sound))
				for at := 8; at < 72; at += 8 { // the numbers of functions and files, then offsets (runtime.pcHeader)
					for _, claim := range []uint64{1e9, 1 << 40, 1<<64 - 1} {
						if spent := cost(at, claim); spent > most {
							t.Errorf("%s, %s: %d at %d of the table: %d MiB of memory", goarch, flags, claim, at, spent>>20)
						}
					}
				}
			})
		}
	}
}

func elfShoff(data []byte) int { return int(data[40]) | int(data[41])<<8 | int(data[42])<<16 }

// TestSparseCode checks that a function in a hole of the file is rejected.
func TestSparseCode(t *testing.T) {
	text := bytes.Repeat([]byte{0xc3}, 64)
	names := []byte("\x00there\x00hole\x00")
	data := hostile.ELF(text, hostile.SymbolTable(names, []hostile.Symbol{
		{Name: 1, Addr: hostile.Text, Size: 64}, {Name: 7, Addr: hostile.Base + 1<<20, Size: 8 << 20},
	})...)
	const size = 64 << 20
	for _, at := range []int{64 + 32, 64 + 40} { // p_filesz, p_memsz
		copy(data[at:at+8], []byte{0, 0, 0, size >> 24, 0, 0, 0, 0})
	}
	path := filepath.Join(t.TempDir(), "sparse")
	fixture.NoError(t, (hostile.File{Data: data, Size: size}).Write(path))
	b := openPath(t, path)
	for name, want := range map[string]string{"there": "", "hole": "in a hole of the file"} {
		f := lookup(t, b, name)
		if _, err := b.Sites(f); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
}

// TestOverlappingSymbols checks that a function ends where the next one begins, so that thousands of functions that
// claim to reach to the end of the code cost no more memory than its size.
func TestOverlappingSymbols(t *testing.T) {
	const n, each = 5000, 64
	text := bytes.Repeat(append(bytes.Repeat([]byte{0x90}, each-1), 0xc3), n)
	path := filepath.Join(t.TempDir(), "overlapping")
	fixture.NoError(t, os.WriteFile(path, hostile.ELF(text, named(n, text)...), 0o600))
	var wrong, sites int
	spent := allocated(func() {
		b := openPath(t, path)
		for i := range b.Funcs() {
			f := &b.Funcs()[i]
			if f.Size != each {
				wrong++
			}
			if s, err := b.Sites(f); err == nil && len(s.Returns) == 1 {
				sites++
			}
		}
	})
	if wrong > 0 || sites != n {
		t.Errorf("%d functions reach into others, %d of %d have one return", wrong, sites, n)
	}
	if spent > 64<<20 {
		t.Errorf("%d MiB of memory for %d KiB of code", spent>>20, len(text)>>10)
	}
}

// TestTruncatedWhileOpen checks that truncating an open file leads to errors and not to a crash.
func TestTruncatedWhileOpen(t *testing.T) {
	data, err := os.ReadFile(fixture.Build(t, "exact"))
	fixture.NoError(t, err)
	path := filepath.Join(t.TempDir(), "cut")
	fixture.NoError(t, os.WriteFile(path, data, 0o755))
	b := openPath(t, path)
	f := lookup(t, b, "main.leaf")
	if _, err := b.Sites(f); err != nil {
		t.Fatal(err)
	}
	fixture.NoError(t, os.Truncate(path, 4096))
	if s, err := b.Sites(f); err == nil {
		t.Errorf("sites of a function that is cut off: %+v", s)
	}
	if s, err := b.Signature(f); err == nil {
		t.Errorf("signature of a function that is cut off: %+v", s)
	}
}
