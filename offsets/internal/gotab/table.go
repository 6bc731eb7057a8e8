// Package gotab reads what Go's toolchain puts into a program for its own runtime: the table
// of functions, where their source lines, inlined calls and arguments are, the types of values
// in interfaces, and the version of Go. No stripping removes any of it.
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

// Tables are those of one program.
type Tables struct {
	image *image.Image
	// Version is that of the Go that built the program; its Minor is 0 if none did.
	Version Version

	table  *table // nil if there is none, or no version
	module func() module
	types  func() (*types, error)
}

// Open reads the function table and finds the version of Go; without either there is nothing to read.
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

// functions is a copy of the table to mark damage in, an empty one if there is none.
func (g *Tables) functions() *table {
	if g.table == nil {
		return &table{}
	}
	t := *g.table
	return &t
}

// Any tells whether there is a function table.
func (g *Tables) Any() bool { return g.functions().count > 0 }

// at is the function whose code is at an address.
func (g *Tables) at(addr uint64) (f Func, ok bool) { return g.functions().at(addr) }

// only is the function that begins at an address.
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

// table is the one in which Go's runtime looks up the function, file and line of
// an address: the list of functions that no stripping removes (golang.org/s/go12symtab;
// runtime/symtab.go; cmd/link/internal/ld/pcln.go).
//
// It is read here and not by debug/gosym, which knows nothing of assembly and copies
// every name: a table of a few megabytes whose names begin at successive bytes of one
// long text would fill any memory.
type table struct {
	addr, size uint64 // of the header in memory, and to the end of the section or segment
	data       []byte
	// text is the address of runtime.text, which entries count from since Go 1.18;
	// before, they are addresses and text is 0.
	text uint64

	form      *form
	quantum   uint64 // what distances between instructions are counted in
	count     uint64 // functions
	functab   uint64 // offset of the pairs (entry, offset of _func)
	low, high uint64 // where the first function begins and the last one ends, without text
	// Offsets that those of _func, names, units, files and values by address count from.
	funcs, names, units, files, values uint64

	damaged bool // something lay outside of data
	left    int  // how many bytes of names, and values by address, may still be read: functions may share them
}

// form is what differs between the tables, told apart by the first byte; those
// behind it are ff ff ff 00 00, then the instruction size quantum and pointer size 8.
type form struct {
	oldest, newest int    // minor versions of Go that write it
	field          uint64 // bytes of a number in functab, and of the entry in _func
	head           uint64 // bytes of a _func without what varies
	// first is the word of the header behind which those are that hold offsets: of names, units,
	// files, values and functions. It is 0 where everything counts from the header.
	first uint64
}

var forms = map[byte]*form{
	0xfb: {oldest: 2, newest: 15, field: 8, head: 40},
	0xfa: {oldest: 16, newest: 17, field: 8, head: 44, first: 2},
	0xf0: {oldest: 18, newest: 19, field: 4, head: 40, first: 3},
	0xf1: {oldest: 20, newest: 1 << 16, field: 4, head: 44, first: 3},
}

// magic is what the headers of all forms have in common, behind the first byte.
func magic(quantum byte) []byte { return []byte{0xff, 0xff, 0xff, 0, 0, quantum, 8} }

var errTable = errors.New("damaged function table")

// openTable reads a table, if its header is one.
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

// word is a word of the header behind the magic number.
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

// text0 is the NUL-terminated text at an offset.
func (t *table) text0(at uint64) []byte {
	rest := t.data[min(at, uint64(len(t.data))):]
	text, _, ok := bytes.Cut(rest[:min(image.MaxName, len(rest))], []byte{0})
	if !ok {
		t.damaged = true
		return nil
	}
	return text
}

// entry is where function i begins; entry(count) is where the last one ends.
func (t *table) entry(i uint64) uint64 {
	return t.text + t.number(t.functab+2*i*t.form.field, t.form.field)
}

// sorted tells whether no function begins before the one ahead of it.
func (t *table) sorted() bool {
	for i := range t.count {
		if t.entry(i) > t.entry(i+1) {
			return false
		}
	}
	return true
}

// at is the function whose code is at an address.
func (t *table) at(addr uint64) (Func, bool) {
	i := uint64(sort.Search(int(t.count), func(i int) bool { return t.entry(uint64(i)) > addr })) - 1
	if i >= t.count || addr >= t.entry(i+1) {
		return Func{}, false
	}
	return t.function(i), true
}

// findTable finds Go's function table; nil if the file has none.
//
// It is in a section of its own in most files. Position-independent ones linked by C's
// linker have it in the middle of .data.rel.ro up to Go 1.25, and section headers can
// be removed altogether: there it is found by its first bytes.
func findTable(m *image.Image) *table {
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		s := m.Plain(name)
		if s == nil {
			continue
		}
		if t, err := openTable(s, s.Size, s.Addr); err == nil && t.place(m) {
			return t
		}
	}
	var found *table
	tries := 8 // binaries have the magic number once
	m.Scan(magic(m.Processor.Machine().Quantum), func(p *elf.Prog, addr uint64) bool {
		if addr%4 != 1 {
			return true
		}
		at := addr - 1 - p.Vaddr
		size := min(p.Filesz-at, m.Most())
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
