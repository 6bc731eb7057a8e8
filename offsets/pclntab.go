package offsets

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/offsets/internal/image"
)

// pclntab is the table in which Go's runtime looks up the function, file and line of
// an address: the list of functions that no stripping removes (golang.org/s/go12symtab;
// runtime/symtab.go; cmd/link/internal/ld/pcln.go).
//
// It is read here and not by debug/gosym, which knows nothing of assembly and copies
// every name: a table of a few megabytes whose names begin at successive bytes of one
// long text would fill any memory.
type pclntab struct {
	data   []byte // from the header to the end of the section or segment; nil if only pieces are read
	pieces *pclnPieces
	// text is the address of runtime.text, which entries count from since Go 1.18;
	// before, they are addresses and text is 0.
	text uint64

	form           *pclnForm
	quantum        uint64 // what distances between instructions are counted in
	count          uint64 // functions
	functab        uint64 // offset of the pairs (entry, offset of _func)
	funcBase, name uint64 // offsets that those of _func and of names count from
	damaged        bool   // something lay outside of data
}

// pclnForm is what differs between the tables, told apart by the first byte; those
// behind it are ff ff ff 00 00, then the instruction size quantum and pointer size 8.
type pclnForm struct {
	oldest, newest int    // minor versions of Go that write it
	field          uint64 // bytes of a number in functab
	nameOff        uint64 // in _func
	flag           uint64 // in _func; 0 if it does not tell assembly
	// Words of the header that hold offsets, 0 where everything counts from the header.
	names, cus, files, pcs, funcs uint64
}

var pclnForms = map[byte]*pclnForm{
	0xfb: {oldest: 2, newest: 15, field: 8, nameOff: 8},
	0xfa: {oldest: 16, newest: 17, field: 8, nameOff: 8, names: 2, cus: 3, files: 4, pcs: 5, funcs: 6},
	0xf0: {oldest: 18, newest: 19, field: 4, nameOff: 4, flag: 37, names: 3, cus: 4, files: 5, pcs: 6, funcs: 7},
	0xf1: {oldest: 20, newest: 1 << 16, field: 4, nameOff: 4, flag: 41, names: 3, cus: 4, files: 5, pcs: 6, funcs: 7},
}

// pclnMagic is what the headers of all forms have in common, behind the first byte.
func pclnMagic(quantum byte) []byte { return []byte{0xff, 0xff, 0xff, 0, 0, quantum, 8} }

// hasPclnMagic tells whether data begins with a header.
func hasPclnMagic(data []byte) bool {
	return len(data) >= 8 && pclnForms[data[0]] != nil && slices.Contains([]byte{1, 2, 4}, data[6]) && bytes.HasPrefix(data[1:], pclnMagic(data[6]))
}

var errPclntab = errors.New("damaged function table")

// newPclntab reads the header. Entries are left as they are, without text.
func newPclntab(data []byte) (*pclntab, error) {
	if !hasPclnMagic(data) {
		return nil, fmt.Errorf("%w: no header", errPclntab)
	}
	t := &pclntab{data: data, form: pclnForms[data[0]], quantum: uint64(data[6])}
	return t, t.readHeader()
}

// pclntabOf reads the header of the table that a section has, and leaves the rest for
// when it is asked for.
func pclntabOf(s *elf.Section) (*pclntab, error) {
	var magic [8]byte
	if _, err := s.ReadAt(magic[:], 0); err != nil || !hasPclnMagic(magic[:]) {
		return nil, fmt.Errorf("%w: no header", errPclntab)
	}
	t := &pclntab{pieces: newPclnPieces(s, s.Size), form: pclnForms[magic[0]], quantum: uint64(magic[6])}
	return t, t.readHeader()
}

func (t *pclntab) readHeader() error {
	t.count = t.word(0)
	if t.form.funcs == 0 {
		t.functab = 16
	} else {
		t.name, t.funcBase = t.word(t.form.names), t.word(t.form.funcs)
		t.functab = t.funcBase
	}
	size := t.size()
	if t.damaged || t.count == 0 || t.count > size || t.functab > size ||
		(2*t.count+1)*t.form.field > size-t.functab {
		return fmt.Errorf("%w: %d functions in %d bytes", errPclntab, t.count, size)
	}
	return nil
}

