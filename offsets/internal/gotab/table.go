// Package gotab reads the data that Go's toolchain adds to a program for its runtime: the table of functions with their
// source lines, inlined calls and arguments, the types of values in interfaces, and the version of Go. Stripping does
// not remove these data.
package gotab

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"

	"github.com/ftgo/ftgo/offsets/internal/image"
)

// Tables holds the runtime data of one program.
type Tables struct {
	image *image.Image
	// Version is the version of Go that built the program. Its Minor is 0 for other programs.
	Version Version

	table  *table // nil if the table or the version is unknown
	module func() module
	types  func() (*types, error)
}

// Open reads the function table and the version of Go. A program without them yields empty Tables.
func Open(m *image.Image) (g *Tables, err error) {
	g = &Tables{image: m, table: findTable(m)}
	if g.Version, err = readVersion(m, g.table); err != nil {
		return nil, err
	}
	switch {
	case g.Version.Minor == 0:
		g.table = nil
	case g.table != nil && !g.table.sorted():
		g.table.count = 0
	}
	g.module = sync.OnceValue(g.readModule)
	g.types = sync.OnceValues(g.findTypes)
	return g, nil
}

// functions returns a copy of the table, in which readers mark damage. It is empty if the program has no table.
func (g *Tables) functions() *table {
	if g.table == nil {
		return &table{}
	}
	t := *g.table
	return &t
}

// Any reports whether the program has a function table.
func (g *Tables) Any() bool { return g.functions().count > 0 }

// at returns the function that contains an address.
func (g *Tables) at(addr uint64) (f Func, ok bool) { return g.functions().at(addr) }

// only returns the function that begins at an address.
func (g *Tables) only(addr uint64) (f Func, ok bool) {
	f, ok = g.at(addr)
	return f, ok && f.Addr == addr && f.at < f.t.size
}

// each calls found with each function.
func (g *Tables) each(found func(f Func)) {
	t := g.functions()
	for i := range t.count {
		found(t.function(i))
	}
}

// table is the table in which Go's runtime looks up the function, file and line of an address (golang.org/s/go12symtab;
// runtime/symtab.go; cmd/link/internal/ld/pcln.go). Stripping does not remove it.
//
// This package does not use debug/gosym, which does not mark assembly functions and copies every name: a table of a few
// megabytes whose names begin at successive bytes of one long text would fill any memory.
type table struct {
	addr, size uint64 // the address of the header, and the bytes from there to the end of the section or segment
	data       []byte
	// text is the address of runtime.text, which entries are relative to since Go 1.18. Before, entries are addresses
	// and text is 0.
	text uint64

	form      *form
	quantum   uint64 // the unit of distances between instructions
	count     uint64 // the number of functions
	functab   uint64 // the offset of the pairs (entry, offset of _func)
	low, high uint64 // the start of the first function and the end of the last one, relative to text
	// The offsets that offsets of _func, names, units, files and tables of values are relative to.
	funcs, names, units, files, values uint64

	damaged bool // an offset was outside of data
	left    int  // the number of bytes of names and stack depths that may still be read, because functions may share them
}

// form describes the layout of a table. The first byte of the header selects it. The bytes ff ff ff 00 00, the
// instruction size quantum and the pointer size 8 follow.
type form struct {
	oldest, newest int    // the minor versions of Go that write it
	field          uint64 // the size in bytes of a number in functab and of the entry in _func
	head           uint64 // the size in bytes of the fixed part of a _func
	// first is the index of the header's first word with an offset. The words are the offsets of names, units, files,
	// values and functions. It is 0 if all offsets are relative to the header.
	first uint64
}

var forms = map[byte]*form{
	0xfb: {oldest: 2, newest: 15, field: 8, head: 40},
	0xfa: {oldest: 16, newest: 17, field: 8, head: 44, first: 2},
	0xf0: {oldest: 18, newest: 19, field: 4, head: 40, first: 3},
	0xf1: {oldest: 20, newest: 1 << 16, field: 4, head: 44, first: 3},
}

// magic returns the bytes after the first one, which the headers of all forms have in common.
func magic(quantum byte) []byte { return []byte{0xff, 0xff, 0xff, 0, 0, quantum, 8} }

var errTable = errors.New("damaged function table")

