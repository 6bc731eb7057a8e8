package offsets

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// abi0Suffix marks, in .symtab, the stack-argument version of a function
// (cmd/link/internal/ld/symtab.go, since Go 1.17).
const abi0Suffix = ".abi0"

// readFuncs lists the functions of .symtab.
func (b *Binary) readFuncs() ([]Func, error) {
	syms, err := b.elf.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, fmt.Errorf("read symbols: %w", err)
	}
	funcs := make([]Func, 0, len(syms))
	for _, s := range syms {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 || s.Section == elf.SHN_UNDEF {
			continue
		}
		if _, err := b.FileOffset(s.Value); err != nil {
			continue
		}
		funcs = append(funcs, Func{Name: s.Name, Addr: s.Value, Size: s.Size, ABI: b.abiOf(s.Name)})
	}
	if len(funcs) == 0 {
		return nil, fmt.Errorf("%w (stripped?)", ErrNoSymbols)
	}
	return tidy(funcs), nil
}

// abiOf tells a symbol's calling convention from its name.
func (b *Binary) abiOf(name string) ABI {
	switch {
	case b.goVer.Minor == 0:
		return SystemV
	case b.goVer.Minor < FirstRegisterABI || strings.HasSuffix(name, abi0Suffix):
		return ABI0
	}
	return ABIInternal
}

// tidy sorts functions by address and keeps one name for each: aliases would put
// two probes on one instruction. Where only the ABI0 version of a function is
// there, it goes by the plain name that people know.
func tidy(funcs []Func) []Func {
	slices.SortFunc(funcs, func(x, y Func) int {
		switch {
		case x.Addr < y.Addr:
			return -1
		case x.Addr > y.Addr:
			return 1
		}
		return strings.Compare(x.Name, y.Name)
	})
	funcs = slices.CompactFunc(funcs, func(x, y Func) bool { return x.Addr == y.Addr })
	names := make(map[string]bool, len(funcs))
	for _, f := range funcs {
		names[f.Name] = true
	}
	for i, f := range funcs {
		if plain, ok := strings.CutSuffix(f.Name, abi0Suffix); ok && !names[plain] {
			funcs[i].Name = plain
		}
	}
	return funcs
}
