package gotab

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
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

// hasMagic tells whether data begins with a header.
func hasMagic(data []byte) bool {
	return len(data) >= 8 && forms[data[0]] != nil && slices.Contains([]byte{1, 2, 4}, data[6]) && bytes.HasPrefix(data[1:], magic(data[6]))
}

var errTable = errors.New("damaged function table")

// newTable reads the header. Entries are left as they are, without text.
func newTable(data []byte) (*table, error) {
	if !hasMagic(data) {
		return nil, fmt.Errorf("%w: no header", errTable)
	}
	t := &table{data: data, form: forms[data[0]], quantum: uint64(data[6])}
	return t, t.readHeader()
}

// tableOf reads the header of the table that a section has, and leaves the rest for
// when it is asked for.
func tableOf(s *elf.Section) (*table, error) {
	var first [8]byte
	if _, err := s.ReadAt(first[:], 0); err != nil || !hasMagic(first[:]) {
		return nil, fmt.Errorf("%w: no header", errTable)
	}
	t := &table{addr: s.Addr, pieces: newPieces(s, s.Size), form: forms[first[0]], quantum: uint64(first[6])}
	return t, t.readHeader()
}

func (t *table) readHeader() error {
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
	if t.data != nil {
		return true
	}
	data := make([]byte, t.pieces.size)
	if _, err := t.pieces.r.ReadAt(data, 0); err != nil {
		return false
	}
	t.data = data
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
