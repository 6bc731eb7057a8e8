package gotab

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/ftgo/ftgo/offsets/internal/image"
)

// function is what the table has of one: a _func (runtime/runtime2.go), which begins with the
// entry. Behind it are offsets of tables of values by address, and of other data.
type function struct {
	t         *table
	addr, end uint64
	at        uint64 // of the _func
}

func (t *table) function(i uint64) function { return t.functionFrom(t.entry(i), i) }

// functionFrom is function i, which begins at an address.
func (t *table) functionFrom(addr, i uint64) function {
	return function{t, addr, t.entry(i + 1), t.funcs + t.number(t.functab+(2*i+1)*t.form.field, t.form.field)}
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

func (f function) word(n uint64) uint64 { return f.t.number(f.at+f.t.form.field+4*n, 4) }

// kinds are four bytes at the end: the kind of function (runtime.funcID), flags since Go 1.18,
// nothing, and how many data belong to it.
func (f function) kinds() uint64 { return f.t.number(f.at+f.t.form.head-4, 4) }

// name is as the table spells it.
func (f function) name() []byte { return f.t.text0(f.t.names + f.word(wordName)) }

// symbol is a name as .symtab would spell it.
func (t *table) symbol(at uint64) string {
	return strings.ReplaceAll(string(t.text0(t.names+at)), "·", ".")
}

// unit is the number of its compilation unit's first file, since Go 1.16.
func (f function) unit() uint64 {
	if f.t.form.first == 0 {
		return 0
	}
	return f.word(wordUnit)
}

// none is an offset that leads nowhere.
const none = 1<<32 - 1

// flagAsm is runtime.funcFlag_ASM, abi.FuncFlagAsm since Go 1.21.
const flagAsm = 1 << 2

// assembly tells whether it was written in assembly: by its flag (Go 1.18), or else by its
// source file (Go 1.16).
func (f function) assembly() bool {
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
func (f function) table(word uint64) uint64 { return f.t.valuesAt(f.word(word)) }

// pcdata is where table n of those is that are counted by wordPCData.
func (f function) pcdata(n uint64) uint64 {
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

// varint reads a number and tells where the next one is, 0 if there is none at the offset. Hardly
// any has more than one byte.
func (t *table) varint(at uint64) (v, next uint64) {
	if i := at - t.start; i < uint64(len(t.data)) && t.data[i] < 0x80 {
		return uint64(t.data[i]), at + 1
	}
	return t.longVarint(at)
}

func (t *table) longVarint(at uint64) (v, next uint64) {
	if t.parts {
		t.has(at, min(binary.MaxVarintLen64, t.size-min(at, t.size)))
	}
	if i := at - t.start; i < uint64(len(t.data)) {
		if v, n := binary.Uvarint(t.data[i:]); n > 0 {
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
func (f function) runs(at uint64) (runs []run) {
	value, addr := int32(-1), f.addr
	for addr < f.end {
		difference, size, next := f.t.step(at, addr == f.addr)
		if size == 0 {
			break
		}
		at, value = next, value+difference
		end := min(addr+size, f.end)
		runs = append(runs, run{addr, end, value})
		addr = end
	}
	return runs
}

// file is the name of a file by its number in the function's unit, nil if there is none.
func (f function) file(number int32) []byte {
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

// Funcs are the functions of Go's table by address.
type Funcs struct {
	List  []Func
	Names []string // of them, if they were read
	end   uint64   // of the last
	next  int      // that is asked for next if somebody goes through all
}

// Func is a function of the table. Padding behind it is included: it ends where the next
// one begins.
type Func struct {
	Addr uint64
	// Size is without padding, at most [image.MaxCode]; 0 if that is not told.
	Size uint32
	// Asm: written in assembly. Never set before Go 1.16.
	Asm bool
	// InSymtab is for who reads .symtab: it names the function.
	InSymtab bool
}

// End is where function i ends.
func (fs *Funcs) End(i int) uint64 {
	if i+1 < len(fs.List) {
		return fs.List[i+1].Addr
	}
	return fs.end
}

// Inside tells whether an address is in a function, but not where it begins.
func (fs *Funcs) Inside(addr uint64) bool {
	i := sort.Search(len(fs.List), func(i int) bool { return fs.List[i].Addr > addr }) - 1
	return i >= 0 && addr != fs.List[i].Addr && addr < fs.End(i)
}

// At is the number of the function that begins at an address, -1 if none does.
func (fs *Funcs) At(addr uint64) int {
	i := fs.next
	if i >= len(fs.List) || fs.List[i].Addr != addr {
		var ok bool
		i, ok = slices.BinarySearchFunc(fs.List, addr, func(f Func, addr uint64) int { return cmp.Compare(f.Addr, addr) })
		if !ok {
			return -1
		}
	}
	fs.next = i + 1
	return i
}

// Funcs lists the functions of the table; none if there is no table, or a damaged one. Their
// names are read only if .symtab does not have them, and what is not needed of a large
// table is not read at all.
func (g *Tables) Funcs() *Funcs {
	return g.list(g.image.ELF.SectionByType(elf.SHT_SYMTAB) == nil)
}

// list lists the functions of the table, with their names or without; none if there is no table.
func (g *Tables) list(named bool) *Funcs {
	read := g.head.all
	if g.head != nil && g.head.form.oldest >= 18 {
		read = g.head.pairs
	}
	t, ok := read()
	if !ok {
		return &Funcs{}
	}
	funcs, err := t.list(named)
	for i := 0; err == nil && i < len(funcs.List); i++ {
		if !g.image.IsCode(funcs.List[i].Addr, funcs.End(i)) {
			err = errTable
		}
	}
	if err != nil {
		return &Funcs{}
	}
	return funcs
}

// WithNames is fs with names; ok is false if the table can't be read.
func (g *Tables) WithNames(fs *Funcs) (named *Funcs, ok bool) {
	if fs.Names != nil {
		return fs, true
	}
	named = g.list(true)
	if len(named.List) != len(fs.List) {
		return nil, false
	}
	for i := range named.List {
		named.List[i].InSymtab = fs.List[i].InSymtab
	}
	return named, true
}

// list lists the functions by ascending address, names as they are spelled there. Of a table
// of which only the pairs were read, what they lead to is read from front to back, since it is in one order with them; there
// are neither names nor sizes then unless they are asked for.
func (t *table) list(named bool) (*Funcs, error) {
	fs, all := &Funcs{List: make([]Func, 0, t.count)}, t.start == 0
	left := 2 * int(t.size) // what pairs lead to is read once
	infos := *t
	if !all {
		infos.data = nil
	}
	var names, depths []uint32 // where they are
	if named = named || all; named {
		names, depths = make([]uint32, 0, t.count), make([]uint32, 0, t.count)
	}
	fs.end = t.entry(0)
	for i := range t.count {
		f := t.functionFrom(fs.end, i)
		fs.end = f.end
		if t.damaged || infos.damaged || f.end < f.addr || left < 0 {
			return nil, fmt.Errorf("%w: function %d of %d", errTable, i, t.count)
		}
		if f.end == f.addr {
			continue
		}
		if !all {
			left -= infos.hold(f.at, t.form.head)
		}
		f.t = &infos
		fs.List = append(fs.List, Func{Addr: f.addr, Asm: f.assembly()})
		if named {
			names, depths = append(names, uint32(f.word(wordName))), append(depths, uint32(f.word(wordSP)))
		}
	}
	if infos.damaged {
		return nil, fmt.Errorf("%w: the last function of %d", errTable, t.count)
	}
	if named {
		fs.Names = t.texts(names)
		if len(fs.Names) < len(fs.List) {
			return nil, fmt.Errorf("%w: name of function %d", errTable, len(fs.Names))
		}
		t.setSizes(fs.List, depths)
	}
	return fs, nil
}

// texts are the names at some offsets, up to the first that can't be read. All are parts of one text. Names don't
// overlap, so that together they are no longer than the table, but functions of one name may share it.
func (t *table) texts(at []uint32) []string {
	if len(at) == 0 {
		return nil
	}
	first, last := uint64(slices.Min(at)), uint64(slices.Max(at))
	start := t.names + first
	if start < first || start >= t.size || last-first >= t.size-start {
		return nil
	}
	var text strings.Builder
	size := min(last-first+image.MaxName, t.size-start)
	text.Grow(int(size))
	if _, err := io.Copy(&text, io.NewSectionReader(t.r, int64(start), int64(size))); err != nil {
		return nil
	}
	names, left := make([]string, 0, len(at)), 2*int(t.size)
	for _, offset := range at {
		rest := text.String()[min(uint64(offset)-first, uint64(text.Len())):]
		end := strings.IndexByte(rest[:min(image.MaxName, len(rest))], 0)
		if left -= end; end <= 0 || left < 0 {
			break
		}
		names = append(names, rest[:end])
	}
	return names
}

// setSizes tells the sizes of functions by their tables of stack depths. These are read from front to back, as
// many functions share them.
func (t *table) setSizes(funcs []Func, depths []uint32) {
	order := make([]uint64, len(depths))
	for i, at := range depths {
		order[i] = uint64(at)<<32 | uint64(i)
	}
	slices.Sort(order)
	part, usual := *t, uint64(512)
	part.data = nil
	for n, next := range order {
		f, at := &funcs[uint32(next)], t.valuesAt(next>>32)
		if n > 0 && next>>32 == order[n-1]>>32 {
			f.Size = funcs[uint32(order[n-1])].Size
			continue
		}
		if part.hold(at, usual); at > 0 {
			f.Size = part.codeSize(at)
		}
		if f.Size == 0 && part.hold(at, min(window, t.size-min(at, t.size))) > 0 {
			f.Size = part.codeSize(at)
		}
	}
}

// codeSize is how many bytes the table of stack depths at an offset covers: the linker puts padding behind
// (cmd/internal/obj/pcln.go, funcpctab); 0 if there is none.
func (t *table) codeSize(at uint64) (all uint32) {
	for first := true; ; first = false {
		_, size, next := t.step(at, first)
		switch {
		case next == 0 || size > uint64(image.MaxCode-all):
			return 0
		case size == 0:
			return all
		}
		at, all = next, all+uint32(size)
	}
}
