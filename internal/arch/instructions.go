package arch

import "iter"

// Instructions returns the instructions of code with their offsets, up to the first bytes that can't be decoded.
func Instructions(processor Processor, code []byte) iter.Seq2[int, Inst] {
	return func(yield func(at int, in Inst) bool) {
		for at := 0; at < len(code); {
			in, err := processor.Decode(code[at:])
			if err != nil || !yield(at, in) {
				return
			}
			at += in.Len
		}
	}
}

// Extent returns the length in bytes of the function at the start of code. The function ends with the first
// instruction that never continues with the next one and that no earlier jump skips. Without such an
// instruction it is all of code.
func Extent(processor Processor, code []byte) int {
	furthest := 0
	for at, in := range Instructions(processor, code) {
		end := at + in.Len
		switch in.Kind {
		case Jump, CondJump:
			if to := at + int(in.To); to < len(code) {
				furthest = max(furthest, to)
			}
		}
		switch in.Kind {
		case Return, Jump, IndirectJump, SwitchJump, Trap:
			if end > furthest {
				return end
			}
		}
	}
	return len(code)
}

// CallsMorestack reports whether the code at an offset calls once and then jumps to the start of the function, with only
// straight-line instructions before and between. This is how Go functions call runtime.morestack if their stack check fails.
func CallsMorestack(processor Processor, code []byte, at int) bool {
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
// registers may hold arguments. ok is false if the code has another form. Functions of Go spill all registers that arguments
// are passed in, even unused ones (RegArgs in cmd/compile/internal/ssagen/ssa.go, SpillRegisterArgs in cmd/internal/obj).
func Spilled(processor Processor, code []byte, c Check) (spills []Spill, ok bool) {
	if c.Jump < 0 || c.Jump >= len(code) {
		return nil, false
	}
	jump, err := processor.Decode(code[c.Jump:])
	if err != nil || jump.To <= 0 {
		return nil, false
	}
	from := min(c.Jump+int(jump.To), len(code))
	for at, in := range Instructions(processor, code[from:]) {
		switch in.Kind {
		case Call:
			return spills, true
		case Nop:
		case Other:
			saved, ok := processor.Spills(code[from+at : from+at+in.Len])
			if !ok {
				return nil, false
			}
			spills = append(spills, saved...)
		default:
			return nil, false
		}
	}
	return nil, false
}
