package arch

import "iter"

// Instructions are those of code with their offsets, up to what is none.
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

// Extent is how much of code is of the function that it begins with: up to the instruction that does not go on to the
// next and that no jump goes beyond, because other code may follow, or data. It is all where there is none.
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
