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

	"github.com/ftgo/ftgo/offsets/internal/image"
)

// table is the one in which Go's runtime looks up the function, file and line of
// an address: the list of functions that no stripping removes (golang.org/s/go12symtab;
// runtime/symtab.go; cmd/link/internal/ld/pcln.go).
//
// It is read here and not by debug/gosym, which knows nothing of assembly and copies
// every name: a table of a few megabytes whose names begin at successive bytes of one
// long text would fill any memory.
type table struct {
	addr   uint64  // where the header is in memory
	data   []byte  // from the header to the end of the section or segment; nil if only pieces are read
	pieces *pieces // nil if all of it was read
	// text is the address of runtime.text, which entries count from since Go 1.18;
	// before, they are addresses and text is 0.
	text uint64

	form    *form
	quantum uint64 // what distances between instructions are counted in
	count   uint64 // functions
	functab uint64 // offset of the pairs (entry, offset of _func)
	// Offsets that those of _func, names, units, files and values by address count from.
	funcs, names, units, files, values uint64
	damaged                            bool // something lay outside of data
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
	// minpc and types are offsets in runtime.moduledata; see module.
	minpc, types uint64
}

var forms = map[byte]*form{
	0xfb: {oldest: 2, newest: 15, field: 8, head: 40, minpc: 80, types: 200},
	0xfa: {oldest: 16, newest: 17, field: 8, head: 44, first: 2, minpc: 160, types: 280},
	0xf0: {oldest: 18, newest: 19, field: 4, head: 40, first: 3, minpc: 160, types: 280},
	0xf1: {oldest: 20, newest: 1 << 16, field: 4, head: 44, first: 3, minpc: 160, types: 296}, // covctrs
}

// magic is what the headers of all forms have in common, behind the first byte.
func magic(quantum byte) []byte { return []byte{0xff, 0xff, 0xff, 0, 0, quantum, 8} }

var errTable = errors.New("damaged function table")

// openTable reads the header of a table, and leaves the rest for when it is asked for. Entries are
// left as they are, without text.
func openTable(r io.ReaderAt, size, addr uint64) (*table, error) {
	t := &table{addr: addr, pieces: newPieces(r, size)}
	first := make([]byte, 8)
	r.ReadAt(first, 0) // zeros are no header
	return t, t.readHeader(first)
}

// readHeader reads what is behind the first bytes.
func (t *table) readHeader(first []byte) error {
	if len(first) < 8 || forms[first[0]] == nil || !slices.Contains([]byte{1, 2, 4}, first[6]) || !bytes.HasPrefix(first[1:], magic(first[6])) {
		return fmt.Errorf("%w: no header", errTable)
	}
	t.form, t.quantum = forms[first[0]], uint64(first[6])
	t.count, t.functab = t.word(0), 16
	if n := t.form.first; n != 0 {
		t.names, t.units, t.files, t.values, t.funcs = t.word(n), t.word(n+1), t.word(n+2), t.word(n+3), t.word(n+4)
		t.functab = t.funcs
	}
	size := t.size()
	if t.damaged || t.count == 0 || t.count > size || t.functab > size ||
		(2*t.count+1)*t.form.field > size-t.functab {
		return fmt.Errorf("%w: %d functions in %d bytes", errTable, t.count, size)
	}
	return nil
}

func (t *table) size() uint64 {
	if t.data == nil && t.pieces != nil {
		return t.pieces.size
	}
	return uint64(len(t.data))
}

// load reads all of a table.
func (t *table) load() bool {
	if t.data == nil {
		data := make([]byte, t.pieces.size)
		if _, err := t.pieces.r.ReadAt(data, 0); err != nil {
			return false
		}
		t.data = data
	}
	return true
}

// word is a word of the header behind the magic number.
func (t *table) word(n uint64) uint64 { return t.number(8+8*n, 8) }

// number reads 4 or 8 bytes at an offset.
func (t *table) number(at, size uint64) uint64 {
	var data []byte
	switch all := t.size(); {
	case at > all || all-at < size:
	case t.data != nil:
		data = t.data[at:]
	default:
		data = t.pieces.at(at, size, at < t.functab+2*t.count*t.form.field)
	}
	switch {
	case data == nil:
		t.damaged = true
		return 0
	case size == 4:
		return uint64(binary.LittleEndian.Uint32(data))
	}
	return binary.LittleEndian.Uint64(data)
}

