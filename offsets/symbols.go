package offsets

import (
	"cmp"
	"debug/elf"
	"errors"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/offsets/internal/gotab"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// abi0Suffix marks the ABI0 version of a function in .symtab, if the function has versions of both ABIs
// (mangleABIName in cmd/link/internal/ld/symtab.go, since Go 1.17).
const abi0Suffix = ".abi0"

// These are the ranks of names by their source. Local symbols have a rank that is 1 higher, which is worse.
const (
	fromSymtab uint8 = 2 * iota
	fromPclntab
	fromDynsym

	// withoutSize is added to the rank of assembly symbols without a size.
	withoutSize = 8
)

// readFuncs returns the functions in the symbol tables and in Go's function table, with one entry per address.
func (b *Binary) readFuncs() ([]Func, error) {
	table := b.tables.Funcs()
	named, symErr := b.symbolFuncs(make([]Func, 0, len(table)), b.image.Description, elf.SHT_SYMTAB, fromSymtab)
	if b.image.Description != b.image {
		// Even if another file has the same code, its symbols may be wrong, and a probe at a wrong symbol may be in the middle
		// of an instruction. So keep no symbol inside of a function by the program's own .eh_frame or function table.
		named = slices.DeleteFunc(named, func(f Func) bool {
			e, ok := b.unwind().At(f.Addr)
			n, begins := inTable(table, f.Addr)
			return ok && e.Addr != f.Addr || !begins && n > 0 && f.Addr < table[n-1].End
		})
	}
	known := b.addTableInfo(named, table)
	// The table adds functions that .symtab lacks: some stripped binaries keep a few symbols. .symtab comes first,
	// because its names are more complete.
	named = b.addTableFuncs(named, table, known)
	all := len(named)
	named, err := b.symbolFuncs(named, b.image, elf.SHT_DYNSYM, fromDynsym)
	if err == nil {
		b.addTableInfo(named[all:], table)
	} // else use the functions of the other tables
	// Symbols that Go's linker writes as markers have one byte. On processors with longer instructions this byte is
	// padding, which addTableInfo has removed.
	named = slices.DeleteFunc(named, func(f Func) bool { return f.Size == 0 })
	if len(named) == 0 {
		return nil, cmp.Or(symErr, errors.New("no function symbols (stripped?)"))
	}
	funcs := mergeAliases(named)
	b.setSizes(funcs)
	dropABISuffixes(funcs)
	if b.goVer.Minor == 0 {
		demangle(funcs)
	}
	return funcs, nil
}

// inTable returns the index of the function in Go's table that begins at an address, or else of the next function.
func inTable(table []gotab.Func, addr uint64) (n int, begins bool) {
	return slices.BinarySearchFunc(table, addr, func(f gotab.Func, addr uint64) int { return cmp.Compare(f.Addr, addr) })
}

// symbolFuncs appends the functions in a symbol table of a file. If the table is damaged, it appends nothing. It
// ignores symbols of type STT_GNU_IFUNC: they name a resolver that is called once to select the implementation.
func (b *Binary) symbolFuncs(named []Func, m *image.Image, table elf.SectionType, from uint8) ([]Func, error) {
	before := len(named)
	err := m.EachSymbol(table, func(s image.Symbol) {
		// Assembly functions may lack the type and the size. Local symbols without type are labels inside functions.
		untyped := s.Kind == elf.STT_NOTYPE && s.Bind != elf.STB_LOCAL && s.Size == 0
		if s.Kind != elf.STT_FUNC && !untyped || s.Name[0] == '@' || !b.image.IsCode(s.Addr, s.Addr+1) {
			return
		}
		f := Func{Name: s.Name, Addr: s.Addr, Size: s.Size, rank: from}
		if s.Size == 0 {
			if b.goVer.Minor > 0 && strings.ContainsAny(s.Name, ".:") {
				return // a marker of Go's linker, such as runtime.etext
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

// addTableInfo sets ABI, name and size of functions from a symbol table by Go's function table. known reports for each
// function of that table whether .symtab has it.
func (b *Binary) addTableInfo(named []Func, table []gotab.Func) (known []bool) {
	known = make([]bool, len(table))
	for i := range named {
		f := &named[i]
		n, ok := inTable(table, f.Addr)
		switch {
		case b.goVer.Minor == 0 || len(table) > 0 && !ok:
			f.ABI = SystemV
			f.Name, _, _ = strings.Cut(f.Name, "@") // remove the version: memcpy@@GLIBC_2.14
		case b.goVer.Minor < b.image.Processor.Machine().FirstRegisters || strings.HasSuffix(f.Name, abi0Suffix) || ok && table[n].Assembly():
			f.ABI = ABI0
		}
		if !ok {
			continue
		}
		known[n] = known[n] || f.rank < fromPclntab
		if b.sizesPadded() {
			f.Size = min(f.Size, table[n].End-f.Addr)
			f.Size = b.sizeUnpadded(f)
		}
	}
	return known
}

// sizesPadded reports whether the sizes of symbols may include the padding after functions.
func (b *Binary) sizesPadded() bool { return b.goVer.Minor <= b.image.Processor.Machine().LastPadded }

func (b *Binary) sizeUnpadded(f *Func) uint64 {
	code, err := b.code(f)
	if err != nil {
		return f.Size
	}
	return uint64(b.image.Processor.Trim(code))
}

// mergeAliases sorts functions by address and merges all functions of one address into one function with aliases, because
// two functions would put two probes on one instruction. It takes the name that users are likely to use, short and global:
// malloc instead of __libc_malloc. It also ends each function where the next function begins, even if its symbol has a
// larger size, because compilers do not generate overlapping functions.
func mergeAliases(named []Func) []Func {
	slices.SortStableFunc(named, compareFuncs) // fast, as the linker writes two sorted runs
	named = removeLabels(named)
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

// removeLabels removes symbols without a size that lie inside functions with a size.
func removeLabels(named []Func) []Func {
	end := uint64(0)
	return slices.DeleteFunc(named, func(f Func) bool {
		if f.rank >= withoutSize {
			return f.Addr < end
		}
		end = max(end, f.Addr+f.Size)
		return false
	})
}

// setSizes sets the size of functions whose symbols have no size, by decoding their code.
func (b *Binary) setSizes(funcs []Func) {
	for i := range funcs {
		f := &funcs[i]
		if f.rank < withoutSize {
			continue
		}
		f.rank = 0
		if code, err := b.code(f); err == nil { // else decoding the function fails later, too
			f.Size = uint64(arch.Extent(b.image.Processor, code))
		}
	}
}

// dropABISuffixes removes the ABI0 suffix from functions that have no other version.
func dropABISuffixes(funcs []Func) {
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
}

// compareFuncs orders functions by address, and names of one address by rank and likely use.
func compareFuncs(x, y Func) int {
	return cmp.Or(
		cmp.Compare(x.Addr, y.Addr),
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

// Func is a function of a binary.
type Func struct {
	// Name is the symbol as Go spells it: "main.(*Store).Get", "main.Map[go.shape.int]". If a function has versions
	// of both ABIs, the ABI0 version is named "NAME.abi0".
	Name string
	// aliases are other symbols for the same code: __libc_malloc for malloc.
	aliases []string
	// Addr is the virtual address of the first byte in the ELF file, without load bias. Size is in bytes.
	Addr, Size uint64
	// ABI is the calling convention of the function.
	ABI ABI
	// rank is used while symbols are read: of several names for one address, the one with the lowest rank becomes
	// Name.
	rank uint8
}

// ABI is a calling convention.
type ABI uint8

const (
	// ABIInternal passes arguments in registers and keeps g in a register (src/cmd/compile/abi-internal.md).
	ABIInternal ABI = iota
	// ABI0 passes all arguments on the stack. Assembly uses it, and all functions of Go versions before ABIInternal.
	ABI0
	// SystemV is the calling convention of C. Such functions have no access to a goroutine.
	SystemV
)

// Lookup finds a function by its exact name, or by an alias that is not the name of another function.
func (b *Binary) Lookup(name string) (*Func, bool) {
	f, ok := b.byName()[name]
	return f, ok
}

func (b *Binary) indexNames() map[string]*Func {
	index := make(map[string]*Func, len(b.funcs))
	add := func(name string, f *Func) {
		if index[name] == nil {
			index[name] = f
		}
	}
	for i := range b.funcs {
		add(b.funcs[i].Name, &b.funcs[i])
	}
	for i := range b.funcs {
		for _, alias := range b.funcs[i].aliases {
			add(alias, &b.funcs[i])
		}
	}
	return index
}

// demangle replaces the linker symbols of functions of C, C++, Rust and gccgo by their demangled names, and adds the
// symbols to the aliases.
func demangle(funcs []Func) {
	names := make([]string, len(funcs))
	for i := range funcs {
		names[i] = funcs[i].Name
	}
	for i, name := range symname.Demangle(names...) {
		f := &funcs[i]
		for _, alias := range f.aliases {
			if short := symname.Demangle(alias)[0]; short != alias {
				f.aliases = append(f.aliases, short)
			}
		}
		if f.Name != name {
			f.aliases = append(f.aliases, f.Name)
			f.Name = name
		}
	}
}
