package arm64

import "github.com/ftgo/ftgo/internal/arch"

const (
	// maxPrologue is the maximum number of instructions up to the deciding jump.
	maxPrologue = 14

	// spoiled are the registers that the check may write (REGRT1, REGRT2, REGTMP; x1 to x3 up to 1.17, when
	// arguments were on the stack).
	spoiled = 1<<1 | 1<<2 | 1<<3 | scratch

	g         = 28 // holds g in all Go code
	temporary = 27 // REGTMP, the temporary register of Go's assembler
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

// StackCheck finds the check by its form: a load of stackguard0 or stackguard1 (16 or 24 bytes from g), then a B.LS to
// straight-line code that calls once and then jumps to the start of the function. Only arithmetic, and B.LO and B.EQ
// for large frames, may precede the B.LS.
//
// Source: stacksplit in cmd/internal/obj/arm64/obj7.go of Go 1.16 to 1.27.
func (processor) StackCheck(code []byte) (arch.Check, bool) {
	guard := false
	for at := 0; at+size <= len(code) && at < maxPrologue*size; at += size {
		w := word(code[at:])
		o, known := decode(w)
		switch {
		case w&0xfffffbe0 == 0xf9400800|g<<5 && o.writes&^spoiled == 0: // LDR Xt, [g, #16 or #24]
			guard = true
		case known && classify(w) == step && !o.loads && !o.stores && o.writes&^spoiled == 0:
		case w&0xff000010 == 0x54000000:
			cond := w & 15
			if !guard || !arch.CallsMorestack(Processor, code, at+int(target(w))) || cond != condLS && cond != condLO && cond != condEQ {
				return arch.Check{}, false
			}
			if cond == condLS {
				return arch.Check{Jump: at, Post: at + size, Repeats: true}, !reaches(code, at+size)
			}
		default:
			return arch.Check{}, false
		}
	}
	return arch.Check{}, false
}

// reaches reports whether a direct branch leads to an instruction of the check other than its first. Compilers emit no such
// branch. (A branch to the instruction after the check is possible if a function without a frame begins with a loop.)
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
