package gotab

import (
	"bytes"
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/offsets/internal/image"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestTableAgainstGosym: the standard library's reader finds the same functions.
func TestTableAgainstGosym(t *testing.T) {
	for _, version := range fixture.Releases() {
		t.Run(version, func(t *testing.T) {
			table := openPath(t, fixture.BuildWith(t, version, "exact")).whole()
			if table.count == 0 {
				t.Fatal("no function table")
			}
			got, err := table.list(false)
			if err != nil {
				t.Fatal(err)
			}
			want, err := gosym.NewTable(nil, gosym.NewLineTable(table.data, table.text))
			if err != nil {
				t.Fatal(err)
			}
			if len(got.List) != len(want.Funcs) || len(got.List) < 1000 {
				t.Fatalf("%d functions, gosym has %d", len(got.List), len(want.Funcs))
			}
			assembly := 0
			for i, f := range got.List {
				g, name := want.Funcs[i], got.Names[i]
				if name != g.Name || f.Addr != g.Entry || got.End(i) != g.End {
					t.Errorf("%s %#x-%#x; gosym has %s %#x-%#x", name, f.Addr, got.End(i), g.Name, g.Entry, g.End)
				}
				file, _, _ := want.PCToLine(f.Addr)
				if f.Asm {
					assembly++
				}
				if table.form.oldest >= 16 && f.Asm != strings.HasSuffix(file, ".s") {
					t.Errorf("%s of %s: assembly %v", name, file, f.Asm)
				}
			}
			if table.form.oldest >= 16 && assembly < 50 {
				t.Errorf("only %d functions are assembly", assembly)
			}
		})
	}
}

// smallTable is a table of Go 1.20 and later: two functions, f from 0 to 16 and g to
// 48, and the offsets in it of what tests damage.
func smallTable() []byte {
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

func TestTableDamaged(t *testing.T) {
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
			table, err := newTable(c.damage(smallTable()))
			var funcs *Funcs
			if err == nil {
				funcs, err = table.list(false)
			}
			if c.ok && (err != nil || !slices.Equal(funcs.Names, []string{"f", "g"}) || len(funcs.List) != 2 || funcs.end != 0x1000+48) {
				t.Errorf("%+v, %v", funcs, err)
			}
			if !c.ok && !errors.Is(err, errTable) {
				t.Errorf("%+v, %v; want an error", funcs, err)
			}
		})
	}
}

// TestTableOverlappingNames: names that are parts of each other don't add up to more
// than the table.
func TestTableOverlappingNames(t *testing.T) {
	const n, names, funcs = 1000, 72, 72 + 2000
	le := binary.LittleEndian
	data := make([]byte, funcs+n*50)
	copy(data, smallTable()[:names])
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
	table, err := newTable(data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.list(false); !errors.Is(err, errTable) {
		t.Errorf("%d names of up to 2000 bytes in a table of %d: %v", n, len(data), err)
	}
}

// FuzzTable: no table makes the reader panic or return more than it holds.
func FuzzTable(f *testing.F) {
	f.Add(smallTable())
	for form := range forms {
		data := smallTable()
		data[0] = form
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := newTable(data)
		if err != nil {
			return
		}
		funcs, err := table.list(false)
		if err != nil {
			return
		}
		size := 0
		for i, f := range funcs.List {
			size += len(funcs.Names[i])
			if funcs.Names[i] == "" || funcs.End(i) <= f.Addr {
				t.Errorf("function %d: %+v to %#x", i, f, funcs.End(i))
			}
		}
		if size > 2*len(data) {
			t.Errorf("%d bytes of names in a table of %d", size, len(data))
		}
	})
}

func newTable(data []byte) (table, error) {
	head, err := openTable(bytes.NewReader(data), uint64(len(data)), 0)
	all, _ := head.all()
	return all, err
}

