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
