package amd64

import (
	"bytes"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/ftgo/ftgo/internal/arch"
)

// Sets takes x86asm's number of a register. It also knows ENDBR64, which x86asm can't decode.
func (processor) Sets(w arch.Way, at uint64, r int) (writes, known bool) {
	if bytes.HasPrefix(w.Code(at), endbr64) {
		return false, true
	}
	in, err := instruction(w, at)
	if err != nil {
		return false, false
	}
	return sets(in, wide(x86asm.Reg(r)))
}

// instruction decodes the instruction at an address with x86asm.
func instruction(w arch.Way, at uint64) (x86asm.Inst, error) { return x86asm.Decode(w.Code(at), 64) }

// Leads decides by the source of the jump's target:
//
//   - an entry of a table, added to the table's address, is a switch in position-independent code (GCC, Clang: lea
//     table(%rip),B; movslq (B,I,4),R; add B,R; jmp *R);
//   - an element of an array of addresses is a switch or a tail call, depending on the addresses in the array;
//   - any other word of memory (the global offset table, a table of methods, a structure), an argument, or the
//     result of a call is a tail call.
//
// All paths that lead to the jump must give the same result.
func (processor) Leads(at uint64, around arch.Way) (inside, ok bool) {
	in, err := instruction(around, at)
	if err != nil || in.Op != x86asm.JMP {
		return false, false
	}
	s := arch.NewSearch(around, Processor)
	switch arg := in.Args[0].(type) {
	case x86asm.Mem:
		return through(s, arg, at)
	case x86asm.Reg:
		if popsBefore(around, at) {
			return false, true // compilers emit no switch after an epilogue
		}
		return s.Leads(int(arg), at)
	}
	return false, false
}

// WrittenLeads looks at the instruction's first operand, which it writes.
func (processor) WrittenLeads(s *arch.Search, at uint64, _ int) (inside, ok bool) {
	in, err := instruction(s, at)
	if err != nil {
		return false, false
	}
	switch in.Op {
	case x86asm.CALL:
		return false, true
	case x86asm.ADD:
		sum := fromTable(s, in.Args[0], at) || fromTable(s, in.Args[1], at)
		return sum, sum
	case x86asm.LEA:
		if addr, ok := address(in, at); ok {
			return s.Inside(addr)
		}
	case x86asm.MOV:
		switch src := in.Args[1].(type) {
		case x86asm.Mem:
			return through(s, src, at)
		case x86asm.Imm:
			return s.Inside(uint64(src))
		case x86asm.Reg:
			if wide(src) == src {
				return s.Copy(at, int(src))
			}
		}
	default:
		if src, ok := in.Args[1].(x86asm.Reg); ok && strings.HasPrefix(in.Op.String(), "CMOV") {
			return s.Copy(at, int(in.Args[0].(x86asm.Reg)), int(src))
		}
	}
	return false, false
}

// fromTable reports whether, before the instruction at at, a register holds an entry of a table of 32-bit distances.
func fromTable(s *arch.Search, arg x86asm.Arg, at uint64) bool {
	r, ok := arg.(x86asm.Reg)
	return ok && s.All(int(wide(r)), at, func(at uint64) bool {
		in, err := instruction(s, at)
		m, isMem := in.Args[1].(x86asm.Mem)
		return err == nil && in.Op == x86asm.MOVSXD && isMem && m.Index != 0 && m.Scale == 4
	})
}

// through reports whether a word of memory that an instruction reads is an address inside the function. A word outside of
// arrays is an address elsewhere.
func through(s *arch.Search, m x86asm.Mem, at uint64) (inside, ok bool) {
	if m.Index == 0 || m.Scale != 8 {
		return false, m.Index == 0
	}
	table := uint64(int32(m.Disp))
	if m.Base != 0 {
		set, ok := s.One(int(m.Base), at)
		if !ok {
			return false, false
		}
		in, err := instruction(s, set)
		base, ok := address(in, set)
		if err != nil || !ok {
			return false, false
		}
		table += base
	}
	return s.Element(table)
}

// address returns the address that a LEA relative to RIP loads. x86asm does not extend the sign of the distance.
func address(in x86asm.Inst, at uint64) (addr uint64, ok bool) {
	m, ok := in.Args[1].(x86asm.Mem)
	return at + uint64(in.Len) + uint64(int32(m.Disp)), ok && in.Op == x86asm.LEA && m.Base == x86asm.RIP
}

// popsBefore reports whether the instruction before the one at at, in memory, pops the stack, like the end of an epilogue.
func popsBefore(w arch.Way, at uint64) bool {
	b, ok := w.Above(at)
	if !ok {
		return false
	}
	in, err := instruction(w, b)
	return err == nil && (in.Op == x86asm.POP || in.Op == x86asm.LEAVE || in.Op == x86asm.ADD && in.Args[0] == x86asm.RSP)
}
