package offsets

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/offsets/internal/debug"
	"github.com/ftgo/ftgo/offsets/internal/gotab"
)

// addTableFuncs adds the functions of Go's table that .symtab has not, named as it would
// name them: "·" becomes ".", ".abi0" is put back, sizes are without padding. What
// still differs: Go 1.18 to 1.20 leave out type arguments, "main.Map[...]"; .symtab of
// plugins puts "local." before some names; and the table has no C.
func (b *Binary) addTableFuncs(named []Func, table *gotab.Funcs) []Func {
	missing := 0
	for i := range table.List {
		if !table.List[i].InSymtab {
			missing++
		}
	}
	if missing == 0 {
		return named
	}
	table, ok := b.tables.WithNames(table)
	if !ok {
		return named
	}
	named = slices.Grow(named, missing)
	seen := newNameSet(missing)
	twins := make(map[string][]int)
	for i := range table.List {
		if table.List[i].InSymtab {
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
func (b *Binary) tableFunc(table *gotab.Funcs, i int) Func {
	f := &table.List[i]
	n := Func{Name: table.Names[i], Addr: f.Addr, Size: table.End(i) - f.Addr, rank: fromPclntab}
	// The linker does the same when it writes .symtab. Few names have a "·", and its first
	// byte is looked for much faster than both.
	if strings.IndexByte(n.Name, "·"[0]) >= 0 {
		n.Name = strings.ReplaceAll(n.Name, "·", ".")
	}
	if size := uint64(f.Size); n.Size > size && size > 0 && !b.padded() {
		n.Size = size
	} else {
		n.Size = b.unpadded(&n)
	}
	if f.Asm || b.goVer.Minor < b.image.Processor.Machine().FirstRegisters {
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
	code, _ := b.code(f)
	for at, in := range debug.Instructions(b.image.Processor, code) {
		if (in.Kind == arch.Call || in.Kind == arch.Jump) && f.Addr+uint64(at)+uint64(in.To) == addr {
			return true
		}
	}
	return false
}

// nameSet finds the functions of a long list that have the name of an earlier one. Hardly any
// has: a map of all names took a quarter of a stripped program's planning.
type nameSet struct {
	seed  maphash.Seed
	slots []uint32 // places in the list, from 1 on, where the hash of the name says or behind
}

// newNameSet is for so many names.
func newNameSet(n int) *nameSet {
	return &nameSet{maphash.MakeSeed(), make([]uint32, 2<<bits.Len(uint(n)))}
}

// add returns the place in the list of the first function of that name, which is the list's
// length if it is new: it must be the list's next one then.
func (s *nameSet) add(funcs []Func, name string) (first int) {
	mask := uint64(len(s.slots) - 1)
	for at := maphash.String(s.seed, name) & mask; ; at = (at + 1) & mask {
		switch first := s.slots[at]; {
		case first == 0:
			s.slots[at] = uint32(len(funcs)) + 1
			return len(funcs)
		case funcs[first-1].Name == name:
			return int(first - 1)
		}
	}
}
