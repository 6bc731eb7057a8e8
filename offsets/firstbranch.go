package offsets

import (
	"fmt"

	"golang.org/x/arch/x86/x86asm"

	"github.com/ftgo/ftgo/offsets/insn"
)

// FirstBranch returns a function's first conditional jump, if each call comes by it exactly
// once, and with all registers but SP, BP and the flags as they were at the call. The
// kernel emulates such an instruction, where a function without a stack check may begin
// with one that it single-steps, which costs the program ten times as much.
func (b *Binary) FirstBranch(f *Func) (Site, error) {
	code, err := b.Code(f)
	if err != nil {
		return Site{}, err
	}
	body, err := sweep(code)
	if err != nil {
		return Site{}, err
	}
	at, err := firstBranch(code, body.landings)
	if err != nil {
		return Site{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	return b.site(f, code, at)
}

func firstBranch(code []byte, landings []int) (at int, err error) {
	for {
		in, err := insn.Decode(code[at:])
		if err != nil {
			return 0, fmt.Errorf("instruction at +%#x: %w", at, err)
		}
		if in.Kind != insn.CondJump && !keepsRegisters(code[at:at+in.Len]) {
			return 0, fmt.Errorf("no conditional jump before +%#x, which may change a register", at)
		}
		for _, to := range landings {
			if to <= at {
				return 0, fmt.Errorf("jump back to +%#x", to)
			}
		}
		if in.Kind == insn.CondJump {
			return at, nil
		}
		if at += in.Len; at == len(code) {
			return 0, fmt.Errorf("no conditional jump")
		}
	}
}

// keepsRegisters holds for instructions that are known to write nothing but memory, flags, SP
// and BP: those that make a frame, store arguments and look at them.
func keepsRegisters(code []byte) bool {
	if !x86asmKnows(code) {
		return false
	}
	in, err := x86asm.Decode(code, 64)
	if err != nil || in.Len != len(code) {
		return false
	}
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
