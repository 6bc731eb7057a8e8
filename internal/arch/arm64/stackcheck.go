package arm64

const (
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
	condAL = 14
	condNV = 15
)

// ChecksStack accepts arithmetic. A stack guard, stackguard0 or stackguard1, is 16 or 24 bytes from g.
//
// Source: stacksplit in cmd/internal/obj/arm64/obj7.go of Go 1.16 to 1.27.
func (processor) ChecksStack(code []byte) (ok, guard bool) {
	w := word(code)
	o, known := decode(w)
	guard = w&0xfffffbe0 == 0xf9400800|g<<5 // LDR Xt, [g, #16 or #24]
	return o.writes&^spoiled == 0 && (guard || known && classify(w) == step && !o.loads && !o.stores), guard
}
