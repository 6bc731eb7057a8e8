package offsets

import (
	"strings"

	"github.com/ftgo/ftgo/offsets/insn"
)

// goFuncs decodes Go's function table; nil if there is none, or a damaged one.
func (b *Binary) goFuncs(t *pclntab) []pclnFunc {
	if t == nil || b.goVer.Minor == 0 {
		return nil
	}
	funcs, err := t.funcs()
	if err != nil {
		return nil
	}
	for _, f := range funcs {
		if !b.isCode(f.addr, f.end) {
			return nil
		}
	}
	return funcs
}

// tableFuncs are the functions of Go's table that .symtab has not, named as it would
// name them: "·" becomes ".", ".abi0" is put back, sizes are without padding. What
// still differs: Go 1.18 to 1.20 leave out type arguments, "main.Map[...]"; .symtab of
// plugins puts "local." before some names; and the table has no C.
func (b *Binary) tableFuncs(table []pclnFunc, inSymtab map[uint64]bool) []namedFunc {
	var funcs []namedFunc
	twins := make(map[string][]int)
	for _, f := range table {
		if inSymtab[f.addr] {
			continue
		}
		n := namedFunc{Func: Func{Addr: f.addr, Size: f.end - f.addr}, from: fromPclntab}
		// The linker does the same when it writes .symtab.
		n.Name = strings.ReplaceAll(f.name, "·", ".")
		n.Size = b.unpadded(&n.Func)
		if f.asm || b.goVer.Minor < FirstRegisterABI {
			n.ABI = ABI0
		}
		if b.goVer.Minor >= FirstRegisterABI && !strings.Contains(n.Name, "[...]") {
			twins[n.Name] = append(twins[n.Name], len(funcs))
		}
		funcs = append(funcs, n)
	}
	for _, same := range twins {
		b.nameABI0(funcs, same)
	}
	return funcs
}

// nameABI0 marks the ABI0 version among functions of one name. One version only
// calls the other (cmd/compile/internal/ssagen/abi.go): what is called is assembly,
// or else the Go function that assembly calls.
func (b *Binary) nameABI0(funcs []namedFunc, same []int) {
	for _, i := range same {
		for _, j := range same {
			wrapper, called := &funcs[i], &funcs[j]
			if i == j || wrapper.ABI == ABI0 || !b.reaches(&wrapper.Func, called.Addr) {
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
		in, err := insn.Decode(code[at:])
		if err != nil {
			return false
		}
		at += in.Len
		if (in.Kind == insn.Call || in.Kind == insn.Jump) && f.Addr+uint64(at)+uint64(in.Rel) == addr {
			return true
		}
	}
	return false
}
