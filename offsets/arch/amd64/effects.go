package amd64

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/ftgo/ftgo/offsets/arch"
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

func (processor) Effects(code []byte) (e arch.Effects) {
	in, err := decode(code)
	if err != nil {
		return e
	}
	code = code[:in.Len]
	if bytes.Equal(code, endbr64) {
		return arch.Effects{KeepsFrame: true, KeepsRegisters: true, KeepsMemory: true}
	}
	if !x86asmKnows(code[in.Prefix:]) {
		return e
	}
	x, err := x86asm.Decode(code, 64)
	if err != nil || x.Len != in.Len {
		return e
	}
	harmless, writes := passes(code[:in.Prefix], x)
	e.KeepsFrame = harmless
	e.KeepsMemory = harmless && !writes
	e.KeepsRegisters = e.KeepsMemory || keepsRegisters(x)
	return e
}

// passes reports whether an instruction can neither raise a signal nor change SP, the
// frame pointer, R14 or the return address, and whether it writes a general register or memory.
func passes(prefixes []byte, x x86asm.Inst) (harmless, writes bool) {
	has := traits[x.Op]
	memory := slices.ContainsFunc(x.Args[:], func(a x86asm.Arg) bool { _, is := a.(x86asm.Mem); return is })
	if bytes.ContainsAny(prefixes, "\x64\x65\x67\xf0") || // fs, gs, short addresses, lock
		has&neverFaults == 0 && (has&shuffles == 0 || memory) {
		return false, false
	}
	for _, r := range []x86asm.Reg{x86asm.RSP, x86asm.RBP, x86asm.R14} {
		if set, known := sets(x, r); set || !known {
			return false, false
		}
	}
	for i, arg := range x.Args {
		stores := i == 0 && has&reads == 0
		switch a := arg.(type) {
		case x86asm.Reg:
			if !isVector(a) && (wide(a) < x86asm.RAX || wide(a) > x86asm.R15) {
				return false, false // of a segment, or control
			}
			writes = writes || stores && !isVector(a)
		case x86asm.Mem:
			if x.Op == x86asm.LEA || x.Op == x86asm.NOP {
				continue // address only
			}
			if !mapped(a) || x.Op == x86asm.BT || // which reaches as far as its other operand says
				stores && a.Base == x86asm.RSP && a.Disp < 8 && a.Disp+int64(x.MemBytes) > 0 {
				return false, false
			}
			writes = writes || stores
		}
	}
	return true, writes || has&(writesAX|writesDX|multiplies) != 0
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

// keepsRegisters holds for instructions that make a frame, store arguments and look at them:
// they write nothing but memory, flags, SP and BP.
func keepsRegisters(in x86asm.Inst) bool {
	switch in.Op {
	case x86asm.BT, x86asm.CMP, x86asm.TEST, x86asm.NOP, x86asm.PUSH:
		return true
	case x86asm.MOV, x86asm.LEA, x86asm.SUB, x86asm.ADD:
		_, stores := in.Args[0].(x86asm.Mem)
		return stores || in.Args[0] == x86asm.RSP || in.Args[0] == x86asm.RBP
	}
	return false
}
