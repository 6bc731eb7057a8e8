package arch

import "iter"

// maxPrologue is the maximum number of instructions up to the deciding jump. The longest known form (Go 1.16 on arm64, very
// large frame) has 10.
const maxPrologue = 14

// StackCheck finds the check of the stack's size in the code of a Go function. It needs no symbols. It accepts a check if
//
//   - only instructions that [Processor].ChecksStack accepts precede the jump, and one of them reads a stack guard;
//   - the jump is taken if the check fails, to a sequence that calls once, has no other branch and then jumps to offset 0;
//     or the jump is taken if the check passes, and is right before such a sequence;
//   - earlier conditional jumps (for frames of about 4 kB and up) lead to such a sequence as well;
//   - no later branch leads to an instruction after the first, up to Post, or up to and including Post if the check does not
//     repeat. (In Go 1.4 and 1.5 a function without a frame may begin with a loop and jump back to Post, which then runs
//     more than once.)
//
// jumps has at least the jumps of the function, with their offsets in code. The caller has decoded them with the whole
// function.
func StackCheck(processor Processor, code []byte, jumps iter.Seq2[int, Inst]) (Check, bool) {
	c, ok := findCheck(processor, code)
	if !ok {
		return Check{}, false
	}
	for at, in := range jumps {
		to := at + int(in.To)
		branch := in.Kind == Jump || in.Kind == CondJump
		if branch && at > c.Jump && 0 < to && (to < c.Post || to == c.Post && !c.Repeats) {
			return Check{}, false
		}
	}
	return c, true
}

// findCheck decodes the prologue up to the deciding jump.
func findCheck(processor Processor, code []byte) (c Check, ok bool) {
	m, guard, n := processor.Machine(), false, 0
	for at, in := range Instructions(processor, code) {
		next, to := at+in.Len, at+int(in.To)
		c = Check{Jump: at, Post: next, Repeats: m.CheckRepeats}
		if n++; n > maxPrologue {
			break
		}
		switch {
		case in.Kind == Other:
			may, reads := processor.ChecksStack(code[at:next])
			if !may {
				return c, false
			}
			guard = guard || reads
		case in.Kind != CondJump:
			return c, false
		case guard && in.Cond == m.Passed:
			c.Post = to
			return c, to > next && to < len(code) && callsMorestack(processor, code, next)
		case !callsMorestack(processor, code, to):
			return c, false
		case guard && in.Cond == m.Passed^1: // the opposite
			return c, to > next
		case in.Cond != m.Below && (!guard || in.Cond != m.Equal):
			return c, false
		}
	}
	return c, false
}

// callsMorestack reports whether the code at an offset calls once and then jumps to the start of the function, with only
// straight-line instructions before and between. This is how Go functions call runtime.morestack if their stack check fails.
func callsMorestack(processor Processor, code []byte, at int) bool {
	// Since 1.17 such code stores and reloads up to 9 integer and 15 floating-point argument registers.
	const maxInstructions = 64
	called := false
	for n := 0; n < maxInstructions && 0 < at && at < len(code); n++ {
		in, err := processor.Decode(code[at:])
		switch {
		case err == nil && (in.Kind == Other || in.Kind == Nop):
		case err == nil && in.Kind == Call && !called:
			called = true
		default:
			return err == nil && in.Kind == Jump && called && at+int(in.To) == 0
		}
		at += in.Len
	}
	return false
}

// Spilled returns the registers that a Go function saves before it calls runtime.morestack, when its stack check fails. These
// registers may hold arguments. resume is the offset at which the function goes on after that call. ok is false if the code
// has another form. A function saves all registers that arguments are passed in, even unused ones, if it uses at least one of
// them, and otherwise none (RegArgs in cmd/compile/internal/ssagen/ssa.go, and OpArgIntReg in
// cmd/compile/internal/amd64/ssa.go, Go 1.17 to 1.27).
func Spilled(processor Processor, code []byte, c Check) (spills []Spill, resume int, ok bool) {
	if c.Jump < 0 || c.Jump >= len(code) {
		return nil, 0, false
	}
	jump, err := processor.Decode(code[c.Jump:])
	if err != nil || jump.To <= 0 {
		return nil, 0, false
	}
	from := min(c.Jump+int(jump.To), len(code))
	for at, in := range Instructions(processor, code[from:]) {
		switch in.Kind {
		case Call:
			return spills, from + at + in.Len, true
		case Nop:
		case Other:
			saved, ok := processor.Spills(code[from+at : from+at+in.Len])
			if !ok {
				return nil, 0, false
			}
			spills = append(spills, saved...)
		default:
			return nil, 0, false
		}
	}
	return nil, 0, false
}
