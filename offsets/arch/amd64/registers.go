package amd64

import "golang.org/x/arch/x86/x86asm"

// wide returns the 64-bit register that a general register is part of; other
// registers stay as they are.
func wide(r x86asm.Reg) x86asm.Reg {
	switch {
	case r >= x86asm.AL && r <= x86asm.BL:
		return r - x86asm.AL + x86asm.RAX
	case r >= x86asm.AH && r <= x86asm.BH:
		return r - x86asm.AH + x86asm.RAX
	case r >= x86asm.SPB && r <= x86asm.DIB:
		return r - x86asm.SPB + x86asm.RSP
	case r >= x86asm.R8B && r <= x86asm.R15B:
		return r - x86asm.R8B + x86asm.R8
	case r >= x86asm.AX && r <= x86asm.R15W:
		return r - x86asm.AX + x86asm.RAX
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return r - x86asm.EAX + x86asm.RAX
	}
	return r
}

// sets reports whether an instruction writes a 64-bit register; known is false for
// instructions whose results are not all among their operands.
func sets(in x86asm.Inst, r x86asm.Reg) (writes, known bool) {
	switch in.Op {
	case x86asm.CMP, x86asm.TEST, x86asm.NOP, x86asm.JMP, x86asm.BT, x86asm.UCOMISD, x86asm.UCOMISS,
		x86asm.COMISD, x86asm.COMISS, x86asm.PREFETCHT0, x86asm.PREFETCHNTA, x86asm.PREFETCHW:
		return false, true
	case x86asm.PUSH:
		return r == x86asm.RSP, true
	case x86asm.POP:
		return in.Args[0] == r || r == x86asm.RSP, true
	case x86asm.LEAVE:
		return r == x86asm.RSP || r == x86asm.RBP, true
	case x86asm.CALL:
		// What a call may change (System V ABI, figure 3.4).
		return r <= x86asm.RDX || r == x86asm.RSI || r == x86asm.RDI || r >= x86asm.R8 && r <= x86asm.R11, true
	case x86asm.CWD, x86asm.CDQ, x86asm.CQO:
		return r == x86asm.RDX, true
	case x86asm.CBW, x86asm.CWDE, x86asm.CDQE:
		return r == x86asm.RAX, true
	case x86asm.MUL, x86asm.DIV, x86asm.IDIV:
		return r == x86asm.RAX || r == x86asm.RDX, true
	case x86asm.IMUL:
		if in.Args[1] == nil {
			return r == x86asm.RAX || r == x86asm.RDX, true
		}
	case x86asm.XCHG, x86asm.XADD:
		if src, ok := in.Args[1].(x86asm.Reg); ok && wide(src) == r {
			return true, true
		}
	case x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD, x86asm.LEA, x86asm.ADD, x86asm.SUB, x86asm.ADC, x86asm.SBB,
		x86asm.AND, x86asm.OR, x86asm.XOR, x86asm.NOT, x86asm.NEG, x86asm.INC, x86asm.DEC, x86asm.SHL, x86asm.SHR,
		x86asm.SAR, x86asm.ROL, x86asm.ROR, x86asm.BSF, x86asm.BSR, x86asm.TZCNT, x86asm.LZCNT, x86asm.POPCNT,
		x86asm.BSWAP, x86asm.BTS, x86asm.BTR, x86asm.BTC, x86asm.SHLD, x86asm.SHRD:
	default:
		if jumpsIf(in.Op) {
			return false, true
		}
		if dst, ok := in.Args[0].(x86asm.Reg); ok && dst >= x86asm.X0 && dst <= x86asm.X15 {
			return false, true
		}
		if !isCMOV(in.Op) && !isSET(in.Op) && !movesVector(in.Op) {
			return false, false
		}
	}
	dst, ok := in.Args[0].(x86asm.Reg)
	return ok && wide(dst) == r, true
}

// jumpsIf holds for jcc.
func jumpsIf(op x86asm.Op) bool {
	switch op {
	case x86asm.JA, x86asm.JAE, x86asm.JB, x86asm.JBE, x86asm.JE, x86asm.JNE, x86asm.JG, x86asm.JGE, x86asm.JL, x86asm.JLE,
		x86asm.JO, x86asm.JNO, x86asm.JP, x86asm.JNP, x86asm.JS, x86asm.JNS:
		return true
	}
	return false
}

func isCMOV(op x86asm.Op) bool {
	switch op {
	case x86asm.CMOVA, x86asm.CMOVAE, x86asm.CMOVB, x86asm.CMOVBE, x86asm.CMOVE, x86asm.CMOVNE, x86asm.CMOVG, x86asm.CMOVGE,
		x86asm.CMOVL, x86asm.CMOVLE, x86asm.CMOVO, x86asm.CMOVNO, x86asm.CMOVP, x86asm.CMOVNP, x86asm.CMOVS, x86asm.CMOVNS:
		return true
	}
	return false
}

func isSET(op x86asm.Op) bool {
	switch op {
	case x86asm.SETA, x86asm.SETAE, x86asm.SETB, x86asm.SETBE, x86asm.SETE, x86asm.SETNE, x86asm.SETG, x86asm.SETGE,
		x86asm.SETL, x86asm.SETLE, x86asm.SETO, x86asm.SETNO, x86asm.SETP, x86asm.SETNP, x86asm.SETS, x86asm.SETNS:
		return true
	}
	return false
}

// movesVector holds for the moves out of vector registers.
func movesVector(op x86asm.Op) bool {
	switch op {
	case x86asm.MOVAPS, x86asm.MOVAPD, x86asm.MOVUPS, x86asm.MOVUPD, x86asm.MOVDQA, x86asm.MOVDQU, x86asm.MOVQ, x86asm.MOVD,
		x86asm.MOVSS, x86asm.MOVSD_XMM, x86asm.MOVLPS, x86asm.MOVHPS, x86asm.MOVLPD, x86asm.MOVHPD,
		x86asm.CVTTSD2SI, x86asm.CVTTSS2SI, x86asm.CVTSD2SI, x86asm.CVTSS2SI, x86asm.MOVMSKPD, x86asm.MOVMSKPS, x86asm.PMOVMSKB:
		return true
	}
	return false
}