func (t *pclntab) size() uint64 {
	if t.data == nil && t.pieces != nil {
		return t.pieces.size
	}
	return uint64(len(t.data))
}

// word is a word of the header behind the magic number.
func (t *pclntab) word(n uint64) uint64 { return t.number(8+8*n, 8) }

// number reads 4 or 8 bytes at an offset.
func (t *pclntab) number(at, size uint64) uint64 {
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

// entry is where function i begins; entry(count) is where the last one ends.
func (t *pclntab) entry(i uint64) uint64 {
	return t.text + t.number(t.functab+2*i*t.form.field, t.form.field)
}

// funcs lists the functions by ascending address, names as they are spelled there. Of a table
// that is read in pieces there are neither names nor sizes.
func (t *pclntab) funcs() (*pclnFuncs, error) {
	fs := &pclnFuncs{list: make([]pclnFunc, 0, t.count)}
	// Names don't overlap, so that all of them are no longer than the table, but
	// functions of one name may share it.
	left := 2 * len(t.data)
	var names strings.Builder // one text that all names are parts of
	var ends []int
	if t.data != nil {
		ends, fs.names = make([]int, 0, t.count), make([]string, 0, t.count)
		names.Grow(min(32*int(t.count), len(t.data))) // as most are that long
	}
	next := t.entry(0)
	for i := range t.count {
		f := pclnFunc{addr: next}
		fs.end = t.entry(i + 1)
		next = fs.end
		info := t.funcBase + t.number(t.functab+(2*i+1)*t.form.field, t.form.field)
		var name []byte
		if t.data != nil {
			name = t.text0(t.name + t.number(info+t.form.nameOff, 4))
			left -= len(name)
		}
		if t.damaged || fs.end < f.addr || left < 0 || t.data != nil && len(name) == 0 {
			return nil, fmt.Errorf("%w: function %d of %d", errPclntab, i, t.count)
		}
		if fs.end == f.addr {
			continue
		}
		if t.data != nil {
			names.Write(name)
			ends = append(ends, names.Len())
			f.size = t.codeSize(info)
		}
		f.asm = t.assembly(info)
		fs.list = append(fs.list, f)
	}
	start := 0
	for _, end := range ends {
		fs.names = append(fs.names, names.String()[start:end])
		start = end
	}
	return fs, nil
}

// text0 is the NUL-terminated text at an offset.
func (t *pclntab) text0(at uint64) []byte {
	if at >= uint64(len(t.data)) {
		t.damaged = true
		return nil
	}
	rest := t.data[at:min(at+image.MaxName, uint64(len(t.data)))]
	n := bytes.IndexByte(rest, 0)
	if n < 0 {
		t.damaged = true
		return nil
	}
	return rest[:n]
}

// flagAsm is runtime.funcFlag_ASM, abi.FuncFlagAsm since Go 1.21.
const flagAsm = 1 << 2

// assembly tells whether the _func at an offset was written in assembly: by its flag
// (Go 1.18), or else by its source file (Go 1.16).
func (t *pclntab) assembly(info uint64) bool {
	switch {
	case t.form.flag != 0:
		return t.number(info+t.form.flag&^3, 4)>>(8*(t.form.flag&3))&flagAsm != 0
	case t.form.cus == 0:
		return false
	}
	// The number of the file at the first instruction, within the compilation unit.
	const pcfile, cuOffset = 24, 36
	pcs := t.word(t.form.pcs) + t.number(info+pcfile, 4)
	if pcs >= uint64(len(t.data)) {
		return false
	}
	delta, n := binary.Uvarint(t.data[pcs:])
	// Values are zigzag differences, the first one to -1; a file has a number.
	if n <= 0 || delta&1 != 0 || delta == 0 || delta > 1<<32 {
		return false
	}
	file := t.number(t.word(t.form.cus)+4*(t.number(info+cuOffset, 4)+delta/2-1), 4)
	return bytes.HasSuffix(t.text0(t.word(t.form.files)+file), []byte(".s"))
}
