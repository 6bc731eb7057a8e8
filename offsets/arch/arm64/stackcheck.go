package arm64

import "github.com/ftgo/ftgo/offsets/arch"

const (
	// maxPrologue bounds the instructions up to the deciding jump, maxTail those of the part that calls morestack.
	maxPrologue = 14
	maxTail     = 64

	g         = 28 // holds g in all code of Go
	temporary = 27 // the assembler's own, REGTMP
)

// Conditions (DDI 0487, C1.2.4).
const (
	condEQ = 0
	condLO = 3
	condHI = 8
	condLS = 9
	condAL = 14
	condNV = 15
)

// StackCheck finds the check by its form alone: a load of stackguard0 or stackguard1 (16 or 24 from g), then a
// B.LS to straight code that calls once and then jumps to the function's beginning. B.LO and B.EQ come before
// it where the frame is large.
//
// Source: stacksplit in cmd/internal/obj/arm64/obj7.go of Go 1.16 to 1.26.
func (processor) StackCheck(code []byte) (arch.Check, bool) {
	guard, first := false, 0
	for at := 0; at+size <= len(code) && at < maxPrologue*size; at += size {
		w := word(code[at:])
		switch {
		case w&0xfffffbe0 == 0xf9400800|g<<5: // LDR Xt, [g, #16 or #24]
			guard = true
		case w&0xffffffe0 == 0x910003e0, // MOV Xd, SP
			w&0x1f800000 == 0x12800000, // MOVN, MOVZ, MOVK
			w&0x7f800000 == 0x32000000, // ORR (immediate): a constant
			w&0x1f000000 == 0x11000000 && w&31 != 31 || w&0xff80001f == 0xf100001f, // ADD, SUB (immediate) but not to SP, CMP
			w&0x1f000000 == 0x0b000000 && (w&31 != 31 || w>>29 == 7):               // SUB, SUBS, CMP (register)
		case w&0xff000010 == 0x54000000:
			cond := w & 15
			again, ok := callsMorestack(code, at+int(target(w)))
			if !ok || !guard || cond != condLS && cond != condLO && cond != condEQ {
				return arch.Check{}, false
			}
			if first == 0 {
				first = at
			}
			if cond == condLS {
				return arch.Check{Jump: at, Post: at + size, Repeats: true, First: first, Again: again}, !reaches(code, at+size)
			}
		default:
			return arch.Check{}, false
		}
	}
	return arch.Check{}, false
}

// callsMorestack tells whether straight code calls once, and then jumps to the function's beginning, and where
// the call is.
func callsMorestack(code []byte, at int) (again int, ok bool) {
	for n := 0; n < maxTail && 0 < at && at+size <= len(code); n++ {
		w := word(code[at:])
		switch classify(w) {
		case call:
			if again != 0 {
				return 0, false
			}
			again = at
		case jump:
			return again, again != 0 && at+int(target(w)) == 0
		case step, nop, address:
		default:
			return 0, false
		}
		at += size
	}
	return 0, false
}

// reaches tells whether a direct branch leads to an instruction after the first, up to and with the one behind the
// check. That of functions without a frame may be where a loop begins, and then runs more than once; what
// comes before it no compiler jumps to.
func reaches(code []byte, post int) bool {
	for at := 0; at+size <= len(code); at += size {
		w := word(code[at:])
		switch classify(w) {
		case jump, condJump, newCond:
			if to := at + int(target(w)); 0 < to && to < post {
				return true
			}
		}
	}
	return false
}
