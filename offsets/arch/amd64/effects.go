package amd64

import (
	"bytes"

	"golang.org/x/arch/x86/x86asm"

	"github.com/ftgo/ftgo/offsets/arch"
)

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
	vectorsOnly := true
	for _, arg := range x.Args {
		_, mem := arg.(x86asm.Mem)
		vectorsOnly = vectorsOnly && !mem
	}
	if bytes.ContainsAny(prefixes, "\x64\x65\x67\xf0") || // fs, gs, short addresses, lock
		has&neverFaults == 0 && (has&shuffles == 0 || !vectorsOnly) {
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
