package offsets

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/offsets/arch"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// pclnFuncs are the functions of Go's table by address.
type pclnFuncs struct {
	list  []pclnFunc
	names []string // of them, if they were read
	end   uint64   // of the last
	next  int      // that is asked for next if somebody goes through all
}

// pclnFunc is an entry of the table. Padding behind it is included: it ends where the next
// one begins.
type pclnFunc struct {
	addr uint64
	// size is without padding, at most [image.MaxCode]; 0 if that is not told.
	size uint32
	// asm: written in assembly. Never set before Go 1.16.
	asm bool
	// inSymtab: .symtab names it.
	inSymtab bool
}

// endOf is where function i ends.
func (fs *pclnFuncs) endOf(i int) uint64 {
	if i+1 < len(fs.list) {
		return fs.list[i+1].addr
	}
	return fs.end
}

// at is the function that begins at an address, or nil.
func (fs *pclnFuncs) at(addr uint64) *pclnFunc {
	i := fs.next
	if i >= len(fs.list) || fs.list[i].addr != addr {
		var ok bool
		i, ok = slices.BinarySearchFunc(fs.list, addr, func(f pclnFunc, addr uint64) int { return cmp.Compare(f.addr, addr) })
		if !ok {
			return nil
		}
	}
	fs.next = i + 1
	return &fs.list[i]
}

// goFuncs decodes Go's function table; nothing if there is none, or a damaged one. Their
// names are read only if .symtab does not have them, and what is not needed of a large
// table is not read at all.
func (b *Binary) goFuncs(t *pclntab) *pclnFuncs {
	if t == nil || b.goVer.Minor == 0 {
		return &pclnFuncs{}
	}
	if (t.form.flag == 0 || b.image.ELF.SectionByType(elf.SHT_SYMTAB) == nil) && !b.load(t) {
		return &pclnFuncs{}
	}
	funcs, err := t.funcs()
	if err != nil {
		return &pclnFuncs{}
	}
	for i := range funcs.list {
		if !b.image.IsCode(funcs.list[i].addr, funcs.endOf(i)) {
			return &pclnFuncs{}
		}
	}
	return funcs
}

// addTableFuncs adds the functions of Go's table that .symtab has not, named as it would
// name them: "·" becomes ".", ".abi0" is put back, sizes are without padding. What
// still differs: Go 1.18 to 1.20 leave out type arguments, "main.Map[...]"; .symtab of
// plugins puts "local." before some names; and the table has no C.
func (b *Binary) addTableFuncs(named []Func, t *pclntab, table *pclnFuncs) []Func {
	missing := 0
	for i := range table.list {
		if !table.list[i].inSymtab {
			missing++
		}
	}
	if missing == 0 {
		return named
	}
	if t.data == nil {
		if !b.load(t) {
			return named
		}
		full := b.goFuncs(t)
		for i := range full.list {
			f := &full.list[i]
			if known := table.at(f.addr); known != nil {
				f.inSymtab = known.inSymtab
			}
		}
		table = full
	}
	named = slices.Grow(named, missing)
	seen := newNameSet(missing)
	twins := make(map[string][]int)
	for i := range table.list {
		if table.list[i].inSymtab {
			continue
		}
		n := b.tableFunc(table, i)
		if b.goVer.Minor >= b.image.Processor.Machine().FirstRegisters && !strings.Contains(n.Name, "[...]") {
			if first := seen.add(named, n.Name); first != len(named) {
				if twins[n.Name] == nil {
					twins[n.Name] = []int{first}
				}
				twins[n.Name] = append(twins[n.Name], len(named))
			}
		}
		named = append(named, n)
	}
	for _, same := range twins {
		b.nameABI0(named, same)
	}
	return named
}

// tableFunc is function i of Go's table, without the mark of ABI0.
func (b *Binary) tableFunc(table *pclnFuncs, i int) Func {
	f := &table.list[i]
	n := Func{Name: table.names[i], Addr: f.addr, Size: table.endOf(i) - f.addr, rank: fromPclntab}
	// The linker does the same when it writes .symtab. Few names have a "·", and its first
	// byte is looked for much faster than both.
	if strings.IndexByte(n.Name, "·"[0]) >= 0 {
		n.Name = strings.ReplaceAll(n.Name, "·", ".")
	}
	if size := uint64(f.size); n.Size > size && size > 0 && !b.padded() {
		n.Size = size
	} else {
		n.Size = b.unpadded(&n)
	}
	if f.asm || b.goVer.Minor < b.image.Processor.Machine().FirstRegisters {
		n.ABI = ABI0
	}
	return n
}

// nameABI0 marks the ABI0 version among functions of one name. One version only
// calls the other (cmd/compile/internal/ssagen/abi.go): what is called is assembly,
// or else the Go function that assembly calls.
func (b *Binary) nameABI0(funcs []Func, same []int) {
	for _, i := range same {
		for _, j := range same {
			wrapper, called := &funcs[i], &funcs[j]
			if i == j || wrapper.ABI == ABI0 || !b.reaches(wrapper, called.Addr) {
				continue
			}
			if called.ABI != ABI0 {
				called = wrapper
			}
			called.ABI = ABI0
			called.Name += abi0Suffix
			return
		}
	}
}

// reaches tells whether a function has a call of, or a jump to, an address.
func (b *Binary) reaches(f *Func, addr uint64) bool {
	code, err := b.Code(f)
	if err != nil {
		return false
	}
	for at := 0; at < len(code); {
		in, err := b.image.Processor.Decode(code[at:])
		if err != nil {
			return false
		}
		if (in.Kind == arch.Call || in.Kind == arch.Jump) && f.Addr+uint64(at)+uint64(in.To) == addr {
			return true
		}
		at += in.Len
	}
	return false
}

// codeSize is how many bytes the table of stack depths covers that belongs to the _func
// at an offset: the linker puts padding behind (cmd/internal/obj/pcln.go, funcpctab); 0
// if there is none. Tables are pairs of differences, of the value and of the address, up
// to a 0 (runtime/symtab.go, step).
func (t *pclntab) codeSize(info uint64) (size uint32) {
	at := t.number(info+t.form.field+12, 4)
	if at == 0 {
		return 0
	}
	if t.form.pcs != 0 {
		at += t.word(t.form.pcs)
	}
	for first := true; at < uint64(len(t.data)); first = false {
		value, n := binary.Uvarint(t.data[at:])
		if value == 0 && !first {
			return size
		}
		delta, m := binary.Uvarint(t.data[at+uint64(max(n, 0)):])
		if n <= 0 || m <= 0 || delta == 0 || delta > uint64(image.MaxCode-size)/t.quantum {
			return 0
		}
		at += uint64(n + m)
		size += uint32(delta * t.quantum)
	}
	return 0
}
