package offsets

import (
	"fmt"
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
func (c *Code) branch() (branch *Site, intact bool) {
	code, p := c.parts[0].code, c.processor()
	if c.switches {
		return nil, false // where to is not known
	}
	intact = true
	for at := 0; at < len(code) && (at == 0 || !slices.Contains(c.landings, at)); {
		in, err := p.Decode(code[at:])
		if err != nil {
			return nil, false
		}
		if !in.Kind.GoesOn() || p.Cost(code, at).Later != "" {
			s, err := c.at(at)
			if err != nil || in.Kind == arch.Call || s.cost.Stepped() {
				return nil, false
			}
			return &s, intact
		}
		e := p.Effects(code[at:])
		if !e.KeepsFrame {
			return nil, false
		}
		intact = intact && e.KeepsRegisters && e.KeepsMemory
		at += in.Len
	}
	return nil, false
}

// FirstBranch returns the function's first conditional jump, if each call comes by it exactly
// once, and with all registers but SP, the frame pointer and the flags as they were at the
// call. The kernel emulates such an instruction, where a function without a stack check may
// begin with one that it single-steps, which costs the program ten times as much.
func (c *Code) FirstBranch() (Site, error) {
	at, err := firstBranch(c.processor(), c.parts[0].code, c.landings)
	if err != nil {
		return Site{}, fmt.Errorf("%s: %w", c.fn.Name, err)
	}
	return c.at(at)
}

func firstBranch(p arch.Processor, code []byte, landings []int) (at int, err error) {
	for at < len(code) {
		in, err := p.Decode(code[at:])
		if err != nil {
			return 0, fmt.Errorf("instruction at +%#x: %w", at, err)
		}
		if in.Kind != arch.CondJump && !p.Effects(code[at:]).KeepsRegisters {
			return 0, fmt.Errorf("no conditional jump before +%#x, which may change a register", at)
		}
		if i := slices.IndexFunc(landings, func(to int) bool { return to <= at }); i >= 0 {
			return 0, fmt.Errorf("jump back to +%#x", landings[i])
		}
		if in.Kind == arch.CondJump {
			return at, nil
		}
		at += in.Len
	}
	return 0, fmt.Errorf("no conditional jump")
}
