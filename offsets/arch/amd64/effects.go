package amd64

import (
	"bytes"

	"golang.org/x/arch/x86/x86asm"

	"github.com/ftgo/ftgo/offsets/arch"
)

func (processor) Effects(code []byte) (e arch.Effects) {
	in, err := decode(code)
	if err != nil {
		return 0
	}
	code = code[:in.Len]
	if bytes.Equal(code, endbr64) {
		return arch.KeepsFrame | arch.KeepsRegisters | arch.KeepsMemory | arch.NeverFaults
	}
	if !x86asmKnows(code[in.Prefix:]) {
		return 0
	}
	x, err := x86asm.Decode(code, 64)
	if err != nil || x.Len != in.Len {
		return 0
	}
	if keepsRegisters(x) {
		e |= arch.KeepsRegisters
	}
	if harmless, writes := passes(code[:in.Prefix], x); harmless {
		e |= arch.KeepsFrame | arch.NeverFaults
		if !writes {
			e |= arch.KeepsRegisters | arch.KeepsMemory
		}
	}
	return e
}

// passes reports whether an instruction can neither raise a signal nor change SP, the
// frame pointer, R14 or the return address, and whether it writes a general register or memory.
func passes(prefixes []byte, x x86asm.Inst) (harmless, writes bool) {
	if bytes.ContainsAny(prefixes, "\x64\x65\x67\xf0") { // fs, gs, short addresses, lock
		return false, false
	}
	if !neverFaults(x.Op) && !shuffles(x) {
		return false, false
	}
	for _, r := range []x86asm.Reg{x86asm.RSP, x86asm.RBP, x86asm.R14} {
		if set, known := sets(x, r); set || !known {
			return false, false
		}
	}
	reads := x.Op == x86asm.CMP || x.Op == x86asm.TEST || x.Op == x86asm.BT || x.Op == x86asm.NOP
	for i, arg := range x.Args {
		switch a := arg.(type) {
		case x86asm.Reg:
			vector := a >= x86asm.X0 && a <= x86asm.X15
			if !vector && (wide(a) < x86asm.RAX || wide(a) > x86asm.R15) {
				return false, false // of a segment, or control
			}
			writes = writes || i == 0 && !vector && !reads
		case x86asm.Mem:
			if x.Op == x86asm.LEA || x.Op == x86asm.NOP {
				continue // address only
			}
			store := i == 0 && !reads
			if !mapped(a) || x.Op == x86asm.BT || // which reaches as far as its other operand says
				store && a.Base == x86asm.RSP && a.Disp < 8 && a.Disp+int64(x.MemBytes) > 0 {
				return false, false
			}
			writes = writes || store
		}
	}
	return true, writes || writesMore(x.Op)
}

// mapped holds for memory that is there: a variable of the file, and the top of the
// stack, with System V's red zone and what arguments take.
func mapped(m x86asm.Mem) bool {
	const redZone, arguments = 128, 4096
	if m.Index != 0 || m.Segment != 0 {
		return false
	}
	return m.Base == x86asm.RIP || m.Base == x86asm.RSP && m.Disp >= -redZone && m.Disp < arguments
}

// writesMore holds for instructions that write a register which is not their first operand.
func writesMore(op x86asm.Op) bool {
	switch op {
	case x86asm.MUL, x86asm.IMUL, x86asm.CWD, x86asm.CDQ, x86asm.CQO, x86asm.CBW, x86asm.CWDE, x86asm.CDQE:
		return true
	}
	return false
}

// neverFaults holds for instructions that raise no exception but for memory that they
// can't access: moves, logic, and arithmetic of integers but divisions. (That of floating point
// does where a program asks for it.)
func neverFaults(op x86asm.Op) bool {
	switch op {
	case x86asm.NOP, x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD, x86asm.LEA,
		x86asm.ADD, x86asm.SUB, x86asm.ADC, x86asm.SBB, x86asm.AND, x86asm.OR, x86asm.XOR, x86asm.NOT, x86asm.NEG,
		x86asm.INC, x86asm.DEC, x86asm.SHL, x86asm.SHR, x86asm.SAR, x86asm.ROL, x86asm.ROR, x86asm.BSWAP,
		x86asm.BSF, x86asm.BSR, x86asm.IMUL, x86asm.MUL,
		x86asm.CWD, x86asm.CDQ, x86asm.CQO, x86asm.CBW, x86asm.CWDE, x86asm.CDQE,
		// Of vectors, those that don't ask memory to be aligned.
		x86asm.MOVUPS, x86asm.MOVUPD, x86asm.MOVDQU, x86asm.MOVQ, x86asm.MOVD, x86asm.MOVSS, x86asm.MOVSD_XMM:
		return true
	}
	return isCMOV(op) || isSET(op)
}

// shuffles holds for instructions on vectors that raise exceptions only if they are given
// memory that is not aligned.
func shuffles(in x86asm.Inst) bool {
	for _, arg := range in.Args {
		if _, mem := arg.(x86asm.Mem); mem {
			return false
		}
	}
	switch in.Op {
	case x86asm.MOVAPS, x86asm.MOVDQA, x86asm.XORPS, x86asm.XORPD, x86asm.PXOR, x86asm.POR, x86asm.PAND, x86asm.PCMPEQB,
		x86asm.PUNPCKLBW, x86asm.PSHUFD, x86asm.PSHUFHW, x86asm.PSHUFLW, x86asm.PSHUFB, x86asm.PINSRW:
		return true
	}
	return false
}

// keepsRegisters holds for instructions that make a frame, store arguments and look at them:
// they write nothing but memory, flags, SP and BP.
func keepsRegisters(in x86asm.Inst) bool {
	switch in.Op {
	case x86asm.BT, x86asm.CMP, x86asm.TEST, x86asm.NOP, x86asm.PUSH:
		return true
	case x86asm.MOV, x86asm.LEA, x86asm.SUB, x86asm.ADD:
		if _, stores := in.Args[0].(x86asm.Mem); stores {
			return true
		}
		return in.Args[0] == x86asm.RSP || in.Args[0] == x86asm.RBP
	}
	return false
}
