package amd64

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/ftgo/ftgo/internal/arch"
)

// wide returns the 64-bit register that a general register is part of. It returns other registers unchanged.
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

// trait describes all instructions with one mnemonic.
type trait struct {
	facts  fact
	writes []x86asm.Reg // registers that the instruction writes besides its operands
}

type fact uint8

const (
	listed      fact = 1 << iota // all registers that it writes are known
	writesFirst                  // it writes its first operand, if that is a register
	// neverFaults means that it raises an exception only for memory that it can't access. That holds for moves,
	// logic, and arithmetic of integers except divisions. (Floating-point arithmetic raises exceptions in programs
	// that enable them.)
	neverFaults
	shuffles // it works on vectors and raises an exception only for memory that is not aligned
	reads    // it reads all its operands and writes none of them
)

const (
	conditionCodes = "A AE B BE E NE G GE L LE O NO P NP S NS"
	moves          = "MOVUPS MOVUPD MOVDQU MOVQ MOVD MOVSS MOVSD_XMM" // of vectors, from and to unaligned memory
	integer        = "MOV MOVZX MOVSX MOVSXD LEA ADD SUB ADC SBB AND OR XOR NOT NEG INC DEC SHL SHR SAR ROL ROR BSF BSR BSWAP IMUL"
)

var traits = func() map[x86asm.Op]trait {
	named := make(map[string]trait)
	add := func(facts fact, prefix, names string, writes ...x86asm.Reg) {
		for _, name := range strings.Fields(names) {
			t := named[prefix+name]
			named[prefix+name] = trait{t.facts | facts, append(t.writes, writes...)}
		}
	}
	add(listed, "", "CMP TEST NOP JMP BT UCOMISD UCOMISS COMISD COMISS PREFETCHT0 PREFETCHNTA PREFETCHW")
	add(listed, "J", conditionCodes)
	add(listed, "", "CWD CDQ CQO", x86asm.RDX)
	add(listed, "", "CBW CWDE CDQE", x86asm.RAX)
	add(listed, "", "MUL DIV IDIV", x86asm.RAX, x86asm.RDX)
	add(listed, "", "PUSH", x86asm.RSP)
	add(listed, "", "LEAVE", x86asm.RSP, x86asm.RBP)
	add(listed, "", "CALL", x86asm.RAX, x86asm.RCX, x86asm.RDX, x86asm.RSI, x86asm.RDI,
		x86asm.R8, x86asm.R9, x86asm.R10, x86asm.R11) // System V ABI, figure 3.4
	add(listed|writesFirst, "", "POP", x86asm.RSP)
	add(listed|writesFirst|neverFaults, "", integer)
	add(listed|writesFirst|neverFaults, "CMOV", conditionCodes)
	add(listed|writesFirst|neverFaults, "SET", conditionCodes)
	add(listed|writesFirst|neverFaults, "", moves)
	add(listed|writesFirst, "", "XCHG XADD TZCNT LZCNT POPCNT BTS BTR BTC SHLD SHRD MOVAPS MOVAPD MOVDQA MOVLPS MOVHPS MOVLPD MOVHPD")
	add(listed|writesFirst, "", "CVTTSD2SI CVTTSS2SI CVTSD2SI CVTSS2SI MOVMSKPD MOVMSKPS PMOVMSKB")
	add(neverFaults, "", "NOP CMP TEST BT MUL CWD CDQ CQO CBW CWDE CDQE")
	add(shuffles, "", "MOVAPS MOVDQA XORPS XORPD PXOR POR PAND PCMPEQB PUNPCKLBW PSHUFD PSHUFHW PSHUFLW PSHUFB PINSRW")
	add(reads, "", "CMP TEST BT NOP")
	all := make(map[x86asm.Op]trait, len(named))
	for op := range x86asm.XTEST + 1 { // XTEST is the last one that x86asm decodes
		if t, ok := named[op.String()]; ok {
			all[op] = t
		}
	}
	return all
}()

// sets reports whether an instruction writes a 64-bit register. known is false for instructions without a listed
// trait.
func sets(in x86asm.Inst, r x86asm.Reg) (writes, known bool) {
	has := traits[in.Op]
	if in.Op == x86asm.IMUL && in.Args[1] == nil {
		has = traits[x86asm.MUL]
	}
	dst, isRegister := in.Args[0].(x86asm.Reg)
	if has.facts&listed == 0 {
		return false, isRegister && isVector(dst)
	}
	src, swaps := in.Args[1].(x86asm.Reg)
	swaps = swaps && (in.Op == x86asm.XCHG || in.Op == x86asm.XADD)
	first := has.facts&writesFirst != 0 && isRegister && wide(dst) == r
	return first || swaps && wide(src) == r || slices.Contains(has.writes, r), true
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

// passes reports whether an instruction is harmless, which means that it can neither raise a signal nor change SP, the
// frame pointer, R14 or the return address, and whether it writes a general register or memory.
func passes(prefixes []byte, x x86asm.Inst) (harmless, writes bool) {
	has := traits[x.Op]
	memory := slices.ContainsFunc(x.Args[:], func(a x86asm.Arg) bool { _, is := a.(x86asm.Mem); return is })
	if bytes.ContainsAny(prefixes, "\x64\x65\x67\xf0") || // fs, gs, short addresses, lock
		has.facts&neverFaults == 0 && (has.facts&shuffles == 0 || memory) {
		return false, false
	}
	for _, r := range []x86asm.Reg{x86asm.RSP, x86asm.RBP, x86asm.R14} {
		if set, known := sets(x, r); set || !known {
			return false, false
		}
	}
	for i, arg := range x.Args {
		stores := i == 0 && has.facts&reads == 0
		switch a := arg.(type) {
		case x86asm.Reg:
			if !isVector(a) && (wide(a) < x86asm.RAX || wide(a) > x86asm.R15) {
				return false, false // a segment or control register
			}
			writes = writes || stores && !isVector(a)
		case x86asm.Mem:
			if x.Op == x86asm.LEA || x.Op == x86asm.NOP {
				continue // these only compute the address
			}
			if !mapped(a) || x.Op == x86asm.BT || // BT may read memory far from its operand
				stores && a.Base == x86asm.RSP && a.Disp < 8 && a.Disp+int64(x.MemBytes) > 0 {
				return false, false
			}
			writes = writes || stores
		}
	}
	return true, writes || len(has.writes) > 0
}

// mapped reports whether a memory operand is certainly mapped: a variable of the file, or the top of the stack, with
// the red zone of System V below it and stack arguments above it.
func mapped(m x86asm.Mem) bool {
	const redZone, arguments = 128, 4096
	if m.Index != 0 || m.Segment != 0 {
		return false
	}
	return m.Base == x86asm.RIP || m.Base == x86asm.RSP && m.Disp >= -redZone && m.Disp < arguments
}

// keepsRegisters reports whether an instruction writes only memory, flags, SP and BP. Examples are instructions that set
// up a frame, and instructions that store or compare arguments.
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
