package offsets

import (
	"regexp"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/offsets/internal/gotab"
)

// addTableFuncs appends the functions of Go's table that .symtab lacks, with the names and sizes that .symtab would
// have: "·" becomes ".", ABI0 versions get ".abi0", and sizes exclude padding. Differences remain: Go 1.18 to 1.20
// omit type arguments, "main.Map[...]"; .symtab of plugins has "local." before some names; and the table lacks C
// functions.
func (b *Binary) addTableFuncs(named []Func, table []gotab.Func, known []bool) []Func {
	same := make(map[string][]int) // indexes in named, by name
	for i := range table {
		if known[i] {
			continue
		}
		n := b.tableFunc(table[i])
		if n.Name == "" {
			continue
		}
		same[n.Name] = append(same[n.Name], len(named))
		named = append(named, n)
	}
	for name, places := range same {
		if b.goVer.Minor >= b.image.Processor.Machine().FirstRegisters && !strings.Contains(name, "[...]") {
			b.nameABI0(named, places)
		}
	}
	return named
}

// tableFunc converts a function of Go's table. The name has no ABI0 suffix.
func (b *Binary) tableFunc(f gotab.Func) Func {
	n := Func{Name: f.Name(), Addr: f.Addr, Size: f.End - f.Addr, rank: fromPclntab}
	if size := f.CodeSize(); n.Size > size && size > 0 && !b.sizesPadded() {
		n.Size = size
	} else {
		n.Size = b.sizeUnpadded(&n)
	}
	if f.Assembly() || cgoCall.MatchString(n.Name) && !cgoBuiltin.MatchString(n.Name) || b.goVer.Minor < b.image.Processor.Machine().FirstRegisters {
		n.ABI = ABI0
	}
	return n
}

// cgoCall matches the names of functions that cgo generates to call C. They use ABI0, because they pass the address of their
// arguments to C (CgoUnsafeArgs in cmd/compile/internal/ssagen/abi.go). cgoBuiltin matches the functions among them that
// convert values; these are ordinary functions of Go (builtinDefs in cmd/cgo/out.go).
var (
	cgoCall    = regexp.MustCompile(`\.(_C2?func_|_Cmacro_|_cgo_cmalloc$)`)
	cgoBuiltin = regexp.MustCompile(`\._Cfunc_(GoString|GoStringN|GoBytes|CString|CBytes|_CMalloc)$`)
)

// nameABI0 adds the suffix to the ABI0 version among functions of one name. One version is a wrapper that calls the other
// version (cmd/compile/internal/ssagen/abi.go). If the called version is assembly, it is the ABI0 version. Otherwise the
// wrapper is the ABI0 version: assembly calls the Go function through it.
func (b *Binary) nameABI0(funcs []Func, same []int) {
	for _, i := range same {
		for _, j := range same {
			wrapper, called := &funcs[i], &funcs[j]
			if i == j || wrapper.ABI == ABI0 || !b.callsAddr(wrapper, called.Addr) {
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

// callsAddr reports whether a function has a direct call of, or jump to, an address.
func (b *Binary) callsAddr(f *Func, addr uint64) bool {
	code, _ := b.code(f)
	for at, in := range arch.Instructions(b.image.Processor, code) {
		if (in.Kind == arch.Call || in.Kind == arch.Jump) && f.Addr+uint64(at)+uint64(in.To) == addr {
			return true
		}
	}
	return false
}
