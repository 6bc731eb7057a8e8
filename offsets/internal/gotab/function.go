package gotab

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/offsets/internal/image"
)

// Func is what the table has of a function: a _func (runtime/runtime2.go), which begins with the
// entry. Behind it are offsets of tables of values by address, and of other data.
type Func struct {
	t *table
	// Addr is where it begins, and End where the next one does: padding behind it is included.
	Addr, End uint64
	at        uint64 // of the _func
}

func (t *table) function(i uint64) Func {
	return Func{t, t.entry(i), t.entry(i + 1), t.funcs + t.number(t.functab+(2*i+1)*t.form.field, t.form.field)}
}

// Words of a _func, behind the entry. Since Go 1.16 the number of the first file of its
// compilation unit is among them.
const (
	wordName   = 0
	wordArgs   = 1
	wordSP     = 3 // how far SP is from the return address
	wordFile   = 4
	wordLine   = 5
	wordPCData = 6 // how many tables there are besides
	wordUnit   = 7
)

func (f Func) word(n uint64) uint64 { return f.t.number(f.at+f.t.form.field+4*n, 4) }

// kinds are four bytes at the end: the kind of function (runtime.funcID), flags since Go 1.18,
// nothing, and how many data belong to it.
func (f Func) kinds() uint64 { return f.t.number(f.at+f.t.form.head-4, 4) }

// name is as the table spells it.
func (f Func) name() []byte { return f.t.text0(f.t.names + f.word(wordName)) }

// symbol is a name as .symtab would spell it.
func (t *table) symbol(at uint64) string {
	return strings.ReplaceAll(string(t.text0(t.names+at)), "·", ".")
}

// unit is the number of its compilation unit's first file, since Go 1.16.
func (f Func) unit() uint64 {
	if f.t.form.first == 0 {
		return 0
	}
	return f.word(wordUnit)
}

// none is an offset that leads nowhere.
const none = 1<<32 - 1

// flagAsm is runtime.funcFlag_ASM, abi.FuncFlagAsm since Go 1.21.
const flagAsm = 1 << 2

// Assembly tells whether it was written in assembly: by its flag (Go 1.18), or else by its
// source file (Go 1.16). It is never so before Go 1.16.
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

// table is where the table of values is that a word tells, 0 for none.
func (f Func) table(word uint64) uint64 { return f.t.valuesAt(f.word(word)) }

// pcdata is where table n of those is that are counted by wordPCData.
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

// step reads the pair at an offset of a table of values by address: the difference to the value
// before (zigzag, the first from -1 on), and to the address, up to a 0 (runtime/symtab.go, step).
// size is 0 at the end, next if the table is damaged.
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

// varint reads a number and tells where the next one is, 0 if there is none at the offset.
func (t *table) varint(at uint64) (v, next uint64) {
	if at < uint64(len(t.data)) {
		if v, n := binary.Uvarint(t.data[at:]); n > 0 {
			return v, at + uint64(n)
		}
	}
	return 0, 0
}

// run is the instructions from an address up to another, for which a table has one value.
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

// file is the name of a file by its number in the function's unit, nil if there is none.
func (f Func) file(number int32) []byte {
	t := f.t
	if number < 0 {
		return nil
	}
	if t.form.first == 0 {
		// The table of files is where the word behind the functions says: their number,
		// and the places of their names.
		files := t.number(t.functab+(2*t.count+1)*t.form.field, 4)
		if number == 0 || uint64(number) >= t.number(files, 4) {
			return nil
		}
		return t.text0(t.number(files+4*uint64(number), 4))
	}
	at := t.number(t.units+4*(f.unit()+uint64(number)), 4)
	if at == none {
		return nil
	}
	return t.text0(t.files + at)
}

// Funcs lists the functions of the table by address; none if there is no table, or a damaged one.
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

// Name is the name as .symtab would spell it; "" if it can't be read. Names don't overlap, so that together they are no
// longer than the table, but functions of one name may share it.
func (f Func) Name() string {
	name := f.t.symbol(f.word(wordName))
	if f.t.left -= len(name); f.t.left < 0 {
		return ""
	}
	return name
}

// CodeSize is how many bytes the table of stack depths covers: the linker puts padding behind
// (cmd/internal/obj/pcln.go, funcpctab). It is 0 if there is none, or more than [image.MaxCode].
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