// openTable reads a table. It returns an error if the data do not begin with a header, or if the table is damaged.
func openTable(r io.ReaderAt, size, addr uint64) (*table, error) {
	head := make([]byte, min(size, 72))
	n, _ := r.ReadAt(head, 0)
	head = head[:n]
	t := &table{addr: addr, size: size, data: head}
	if len(head) < 8 || forms[head[0]] == nil || !slices.Contains([]byte{1, 2, 4}, head[6]) || !bytes.HasPrefix(head[1:], magic(head[6])) {
		return nil, fmt.Errorf("%w: no header", errTable)
	}
	t.form, t.quantum = forms[head[0]], uint64(head[6])
	t.count, t.functab = t.word(0), 16
	if n := t.form.first; n != 0 {
		t.names, t.units, t.files, t.values, t.funcs = t.word(n), t.word(n+1), t.word(n+2), t.word(n+3), t.word(n+4)
		t.functab = t.funcs
	}
	pairs := 2 * t.count * t.form.field
	if t.damaged || t.count == 0 || t.count > size || t.functab > size || pairs+t.form.field > size-t.functab {
		return nil, fmt.Errorf("%w: %d functions in %d bytes", errTable, t.count, size)
	}
	if t.form.oldest >= 18 {
		t.text = t.word(2)
	}
	t.data = make([]byte, size)
	if n, err := r.ReadAt(t.data, 0); n < len(t.data) {
		return nil, fmt.Errorf("%w: %w", errTable, err)
	}
	t.low, t.high = t.entry(0)-t.text, t.entry(t.count)-t.text
	return t, nil
}

// word returns word n of the header after the magic number.
func (t *table) word(n uint64) uint64 { return t.number(8+8*n, 8) }

// number reads 4 or 8 bytes at an offset.
func (t *table) number(at, size uint64) uint64 {
	if all := uint64(len(t.data)); at > all || size > all-at {
		t.damaged = true
		return 0
	}
	if size == 4 {
		return uint64(binary.LittleEndian.Uint32(t.data[at:]))
	}
	return binary.LittleEndian.Uint64(t.data[at:])
}

// text0 returns the NUL-terminated text at an offset.
func (t *table) text0(at uint64) []byte {
	rest := t.data[min(at, uint64(len(t.data))):]
	text, _, ok := bytes.Cut(rest[:min(image.MaxName, len(rest))], []byte{0})
	if !ok {
		t.damaged = true
		return nil
	}
	return text
}

// entry returns the start of function i. entry(count) is the end of the last function.
func (t *table) entry(i uint64) uint64 {
	return t.text + t.number(t.functab+2*i*t.form.field, t.form.field)
}

// sorted reports whether the functions are in the order of their addresses.
func (t *table) sorted() bool {
	for i := range t.count {
		if t.entry(i) > t.entry(i+1) {
			return false
		}
	}
	return true
}

// at returns the function that contains an address.
func (t *table) at(addr uint64) (Func, bool) {
	i := uint64(sort.Search(int(t.count), func(i int) bool { return t.entry(uint64(i)) > addr })) - 1
	if i >= t.count || addr >= t.entry(i+1) {
		return Func{}, false
	}
	return t.function(i), true
}

// findTable finds Go's function table and returns nil if the file has none.
//
// In most files the table is a section. Up to Go 1.25 position-independent files from C's linker have it in the middle of
// .data.rel.ro, and section headers may have been removed. In these files findTable searches for the table's first bytes.
func findTable(m *image.Image) *table {
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		s := m.RawSection(name)
		if s == nil {
			continue
		}
		if t, err := openTable(s, s.Size, s.Addr); err == nil && t.place(m) {
			return t
		}
	}
	var found *table
	tries := 8 // the magic number occurs once in a program
	m.Scan(magic(m.Processor.Machine().Quantum), 0, func(p *elf.Prog, addr uint64) bool {
		if addr%4 != 1 {
			return true
		}
		at := addr - 1 - p.Vaddr
		size := min(p.Filesz-at, m.MaxSize())
		t, err := openTable(io.NewSectionReader(p, int64(at), int64(size)), size, addr-1)
		if err != nil {
			return true
		}
		if tries--; t.place(m) {
			found = t
		}
		return found == nil && tries > 0
	})
	return found
}
