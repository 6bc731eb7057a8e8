package arm64

import "github.com/ftgo/ftgo/internal/arch"

const (
	// kept are the registers of a frame: SP, the return address, the frame pointer, and g.
	kept set = 1<<stack | 1<<link | 1<<frame | 1<<g
	// scratch are those that never have an argument: linkers and Go's assembler write them where they like (AAPCS64, 6.1.1;
	// cmd/internal/obj/arm64/a.out.go).
	scratch set = 1<<16 | 1<<17 | 1<<temporary
)

// Effects goes by the operands.
func (processor) Effects(code []byte) (e arch.Effects) {
	if len(code) < size {
		return e
	}
	w := word(code)
	o, known := decode(w)
	if !known {
		return e
	}
	e.KeepsFrame = o.writes&kept == 0 && !o.traps && (o.access == none || o.nearTop())
	e.KeepsRegisters = o.writes&^(scratch|1<<stack|1<<frame) == 0
	e.KeepsMemory = o.access == none || o.access == load
	e.Repeats = o.writes&(1<<temporary) != 0 || len(code) >= 2*size && loadsAddress(w, word(code[size:]))
	return e
}

// nearTop holds for memory that is there: the top of the stack, with what may be stored below it, and what arguments
// take.
func (o operands) nearTop() bool {
	const below, arguments = 256, 4096
	return o.base == stack && !o.indexed && o.disp >= -below && o.disp+o.bytes <= arguments
}

// loadsAddress holds for an ADRP whose register the next instruction loads from there: Go's assembler makes these of one,
// without its own register, where the address of a symbol or of a thread's variable is in a table (cases 70 and 71 of
// asmout in cmd/internal/obj/arm64/asm7.go).
func loadsAddress(w, next uint32) bool {
	return w&0x9f000000 == 0x90000000 && next&0xffc00000 == 0xf9400000 && rn(next) == rd(w) && rd(next) == rd(w)
}
