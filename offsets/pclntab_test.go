package offsets

import (
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// releases are those that a test of old toolchains builds with: each form of function
// table, prologue and calling convention, and where something moved in between.
func releases() []string {
	if !fixture.All() {
		return []string{"1.5.4", "1.12.17", "1.16.15", "1.17.13", "1.20.14", fixture.Current}
	}
	return []string{
		"1.5.4", "1.7.6", "1.9.7", "1.12.17", "1.16.15", "1.17.13", "1.18.10", "1.20.14",
		"1.21.13", "1.22.12", "1.23.12", "1.24.6", "1.25.0", fixture.Current,
	}
}

// TestStripped: a stripped binary has the functions and sites of the one that is not,
// also without section headers.
func TestStripped(t *testing.T) {
	modes := []struct {
		name  string
		flags []string
		link  string
	}{
		{"executable", nil, ""},
		{"pie", []string{"-buildmode=pie"}, ""},
		{"external pie", []string{"-buildmode=pie"}, "-linkmode=external"},
		{"shared library", []string{"-buildmode=c-shared"}, ""},
	}
	for _, version := range releases() {
		for _, mode := range modes {
			t.Run(version+" "+mode.name, func(t *testing.T) {
				build := func(ldflags string) string {
					flags := append(slices.Clone(mode.flags), "-ldflags="+ldflags+mode.link)
					path, err := fixture.TryBuildWith(t, version, "exact", flags...)
					if v, _ := parseGoVersion("go" + version); err != nil && mode.flags != nil && v.Minor > 0 && v.Minor < 15 {
						t.Skipf("linked by a C compiler that is too new for it: %v", err)
					} else if err != nil {
						t.Fatal(err)
					}
					return path
				}
				full, stripped := build(""), build("-s -w ")
				want := openPath(t, full)
				if len(want.Funcs()) < 1000 {
					t.Fatalf("only %d functions", len(want.Funcs()))
				}
				compareTwins(t, want, openPath(t, stripped))
				compareTwins(t, want, openPath(t, headless(t, stripped)))
			})
		}
	}
}

// headless copies a file without its section headers.
func headless(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	sections := le.Uint64(data[40:]) // e_shoff
	clear(data[sections : sections+64*uint64(le.Uint16(data[60:]))])
	le.PutUint64(data[40:], 0)
	clear(data[60:64]) // e_shnum, e_shstrndx
	bare := filepath.Join(t.TempDir(), "headless")
	if err := os.WriteFile(bare, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return bare
}

// compareTwins compares the Go functions of a binary with those of its stripped twin.
func compareTwins(t *testing.T, full, stripped *Binary) {
	t.Helper()
	if a, _ := full.GoVersion(); a != must(stripped.GoVersion()) {
		t.Errorf("Go version %v, stripped %v", a, stripped.goVer)
	}
	if n := stripped.image.Symbols(elf.SHT_SYMTAB); n > 0 {
		t.Fatalf("the stripped twin has %d symbols", n)
	}
	describe := func(b *Binary, f *Func) string {
		text := fmt.Sprintf("%s %s %#x+%d", elided(b, f.Name), f.ABI, f.Addr, f.Size)
		s, err := b.Sites(f)
		if err != nil {
			return text + " " + err.Error()
		}
		return text + fmt.Sprintf(" %v %v %v %v %v", s.Entry, s.Check, s.Restarts, s.Returns, s.Tails)
	}
	want := make(map[uint64]string)
	for i := range full.Funcs() {
		if f := &full.Funcs()[i]; f.ABI != SystemV {
			want[f.Addr] = describe(full, f)
		}
	}
	differ := 0
	for i := range stripped.Funcs() {
		f := &stripped.Funcs()[i]
		if f.ABI == SystemV {
			continue
		}
		if got := describe(stripped, f); got != want[f.Addr] {
			if differ++; differ < 10 {
				t.Errorf("stripped %s\n    full %s", got, want[f.Addr])
			}
		}
		delete(want, f.Addr)
	}
	for _, missing := range want {
		if differ++; differ < 10 {
			t.Errorf("missing from the stripped twin: %s", missing)
		}
	}
	if differ > 0 {
		t.Errorf("%d differences", differ)
	}
}

func must[T any](v T, _ bool) T { return v }

// elided is a name as the function table of the binary's version of Go spells it.
func elided(b *Binary, name string) string {
	first, last := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if first < 0 || last < first || b.goVer.Minor < 18 || b.goVer.Minor > 20 {
		return name
	}
	return name[:first] + "[...]" + name[last+1:]
}

// TestPclntabAgainstGosym: the standard library's reader finds the same functions.
func TestPclntabAgainstGosym(t *testing.T) {
	for _, version := range releases() {
		t.Run(version, func(t *testing.T) {
			table := openPath(t, fixture.BuildWith(t, version, "exact")).pclntab()
			if table == nil {
				t.Fatal("no function table")
			}
			got, err := table.funcs()
			if err != nil {
				t.Fatal(err)
			}
			want, err := gosym.NewTable(nil, gosym.NewLineTable(table.data, table.text))
			if err != nil {
				t.Fatal(err)
			}
			if len(got.list) != len(want.Funcs) || len(got.list) < 1000 {
				t.Fatalf("%d functions, gosym has %d", len(got.list), len(want.Funcs))
			}
			assembly := 0
			for i, f := range got.list {
				g, name := want.Funcs[i], got.names[i]
				if name != g.Name || f.addr != g.Entry || got.endOf(i) != g.End {
					t.Errorf("%s %#x-%#x; gosym has %s %#x-%#x", name, f.addr, got.endOf(i), g.Name, g.Entry, g.End)
				}
				file, _, _ := want.PCToLine(f.addr)
				if f.asm {
					assembly++
				}
				if table.form.oldest >= 16 && f.asm != strings.HasSuffix(file, ".s") {
					t.Errorf("%s of %s: assembly %v", name, file, f.asm)
				}
			}
			if table.form.oldest >= 16 && assembly < 50 {
				t.Errorf("only %d functions are assembly", assembly)
			}
		})
	}
}

// smallPclntab is a table of Go 1.20 and later: two functions, f from 0 to 16 and g to
// 48, and the offsets in it of what tests damage.
func smallPclntab() []byte {
	const names, funcs, size = 72, 80, 160
	le := binary.LittleEndian
	data := make([]byte, size)
	copy(data, "\xf1\xff\xff\xff\x00\x00\x01\x08")
	for word, value := range map[int]uint64{0: 2, 2: 0x1000, 3: names, 4: names, 5: names, 6: names, 7: funcs} {
		le.PutUint64(data[8+8*word:], value)
	}
	copy(data[names:], "\x00f\x00g\x00")
	for i, n := range []uint32{0, 24, 16, 30, 48} { // (entry, offset of _func)
		le.PutUint32(data[funcs+4*i:], n)
	}
	le.PutUint32(data[funcs+24+4:], 1) // f's name
	le.PutUint32(data[funcs+30+4:], 3) // g's
	return data
}

func TestPclntabDamaged(t *testing.T) {
	le := binary.LittleEndian
	const count, names, functab = 8, 72, 80
	for _, c := range []struct {
		name   string
		damage func(data []byte) []byte
		ok     bool
	}{
		{"sound", func(d []byte) []byte { return d }, true},
		{"empty", func(d []byte) []byte { return nil }, false},
		{"header only", func(d []byte) []byte { return d[:8] }, false},
		{"unknown form", func(d []byte) []byte { d[0] = 0xf2; return d }, false},
		{"no functions", func(d []byte) []byte { d[count] = 0; return d }, false},
		{"more functions than bytes", func(d []byte) []byte { d[count] = 200; return d }, false},
		{"count that overflows", func(d []byte) []byte { le.PutUint64(d[count:], 1<<61); return d }, false},
		{"functions beyond the end", func(d []byte) []byte { le.PutUint64(d[count+56:], 1<<63); return d }, false},
		{"cut in the functions", func(d []byte) []byte { return d[:functab+16] }, false},
		{"names beyond the end", func(d []byte) []byte { le.PutUint64(d[count+24:], 1<<40); return d }, false},
		{"a name without end", func(d []byte) []byte {
			le.PutUint32(d[functab+30+4:], uint32(len(d)-names-1))
			d[len(d)-1] = 'g'
			return d
		}, false},
		{"descending addresses", func(d []byte) []byte { le.PutUint32(d[functab+8:], 64); return d }, false},
		{"an empty name", func(d []byte) []byte { d[names+1] = 0; return d }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := newPclntab(c.damage(smallPclntab()))
			var funcs *pclnFuncs
			if err == nil {
				funcs, err = table.funcs()
			}
			if c.ok && (err != nil || !slices.Equal(funcs.names, []string{"f", "g"}) || len(funcs.list) != 2 || funcs.end != 48) {
				t.Errorf("%+v, %v", funcs, err)
			}
			if !c.ok && !errors.Is(err, errPclntab) {
				t.Errorf("%+v, %v; want an error", funcs, err)
			}
		})
	}
}

// TestPclntabOverlappingNames: names that are parts of each other don't add up to more
// than the table.
func TestPclntabOverlappingNames(t *testing.T) {
	const n, names, funcs = 1000, 72, 72 + 2000
	le := binary.LittleEndian
	data := make([]byte, funcs+n*50)
	copy(data, smallPclntab()[:names])
	le.PutUint64(data[8:], n)
	le.PutUint64(data[8+56:], funcs)
	for i := range names + 1999 - names {
		data[names+i] = 'a'
	}
	for i := range n {
		info := 8*n + 4 + 40*i
		le.PutUint32(data[funcs+8*i:], uint32(16*i))
		le.PutUint32(data[funcs+8*i+4:], uint32(info))
		le.PutUint32(data[funcs+info+4:], uint32(i))
	}
	le.PutUint32(data[funcs+8*n:], 16*n)
	table, err := newPclntab(data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.funcs(); !errors.Is(err, errPclntab) {
		t.Errorf("%d names of up to 2000 bytes in a table of %d: %v", n, len(data), err)
	}
}

// FuzzPclntab: no table makes the reader panic or return more than it holds.
func FuzzPclntab(f *testing.F) {
	f.Add(smallPclntab())
	for form := range pclnForms {
		data := smallPclntab()
		data[0] = form
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := newPclntab(data)
		if err != nil {
			return
		}
		funcs, err := table.funcs()
		if err != nil {
			return
		}
		size := 0
		for i, f := range funcs.list {
			size += len(funcs.names[i])
			if funcs.names[i] == "" || funcs.endOf(i) <= f.addr {
				t.Errorf("function %d: %+v to %#x", i, f, funcs.endOf(i))
			}
		}
		if size > 2*len(data) {
			t.Errorf("%d bytes of names in a table of %d", size, len(data))
		}
	})
}
