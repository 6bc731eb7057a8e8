package offsets

import (
	"cmp"
	"debug/elf"
	"errors"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/offsets/internal/gotab"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// abi0Suffix marks, in .symtab, the stack-argument version of a function that has
// another one too (mangleABIName in cmd/link/internal/ld/symtab.go, since Go 1.17).
const abi0Suffix = ".abi0"

// The ranks of names by where they are from; local ones have one more, which is worse.
const (
	fromSymtab uint8 = 2 * iota
	fromPclntab
	fromDynsym

	// withoutSize is added: those of assembly that nobody has given a size.
	withoutSize = 8
)

// readFuncs lists the functions that the symbol tables and Go's own table name, each
// address once.
func (b *Binary) readFuncs() ([]Func, error) {
	table := b.tables.Funcs()
	named, symErr := b.symbolFuncs(nil, b.image.Described, elf.SHT_SYMTAB, fromSymtab)
	if b.image.Described != b.image {
		named = slices.DeleteFunc(named, func(f Func) bool { return b.inside(f.Addr, table) })
	}
	known := b.complete(named, table)
	// Some binaries keep a few symbols, and .symtab spells names better.
	named = b.addTableFuncs(named, table, known)
	all := len(named)
	named, err := b.symbolFuncs(named, b.image, elf.SHT_DYNSYM, fromDynsym)
	if err == nil {
		b.complete(named[all:], table)
	} // else the other tables may still be sound
	// Marks of Go's linker, of one byte, have nothing but padding where instructions are longer.
	named = slices.DeleteFunc(named, func(f Func) bool { return f.Size == 0 })
	if len(named) == 0 {
		return nil, cmp.Or(symErr, errors.New("no function symbols (stripped?)"))
	}
	funcs := withoutABI(b.measured(tidy(named)))
	if b.goVer.Minor == 0 {
		demangle(funcs)
	}
	return funcs, nil
}

// inside tells whether an address is inside of a function, by what the program has itself. Symbols of another
// file are not proven by its code, and a probe there may be amid an instruction.
func (b *Binary) inside(addr uint64, table []gotab.Func) bool {
	e, ok := b.unwind().At(addr)
	n, begins := inTable(table, addr)
	return ok && e.Addr != addr || !begins && n > 0 && addr < table[n-1].End
}

// inTable finds the function of Go's table that begins at an address, or the first one behind it.
func inTable(table []gotab.Func, addr uint64) (n int, begins bool) {
	return slices.BinarySearchFunc(table, addr, func(f gotab.Func, addr uint64) int { return cmp.Compare(f.Addr, addr) })
}

// symbolFuncs adds the functions of a file's symbol table, as they are there; none of a damaged one.
// Symbols of type STT_GNU_IFUNC are none: what they name is called once, to choose the function
// that goes by the name.
func (b *Binary) symbolFuncs(named []Func, m *image.Image, table elf.SectionType, from uint8) ([]Func, error) {
	before := len(named)
	if before == 0 {
		named = slices.Grow(named, m.Symbols(table)) // functions are most of what Go's linker names
	}
	err := m.EachSymbol(table, func(s image.Symbol) {
		// Assembly need not say that something is a function, nor how long it is. Local labels are of loops.
		untyped := s.Kind == elf.STT_NOTYPE && s.Bind != elf.STB_LOCAL && s.Size == 0
		if s.Kind != elf.STT_FUNC && !untyped || s.Name[0] == '@' || !b.image.IsCode(s.Addr, s.Addr+1) {
			return
		}
		f := Func{Name: s.Name, Addr: s.Addr, Size: s.Size, rank: from}
		if s.Size == 0 {
			if b.goVer.Minor > 0 && strings.ContainsAny(s.Name, ".:") {
				return // a mark of Go's linker: runtime.etext
			}
			_, end, _ := b.image.Segment(s.Addr)
			f.Size, f.rank = min(end-s.Addr, image.MaxCode), from+withoutSize
		}
		if s.Bind == elf.STB_LOCAL {
			f.rank++
		}
		named = append(named, f)
	})
	if err != nil {
		named = named[:before]
	}
	return named, err
}

// complete tells of functions from a symbol table what Go's table knows of them, and which of its functions they are.
func (b *Binary) complete(named []Func, table []gotab.Func) (known []bool) {
	known = make([]bool, len(table))
	for i := range named {
		f := &named[i]
		n, ok := inTable(table, f.Addr)
		switch {
		case b.goVer.Minor == 0 || len(table) > 0 && !ok:
			f.ABI = SystemV
			f.Name, _, _ = strings.Cut(f.Name, "@") // the version: memcpy@@GLIBC_2.14
		case b.goVer.Minor < b.image.Processor.Machine().FirstRegisters || strings.HasSuffix(f.Name, abi0Suffix) || ok && table[n].Assembly():
			f.ABI = ABI0
		}
		if !ok {
			continue
		}
		known[n] = known[n] || f.rank < fromPclntab
		if b.padded() {
			f.Size = min(f.Size, table[n].End-f.Addr)
			f.Size = b.unpadded(f)
		}
	}
	return known
}

// padded tells whether the sizes of symbols may count the padding behind functions.
func (b *Binary) padded() bool { return b.goVer.Minor <= b.image.Processor.Machine().LastPadded }

func (b *Binary) unpadded(f *Func) uint64 {
	code, err := b.code(f)
	if err != nil {
		return f.Size
	}
	return uint64(b.image.Processor.Trim(code))
}

// tidy sorts functions by address and keeps one name for each, the others being
// aliases: two names would put two probes on one instruction. The names that people
// use are short and global: malloc, not __libc_malloc. A function ends where the next begins,
// whatever its symbol says: no compiler writes two that overlap.
func tidy(named []Func) []Func {
	slices.SortStableFunc(named, byAddress) // the linker writes two sorted runs, which it merges with few comparisons
	named = withoutLabels(named)
	kept := 0
	for next := 0; next < len(named); kept++ {
		f := &named[next]
		if f.rank < withoutSize {
			f.rank = 0
		}
		var aliases map[string]bool
		for next++; next < len(named) && named[next].Addr == f.Addr; next++ {
			name := named[next].Name
			if name == f.Name || aliases[name] {
				continue
			}
			if aliases == nil {
				aliases = make(map[string]bool)
			}
			aliases[name] = true
			f.aliases = append(f.aliases, name)
		}
		if next < len(named) {
			f.Size = min(f.Size, named[next].Addr-f.Addr)
		}
		named[kept] = *f
	}
	clear(named[kept:])
	return named[:kept]
}

// withoutLabels leaves out symbols without a size that are in functions which have one.
func withoutLabels(named []Func) []Func {
	end := uint64(0)
	return slices.DeleteFunc(named, func(f Func) bool {
		if f.rank >= withoutSize {
			return f.Addr < end
		}
		end = max(end, f.Addr+f.Size)
		return false
	})
}

// measured tells how long functions are whose symbols don't.
func (b *Binary) measured(funcs []Func) []Func {
	for i := range funcs {
		f := &funcs[i]
		if f.rank < withoutSize {
			continue
		}
		f.rank = 0
		if code, err := b.code(f); err == nil { // else it is of no use as a function, either
			f.Size = uint64(arch.Extent(b.image.Processor, code))
		}
	}
	return funcs
}

// withoutABI gives the plain name that people know to functions of which only the ABI0
// version is there.
func withoutABI(funcs []Func) []Func {
	marked := make(map[string][]int) // by the plain name
	for i := range funcs {
		if plain, ok := strings.CutSuffix(funcs[i].Name, abi0Suffix); ok && plain != "" {
			marked[plain] = append(marked[plain], i)
		}
	}
	for i := range funcs {
		delete(marked, funcs[i].Name)
	}
	for plain, all := range marked {
		for _, i := range all {
			funcs[i].Name = plain
		}
	}
	return funcs
}

// byAddress orders names by address, and those of one address by how well they tell the function.
func byAddress(x, y Func) int {
	if x.Addr != y.Addr { // as for most names: the rest would be compared for nothing
		return cmp.Compare(x.Addr, y.Addr)
	}
	return cmp.Or(
		cmp.Compare(x.rank, y.rank),
		cmp.Compare(underscores(x.Name), underscores(y.Name)),
		cmp.Compare(len(x.Name), len(y.Name)),
		cmp.Compare(x.Name, y.Name),
	)
}

func underscores(name string) int {
	if strings.HasPrefix(name, "_") {
		return 1
	}
	return 0
}