// TestTablePairs: a table of which only the pairs are read has the functions of the whole one, but for
// their names and sizes.
func TestTablePairs(t *testing.T) {
	for _, version := range []string{"1.18.10", "1.20.14", fixture.Current} {
		t.Run(version, func(t *testing.T) {
			b := openPath(t, fixture.BuildWith(t, version, "exact"))
			table, ok := b.head.pairs()
			if !ok || uint64(len(table.data)) > table.size/10 {
				t.Fatalf("%d bytes of %d read: %v", len(table.data), table.size, ok)
			}
			got, err := table.list(false)
			if err != nil {
				t.Fatal(err)
			}
			whole := b.whole()
			want, err := whole.list(false)
			if err != nil || len(got.List) != len(want.List) || len(got.List) < 1000 || got.end != want.end || got.Names != nil {
				t.Fatalf("%d functions with %d names of the pairs, %d of the whole, %v", len(got.List), len(got.Names), len(want.List), err)
			}
			for i, f := range want.List {
				if f.Size = 0; got.List[i] != f {
					t.Errorf("%+v by the pairs, %+v in the whole", got.List[i], f)
				}
			}
			named, err := table.list(true)
			if err != nil || !slices.Equal(named.Names, want.Names) || !slices.Equal(named.List, want.List) {
				t.Errorf("with names and sizes the functions by the pairs are not those of the whole: %v", err)
			}
		})
	}
}

// TestTableInParts: of a table in parts functions are what they are in the whole one.
func TestTableInParts(t *testing.T) {
	for _, version := range []string{"1.12.17", "1.16.15", "1.18.10", fixture.Current} {
		t.Run(version, func(t *testing.T) {
			b := openPath(t, fixture.BuildWith(t, version, "exact"))
			frames := func(addr uint64) (all []string) {
				b.Frames(addr, func(function, file string, line int, wrapper bool) {
					all = append(all, fmt.Sprint(function, " ", file, ":", line, " ", wrapper))
				})
				depth, known, ok := b.Depth(addr)
				return append(all, fmt.Sprint(depth, known, ok))
			}
			whole := b.whole()
			nested := 0
			for i := uint64(0); i < whole.count; i += 7 {
				f := whole.function(i)
				addr := f.addr + (f.end-f.addr)/2
				b.lookups.Store(0)
				got := frames(addr)
				b.lookups.Store(fewFunctions)
				if want := frames(addr); !slices.Equal(got, want) || len(want) < 2 {
					t.Errorf("%s: in parts %q, in the whole %q", f.name(), got, want)
				}
				nested = max(nested, len(got))
			}
			if nested < 3 {
				t.Error("no calls are inlined")
			}
		})
	}
}

// TestTableCodeSize: the table has the sizes that .symtab has.
func TestTableCodeSize(t *testing.T) {
	for _, version := range fixture.Releases() {
		t.Run(version, func(t *testing.T) {
			b := openPath(t, fixture.BuildWith(t, version, "exact"))
			if b.Version.Minor <= b.image.Processor.Machine().LastPadded {
				t.Skip("its .symtab has the padding, too")
			}
			table := b.whole()
			funcs, err := table.list(false)
			if err != nil {
				t.Fatal(err)
			}
			sizes := make(map[uint64]uint64)
			err = b.image.EachSymbol(elf.SHT_SYMTAB, func(s image.Symbol) {
				if s.Kind == elf.STT_FUNC {
					sizes[s.Addr] = s.Size
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			for i, f := range funcs.List {
				size, ok := sizes[f.Addr]
				if !ok || f.Size == 0 {
					continue
				}
				if compared++; uint64(f.Size) != size {
					t.Errorf("%s: %d bytes, .symtab has %d", funcs.Names[i], f.Size, size)
				}
			}
			if compared < 1000 || compared < len(funcs.List)*9/10 {
				t.Errorf("only %d of %d functions compared", compared, len(funcs.List))
			}
		})
	}
}
