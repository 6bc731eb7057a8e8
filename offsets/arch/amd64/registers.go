package amd64

import (
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// wide returns the 64-bit register that a general register is part of; other
// registers stay as they are.
func wide(r x86asm.Reg) x86asm.Reg {
	for _, part := range [...]struct{ first, last, wide x86asm.Reg }{
		{x86asm.AL, x86asm.BL, x86asm.RAX}, {x86asm.AH, x86asm.BH, x86asm.RAX}, {x86asm.SPB, x86asm.R15B, x86asm.RSP},
		{x86asm.AX, x86asm.R15W, x86asm.RAX}, {x86asm.EAX, x86asm.R15L, x86asm.RAX},
	} {
		if part.first <= r && r <= part.last {
			return r - part.first + part.wide
		}
	}
	return r
}

func isVector(r x86asm.Reg) bool { return x86asm.X0 <= r && r <= x86asm.X15 }

// trait is what is known of all instructions of a name.
type trait uint8

const (
	writesNothing trait = 1 << iota // no register
	writesFirst                     // the first operand, if that is a register, and no other
	writesAX                        // and nothing else
	writesDX                        // and nothing else
	multiplies                      // writes AX and DX
	// neverFaults: it raises no exception but for memory that it can't access: moves, logic, and
	// arithmetic of integers but divisions. (That of floating point does where a program asks for it.)
	neverFaults
	shuffles // vectors, and raises exceptions only if it is given memory that is not aligned
	reads    // its first operand too, and writes none
)

const (
	conditionCodes = "A AE B BE E NE G GE L LE O NO P NP S NS"
	moves          = "MOVUPS MOVUPD MOVDQU MOVQ MOVD MOVSS MOVSD_XMM" // of vectors, which don't ask memory to be aligned
	integer        = "MOV MOVZX MOVSX MOVSXD LEA ADD SUB ADC SBB AND OR XOR NOT NEG INC DEC SHL SHR SAR ROL ROR BSF BSR BSWAP IMUL"
)

var traits = func() map[x86asm.Op]trait {
	named := make(map[string]trait)
	add := func(t trait, prefix, names string) {
		for _, name := range strings.Fields(names) {
			named[prefix+name] |= t
		}
	}
	add(writesNothing, "", "CMP TEST NOP JMP BT UCOMISD UCOMISS COMISD COMISS PREFETCHT0 PREFETCHNTA PREFETCHW")
	add(writesNothing, "J", conditionCodes)
	add(writesDX, "", "CWD CDQ CQO")
	add(writesAX, "", "CBW CWDE CDQE")
	add(multiplies, "", "MUL DIV IDIV")
	add(writesFirst|neverFaults, "", integer)
	add(writesFirst|neverFaults, "CMOV", conditionCodes)
	add(writesFirst|neverFaults, "SET", conditionCodes)
	add(writesFirst|neverFaults, "", moves)
	add(writesFirst, "", "XCHG XADD TZCNT LZCNT POPCNT BTS BTR BTC SHLD SHRD MOVAPS MOVAPD MOVDQA MOVLPS MOVHPS MOVLPD MOVHPD")
	add(writesFirst, "", "CVTTSD2SI CVTTSS2SI CVTSD2SI CVTSS2SI MOVMSKPD MOVMSKPS PMOVMSKB")
	add(neverFaults, "", "NOP CMP TEST BT MUL CWD CDQ CQO CBW CWDE CDQE")
	add(shuffles, "", "MOVAPS MOVDQA XORPS XORPD PXOR POR PAND PCMPEQB PUNPCKLBW PSHUFD PSHUFHW PSHUFLW PSHUFB PINSRW")
	add(reads, "", "CMP TEST BT NOP")
	all := make(map[x86asm.Op]trait, len(named))
	for op := range x86asm.XTEST + 1 { // the last but for AVX's
		if t := named[op.String()]; t != 0 {
			all[op] = t
		}
	}
	return all
}()

// sets reports whether an instruction writes a 64-bit register; known is false for
// instructions whose results are not all among their operands.
func sets(in x86asm.Inst, r x86asm.Reg) (writes, known bool) {
	has := traits[in.Op]
	dst, isRegister := in.Args[0].(x86asm.Reg)
	switch {
	case has&writesNothing != 0:
		return false, true
	case in.Op == x86asm.PUSH:
		return r == x86asm.RSP, true
	case in.Op == x86asm.POP:
		return in.Args[0] == r || r == x86asm.RSP, true
	case in.Op == x86asm.LEAVE:
		return r == x86asm.RSP || r == x86asm.RBP, true
	case in.Op == x86asm.CALL:
		// What a call may change (System V ABI, figure 3.4).
		return r <= x86asm.RDX || r == x86asm.RSI || r == x86asm.RDI || r >= x86asm.R8 && r <= x86asm.R11, true
	case has&writesDX != 0:
		return r == x86asm.RDX, true
	case has&writesAX != 0:
		return r == x86asm.RAX, true
	case has&multiplies != 0, in.Op == x86asm.IMUL && in.Args[1] == nil:
		return r == x86asm.RAX || r == x86asm.RDX, true
	case in.Op == x86asm.XCHG, in.Op == x86asm.XADD:
		if src, ok := in.Args[1].(x86asm.Reg); ok && wide(src) == r {
			return true, true
		}
	case has&writesFirst == 0:
		return false, isRegister && isVector(dst)
	}
	return isRegister && wide(dst) == r, true
}
