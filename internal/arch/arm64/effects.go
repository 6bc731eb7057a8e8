package arm64

import "github.com/ftgo/ftgo/internal/arch"

const (
	// frameRegisters are SP, the return address, the frame pointer and g.
	frameRegisters set = 1<<stack | 1<<link | 1<<frame | 1<<g
	// scratch are registers that never hold an argument, because linkers and Go's assembler may write them anywhere
	// (AAPCS64, 6.1.1; cmd/internal/obj/arm64/a.out.go).
	scratch set = 1<<16 | 1<<17 | 1<<temporary
)

// Effects derives the effects from the instruction's operands.
func (processor) Effects(code []byte) (e arch.Effects) {
	if len(code) < size {
		return e
	}
	w := word(code)
	o, known := decode(w)
	if !known {
		return e
	}
	e.KeepsFrame = o.writes&frameRegisters == 0 && !o.traps && (!o.loads && !o.stores || o.nearTop())
	e.KeepsRegisters = o.writes&^(scratch|1<<stack|1<<frame) == 0
	e.KeepsMemory = !o.stores
	e.Repeats = o.writes&(1<<temporary) != 0 || len(code) >= 2*size && loadsAddress(w, word(code[size:]))
	return e
}

// nearTop reports whether an access is to memory that is certainly mapped: near the top of the stack, including some
// bytes below it and stack arguments above it.
func (o operands) nearTop() bool {
	const below, arguments = 256, 4096
	return o.base == stack && !o.indexed && o.disp >= -below && o.disp+o.bytes <= arguments
}

// loadsAddress reports whether w is an ADRP and the next instruction loads the same register from the ADRP's address.
// Go's assembler expands one instruction to these two, without using its temporary register, if the address of a
// symbol or of a thread-local variable is in a table (cases 70 and 71 of asmout in cmd/internal/obj/arm64/asm7.go).
func loadsAddress(w, next uint32) bool {
	return w&0x9f000000 == 0x90000000 && next&0xffc00000 == 0xf9400000 && rn(next) == rd(w) && rd(next) == rd(w)
}
