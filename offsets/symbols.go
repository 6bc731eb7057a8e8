package offsets

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"strings"
)

// abi0Suffix marks, in .symtab, the stack-argument version of a function that has
// another one too (mangleABIName in cmd/link/internal/ld/symtab.go, since Go 1.17).
const abi0Suffix = ".abi0"

// source is where the name of a function is from, the best one first.
type source uint8

const (
	fromSymtab source = iota
	fromPclntab
	fromDynsym
)

// namedFunc is a function under one of its names.
type namedFunc struct {
	Func
	from  source
	local bool
}

// readFuncs lists the functions that the symbol tables and Go's own table name, each
// address once.
func (b *Binary) readFuncs(t *pclntab) ([]Func, error) {
	table := b.goFuncs(t)
	var named []namedFunc
	if s := b.elf.SectionByType(elf.SHT_SYMTAB); s != nil && b.checkPlain(s) == nil {
		named = make([]namedFunc, 0, s.Size/elf.Sym64Size) // functions are most of what Go's linker names
	}
	symErr := b.eachSymbol(elf.SHT_SYMTAB, func(s symbol) {
		if f, ok := b.symbolFunc(s, fromSymtab, table); ok {
			named = append(named, f)
		}
	})
	if symErr != nil {
		named = named[:0]
		table.forget()
	}
	// Some binaries keep a few symbols, and .symtab spells names better.
	named = b.addTableFuncs(named, t, table)
	all := len(named)
	err := b.eachSymbol(elf.SHT_DYNSYM, func(s symbol) {
		if f, ok := b.symbolFunc(s, fromDynsym, table); ok {
			named = append(named, f)
		}
	})
	if err != nil {
		named = named[:all] // the other tables may still be sound
	}
	if len(named) == 0 {
		return nil, cmp.Or(symErr, fmt.Errorf("%w (stripped?)", ErrNoSymbols))
	}
	funcs := withoutABI(tidy(named))
	if b.goVer.Minor == 0 {
		funcs = demangleAll(funcs)
	}
	return funcs, nil
}

// symbolFunc is the function of a symbol. Those of type STT_GNU_IFUNC are none: what
// they name is called once, to choose the function that goes by the name.
func (b *Binary) symbolFunc(s symbol, from source, table *pclnFuncs) (namedFunc, bool) {
	if s.kind != elf.STT_FUNC || s.size == 0 || !b.isCode(s.addr, s.addr+1) {
		return namedFunc{}, false
	}
	f := namedFunc{Func{Name: s.name, Addr: s.addr, Size: s.size}, from, s.bind == elf.STB_LOCAL}
	entry := table.at(s.addr)
	switch {
	case b.goVer.Minor == 0 || len(table.list) > 0 && entry == nil:
		f.ABI = SystemV
		f.Name, _, _ = strings.Cut(f.Name, "@") // the version: memcpy@@GLIBC_2.14
	case b.goVer.Minor < FirstRegisterABI || strings.HasSuffix(f.Name, abi0Suffix) || entry != nil && entry.asm:
		f.ABI = ABI0
	}
	if entry != nil && b.goVer.Minor <= lastPaddedSymbols {
		f.Size = b.unpadded(&f.Func)
	}
	if entry != nil && from == fromSymtab {
		entry.inSymtab = true
	}
	return f, f.Name != ""
}

// lastPaddedSymbols is the last minor version of Go that may count the padding behind
// a function as part of it: 1.5 does, 1.7 does not.
const lastPaddedSymbols = 6

func (b *Binary) unpadded(f *Func) uint64 {
	code, err := b.Code(f)
	if err != nil {
		return f.Size
	}
	return uint64(unpadded(code))
}

// tidy sorts functions by address and keeps one name for each, the others being
// aliases: two names would put two probes on one instruction. The names that people
// use are short and global: malloc, not __libc_malloc.
func tidy(named []namedFunc) []Func {
	sortNamed(named)
	funcs := make([]Func, 0, len(named))
	for i := range named {
		n := &named[i]
		last := len(funcs) - 1
		if last < 0 || funcs[last].Addr != n.Addr {
			funcs = append(funcs, n.Func)
		} else if f := &funcs[last]; f.Name != n.Name && !slices.Contains(f.Aliases, n.Name) {
			f.Aliases = append(f.Aliases, n.Name)
		}
	}
	return funcs
}

func order(last bool) int {
	if last {
		return 1
	}
	return 0
}

// withoutABI gives the plain name that people know to functions of which only the ABI0
// version is there.
func withoutABI(funcs []Func) []Func {
	marked := make(map[string][]int) // by the plain name
	for i := range funcs {
		if plain, ok := strings.CutSuffix(funcs[i].Name, abi0Suffix); ok {
			marked[plain] = append(marked[plain], i)
		}
	}
	if len(marked) == 0 {
		return funcs
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
