package gotab

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/offsets/internal/image"
)

// Func is a function of the table, described by a _func (runtime/runtime2.go). The _func begins with the function's start.
// Offsets follow: of tables that map addresses to values, and of other data.
type Func struct {
	t *table
	// Addr is the function's start, End the start of the next one, so that the padding between them is included.
	Addr, End uint64
	at        uint64 // the offset of the _func
}

func (t *table) function(i uint64) Func {
	return Func{t, t.entry(i), t.entry(i + 1), t.funcs + t.number(t.functab+(2*i+1)*t.form.field, t.form.field)}
}

// Indices of the words of a _func after the entry.
const (
	wordName   = 0
	wordArgs   = 1
	wordSP     = 3 // the table of distances of SP from the return address
	wordFile   = 4
	wordLine   = 5
	wordPCData = 6 // the number of PCDATA tables
	wordUnit   = 7 // the number of the first file of the compilation unit, since Go 1.16
	wordStart  = 8 // the line of the keyword func, since Go 1.20
)

func (f Func) word(n uint64) uint64 { return f.t.number(f.at+f.t.form.field+4*n, 4) }

// kinds returns the four bytes at the end of a _func: the kind of function (runtime.funcID), flags (since Go 1.18), an
// unused byte, and the number of data tables.
func (f Func) kinds() uint64 { return f.t.number(f.at+f.t.form.head-4, 4) }

// name returns the name in the spelling of the table.
func (f Func) name() []byte { return f.t.text0(f.t.names + f.word(wordName)) }

// symbol returns a name in the spelling of .symtab.
func (t *table) symbol(at uint64) string {
	return strings.ReplaceAll(string(t.text0(t.names+at)), "·", ".")
}

// unit returns the number of the first file of the function's compilation unit, 0 before Go 1.16.
func (f Func) unit() uint64 {
	if f.t.form.first == 0 {
		return 0
	}
	return f.word(wordUnit)
}

// noOffset is the offset of data that a function does not have.
const noOffset = 1<<32 - 1

// flagAsm is runtime.funcFlag_ASM, abi.FuncFlagAsm since Go 1.21.
const flagAsm = 1 << 2

// Assembly reports whether the function was written in assembly, by its flag (Go 1.18 and later) or its source file (Go
// 1.16 and 1.17). It returns false before Go 1.16.
func (f Func) Assembly() bool {
	switch {
	case f.t.form.oldest >= 18:
		return f.kinds()>>8&flagAsm != 0
	case f.t.form.oldest < 16:
		return false
	}
	value, _, next := f.t.step(f.table(wordFile), true)
	return next != 0 && bytes.HasSuffix(f.file(value-1), []byte(".s"))
}

// table returns the offset of the table of values that a word of the _func refers to, 0 for none.
func (f Func) table(word uint64) uint64 { return f.t.valuesAt(f.word(word)) }

// pcdata returns the offset of the function's PCDATA table n, 0 for none.
func (f Func) pcdata(n uint64) uint64 {
	if f.word(wordPCData) <= n {
		return 0
	}
	return f.t.valuesAt(f.t.number(f.at+f.t.form.head+4*n, 4))
}

func (t *table) valuesAt(offset uint64) uint64 {
	if offset == 0 {
		return 0
	}
	return t.values + offset
}

// step reads the pair at an offset of a table of values by address: the difference from the previous value (zigzag; the
// first is from -1) and the number of bytes of code with the new value (runtime/symtab.go, step). size is 0 at the end of
// the table. If the table is damaged, size and next are 0.
func (t *table) step(at uint64, first bool) (difference int32, size, next uint64) {
	if at == 0 {
		return 0, 0, 0
	}
	v, at := t.varint(at)
	if at == 0 || v == 0 && !first {
		return 0, 0, at
	}
	size, at = t.varint(at)
	if size == 0 || size > 1<<32 {
		return 0, 0, 0
	}
	return int32(v>>1) ^ -int32(v&1), size * t.quantum, at
}

// varint reads a number and returns the number and the offset after it. next is 0 if no number is at the offset.
func (t *table) varint(at uint64) (v, next uint64) {
	if at < uint64(len(t.data)) {
		if v, n := binary.Uvarint(t.data[at:]); n > 0 {
			return v, at + uint64(n)
		}
	}
	return 0, 0
}

// run is a range of addresses for which a table has one value.
type run struct {
	addr, end uint64
	value     int32
}

// runs decodes the table of values at an offset.
func (f Func) runs(at uint64) (runs []run) {
	value, addr := int32(-1), f.Addr
	for addr < f.End {
		difference, size, next := f.t.step(at, addr == f.Addr)
		if size == 0 {
			break
		}
		at, value = next, value+difference
		end := min(addr+size, f.End)
		runs = append(runs, run{addr, end, value})
		addr = end
	}
	return runs
}

// file returns the name of a file by its number in the function's unit, nil for an unknown number.
func (f Func) file(number int32) []byte {
	t := f.t
	if number < 0 {
		return nil
	}
	if t.form.first == 0 {
		// The word after the list of functions is the offset of the table of files: their number, then the offsets
		// of their names.
		files := t.number(t.functab+(2*t.count+1)*t.form.field, 4)
		if number == 0 || uint64(number) >= t.number(files, 4) {
			return nil
		}
		return t.text0(t.number(files+4*uint64(number), 4))
	}
	at := t.number(t.units+4*(f.unit()+uint64(number)), 4)
	if at == noOffset {
		return nil
	}
	return t.text0(t.files + at)
}

// Funcs returns the functions of the table, sorted by address. It returns none if the table is missing or damaged, or if a
// function is outside of the program's code.
func (g *Tables) Funcs() []Func {
	list := g.functions().list()
	if slices.ContainsFunc(list, func(f Func) bool { return !g.image.IsCode(f.Addr, f.End) }) {
		return nil
	}
	return list
}

func (t *table) list() []Func {
	t.left = 2 * len(t.data)
	list := make([]Func, 0, t.count)
	for i := range t.count {
		f := t.function(i)
		if f.kinds(); t.damaged {
			return nil
		}
		if f.End > f.Addr {
			list = append(list, f)
		}
	}
	return list
}

// Name returns the name in the spelling of .symtab, or "" if it can't be read. It also returns "" if all names that were
// read are together more than twice as long as the table, because then names overlap and the table is damaged.
func (f Func) Name() string {
	name := f.t.symbol(f.word(wordName))
	if f.t.left -= len(name); f.t.left < 0 {
		return ""
	}
	return name
}

// CodeSize returns the number of bytes of code that the table of stack depths covers. The linker appends padding to this
// code (cmd/internal/obj/pcln.go, funcpctab). CodeSize returns 0 if the function has no such table, or if the table covers
// more than [image.MaxCode].
func (f Func) CodeSize() (all uint64) {
	at := f.table(wordSP)
	for first := true; f.t.left > 0; first = false {
		_, size, next := f.t.step(at, first)
		switch {
		case next == 0 || size > image.MaxCode-all:
			return 0
		case size == 0:
			return all
		}
		f.t.left -= int(next - at)
		at, all = next, all+size
	}
	return 0
}
