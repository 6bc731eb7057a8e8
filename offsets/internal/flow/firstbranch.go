package flow

import (
	"fmt"

	"github.com/ftgo/ftgo/offsets/arch"
)

// FirstBranch returns the function's first conditional jump, if each call comes by it exactly
// once, and with all registers but SP, the frame pointer and the flags as they were at the call. The
// kernel emulates such an instruction, where a function without a stack check may begin
// with one that it single-steps, which costs the program ten times as much.
func (f *Function) FirstBranch() (in Instruction, err error) {
	at, err := firstBranch(f.processor, f.code, f.landings)
	if err != nil {
		return in, fmt.Errorf("%s: %w", f.symbol.Name, err)
	}
	return f.At(at)
}

func firstBranch(p arch.Processor, code []byte, landings []int) (at int, err error) {
	for {
		in, err := p.Decode(code[at:])
		if err != nil {
			return 0, fmt.Errorf("instruction at +%#x: %w", at, err)
		}
		if in.Kind != arch.CondJump && !p.Effects(code[at:]).KeepsRegisters {
			return 0, fmt.Errorf("no conditional jump before +%#x, which may change a register", at)
		}
		for _, to := range landings {
			if to <= at {
				return 0, fmt.Errorf("jump back to +%#x", to)
			}
		}
		if in.Kind == arch.CondJump {
			return at, nil
		}
		if at += in.Len; at == len(code) {
			return 0, fmt.Errorf("no conditional jump")
		}
	}
}