// text0 is the NUL-terminated text at an offset.
func (t *table) text0(at uint64) []byte {
	if at >= uint64(len(t.data)) {
		t.damaged = true
		return nil
	}
	rest := t.data[at:min(at+image.MaxName, uint64(len(t.data)))]
	before, _, ok := bytes.Cut(rest, []byte{0})
	if !ok {
		t.damaged = true
		return nil
	}
	return before
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
	return !t.damaged
}

// at is the function whose code is at an address.
func (t *table) at(addr uint64) (function, bool) {
	i := uint64(sort.Search(int(t.count), func(i int) bool { return t.entry(uint64(i)) > addr })) - 1
	if i >= t.count || addr >= t.entry(i+1) {
		return function{}, false
	}
	return t.function(i), true
}

// findTable finds Go's function table; nil if the file has none. It is for one
// goroutine, and may be read in pieces.
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

// place finds out the address that the entries of a table count from; not ok if they are not
// of this program. The header has it from Go 1.18 to 1.25; since Go 1.26 there is a 0, and the
// only place left is runtime.firstmoduledata. The start of .text is another address wherever C
// was linked in.
func (t *table) place(m *image.Image) bool {
	if t.form.oldest >= 18 {
		text := t.word(2)
		if text == 0 || !m.IsCode(text+t.entry(0), text+t.entry(t.count)) {
			module, ok := t.findModule(m)
			if !ok {
				return false
			}
			text = module.text
		}
		t.text = text
	}
	return m.IsCode(t.entry(0), t.entry(t.count))
}

// module is what is read of runtime.moduledata (runtime/symtab.go), which begins with the
// address of the function table and has
//
//	minpc, maxpc, text, …, types, etypes, rodata, gofunc
//
// further on, the last two since Go 1.18.
type module struct {
	text          uint64
	types, etypes uint64
	gofunc        uint64 // what offsets of a function's data count from
}

// findModule finds the one that the table belongs to: minpc and maxpc are what the table says.
func (t *table) findModule(m *image.Image) (found module, ok bool) {
	first, last := t.entry(0)-t.text, t.entry(t.count)-t.text
	m.ScanPointers(t.addr, func(addr uint64) bool {
		word := func(at uint64) uint64 {
			v, _ := m.Pointer(addr + at)
			return v
		}
		text, base := word(t.form.minpc+16), uint64(0)
		if t.form.oldest >= 18 {
			base = text
		}
		if minpc, maxpc := word(t.form.minpc), word(t.form.minpc+8); minpc != base+first || maxpc != base+last || !m.IsCode(minpc, maxpc) {
			return true
		}
		found = module{text: text, types: word(t.form.types), etypes: word(t.form.types + 8)}
		if t.form.oldest >= 18 {
			found.gofunc = word(t.form.types + 24)
		}
		ok = true
		return false
	})
	return found, ok
}

// pieces reads a function table of many megabytes in two places at a time: from
// front to back, since functions and what is told of each are in one order.
type pieces struct {
	r    io.ReaderAt
	size uint64
	// functab is for the pairs and what is before them, infos for what they lead to.
	functab, infos piece
	// budget is how many bytes may still be read: a damaged table may lead to and fro.
	budget uint64
}

// piece is some of the bytes of a table.
type piece struct {
	start uint64
	data  []byte
}

const pieceSize = 1 << 16

func newPieces(r io.ReaderAt, size uint64) *pieces {
	return &pieces{r: r, size: size, budget: 4*size + 4*pieceSize}
}

// at returns the bytes from an offset on, at least n; nil if they can't be read. Offset
// and n are within size.
func (p *pieces) at(offset, n uint64, functab bool) []byte {
	w := &p.infos
	if functab {
		w = &p.functab
	}
	if offset < w.start || offset-w.start+n > uint64(len(w.data)) {
		if w.data == nil {
			w.data = make([]byte, pieceSize)
		}
		size := min(pieceSize, p.size-offset)
		w.start, w.data = offset, w.data[:size]
		_, err := p.r.ReadAt(w.data, int64(offset))
		if err != nil || p.budget < size {
			w.data = w.data[:0]
			return nil
		}
		p.budget -= size
	}
	return w.data[offset-w.start:]
}
