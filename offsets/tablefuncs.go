package offsets

import (
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/offsets/internal/gotab"
)

// addTableFuncs adds the functions of Go's table that .symtab has not, named as it would
// name them: "·" becomes ".", ".abi0" is put back, sizes are without padding. What
// still differs: Go 1.18 to 1.20 leave out type arguments, "main.Map[...]"; .symtab of
// plugins puts "local." before some names; and the table has no C.
func (b *Binary) addTableFuncs(named []Func, table []gotab.Func, known []bool) []Func {
	named = slices.Grow(named, len(table))
	first := make(map[string]int, len(table)) // places in named, by name
	same := make(map[string][]int)            // those of names that there are twice
	for i := range table {
		if known[i] {
			continue
		}
		n := b.tableFunc(table[i])
		if n.Name == "" {
			continue
		}
		if b.goVer.Minor >= b.image.Processor.Machine().FirstRegisters && !strings.Contains(n.Name, "[...]") {
			at, ok := first[n.Name]
			switch {
			case !ok:
				first[n.Name] = len(named)
			case same[n.Name] == nil:
				same[n.Name] = []int{at, len(named)}
			default:
				same[n.Name] = append(same[n.Name], len(named))
			}
		}
		named = append(named, n)
	}
	for _, places := range same {
		b.nameABI0(named, places)
	}
	return named
}

// tableFunc is a function of Go's table, without the mark of ABI0.
func (b *Binary) tableFunc(f gotab.Func) Func {
	n := Func{Name: f.Name(), Addr: f.Addr, Size: f.End - f.Addr, rank: fromPclntab}
	if size := f.CodeSize(); n.Size > size && size > 0 && !b.padded() {
		n.Size = size
	} else {
		n.Size = b.unpadded(&n)
	}
	if f.Assembly() || b.goVer.Minor < b.image.Processor.Machine().FirstRegisters {
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
	for at, in := range arch.Instructions(b.image.Processor, code) {
		if (in.Kind == arch.Call || in.Kind == arch.Jump) && f.Addr+uint64(at)+uint64(in.To) == addr {
			return true
		}
	}
	return false
}
