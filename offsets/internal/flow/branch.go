package flow

import (
	"slices"

	"github.com/ftgo/ftgo/offsets/arch"
)

// branch finds what may stand for Entry in a function without a stack check: the first
// branch or push, if every call executes it exactly once. That is so as execution comes
// straight to it from the function's start, with nothing on the way that could raise a
// signal (whose handler need not come back, as after a nil pointer) or that anything
// jumps to. SP, the frame pointer and g are as they were at the start; intact tells
// that all general registers and memory are.
// (FirstBranch is for another purpose: SP may have changed there, and more may be written.)
func (f *Function) branch() (branch Instruction, ok, intact bool) {
	code := f.code
	if f.switches {
		return branch, false, false // where to is not known
	}
	intact = true
	for at := 0; at < len(code); {
		if at > 0 && slices.Contains(f.landings, at) {
			return branch, false, false
		}
		in, err := f.processor.Decode(code[at:])
		if err != nil {
			return branch, false, false
		}
		if !in.Kind.GoesOn() || f.processor.Cost(code, at).Later != "" {
			s, err := f.At(at)
			if err != nil || in.Kind == arch.Call || s.Cost.Stepped() {
				return branch, false, false
			}
			return s, true, intact
		}
		e := f.processor.Effects(code[at:])
		if !e.KeepsFrame {
			return branch, false, false
		}
		intact = intact && e.KeepsRegisters && e.KeepsMemory
		at += in.Len
	}
	return branch, false, false
}
