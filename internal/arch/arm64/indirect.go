package arm64

import (
	"github.com/ftgo/ftgo/internal/arch"
)

// Sets decides by the instruction's operands.
func (processor) Sets(w arch.Way, at uint64, r int) (sets, known bool) {
	o, known := decode(wordAt(w, at))
	return o.writes&one(uint32(r)) != 0, known
}

// wordAt returns the instruction at an address, or 0.
func wordAt(w arch.Way, at uint64) uint32 {
	if code := w.Code(at); len(code) >= size {
		return word(code)
	}
	return 0
}

// Leads decides by the source of the jump's target:
//
//   - a distance from a table, added to an address, is a switch (GCC: ldrh w1, [table, w0, uxtw #1];
//     adr x2, here; add x1, x2, w1, sxth #2; br x1. Clang: ldrsw x1, [table, x0, lsl #2]; add x1, table, x1; br x1);
//   - an element of an array of addresses is a switch or a tail call, depending on the addresses in the array;
//   - any other word of memory (the global offset table, a table of methods, a structure), an argument, or the
//     result of a call is a tail call.
//
// All paths that lead to the jump must give the same result.
func (processor) Leads(at uint64, around arch.Way) (inside, ok bool) {
	jump := wordAt(around, at)
	if c := classify(jump); c != jumpReg && c != authJump {
		return false, false
	}
	if popsBefore(around, at) {
		return false, true // compilers emit no switch after an epilogue
	}
	return arch.NewSearch(around, Processor).Leads(int(rn(jump)), at)
}

// WrittenLeads decides by the instruction's operands.
func (processor) WrittenLeads(s *arch.Search, at uint64, r int) (inside, ok bool) {
	w := wordAt(s, at)
	switch classify(w) {
	case call, callReg, authCall:
		return false, true
	case step, address:
	default:
		return false, false
	}
	o, _ := decode(w)
	switch {
	case o.loads && !o.stores && !o.indexed:
		// The register may also be the base, which the instruction advances.
		return false, !o.vector && (uint32(r) == o.first || uint32(r) == o.second)
	case w&0xffe01c00 == 0xf8601800: // LDR Xt, [Xn, Xm, LSL #3]
		if array, ok := base(s, rn(w), at); ok {
			return s.Element(array)
		}
	case w&0x7f000000 == 0x0b000000: // ADD of registers
		sum := fromTable(s, rn(w), at) || fromTable(s, rm(w), at)
		return sum, sum
	case w&0xffe0ffe0 == 0xaa0003e0: // MOV
		return s.Copy(at, int(rm(w)))
	case w&0xffe00c00 == 0x9a800000: // CSEL
		return s.Copy(at, int(rn(w)), int(rm(w)))
	default:
		if addr, ok := constant(s, w, at); ok {
			return s.Inside(addr)
		}
	}
	return false, false
}

// constant returns the address that ADR, ADRP, or ADRP and ADD set.
func constant(s *arch.Search, w uint32, at uint64) (addr uint64, ok bool) {
	switch {
	case w&0x9f000000 == 0x10000000:
		return at + distance(w), true
	case w&0x9f000000 == 0x90000000:
		return pageOf(w, at), true
	case w&0xffc00000 == 0x91000000: // ADD of a number
		addr, ok = base(s, rn(w), at)
	}
	return addr + uint64(w>>10&0xfff), ok
}

// base returns the constant that a register holds before an instruction.
func base(s *arch.Search, r uint32, at uint64) (addr uint64, ok bool) {
	if set, ok := s.One(int(r), at); ok && set < at {
		return constant(s, wordAt(s, set), set)
	}
	return 0, false
}

// fromTable reports whether a register holds an entry of a table of distances before an instruction.
func fromTable(s *arch.Search, r uint32, at uint64) bool {
	return s.All(int(r), at, func(at uint64) bool {
		w := wordAt(s, at)
		o, known := decode(w)
		return known && o.loads && !o.stores && o.indexed && !o.vector && o.bytes <= 4 && classify(w) != literal
	})
}

// popsBefore reports whether the instruction above ends an epilogue: it loads the return address from the stack or
// increases SP.
func popsBefore(w arch.Way, at uint64) bool {
	b, ok := w.Above(at)
	for ok && wordAt(w, b)&hintBits == hintValue {
		b, ok = w.Above(b)
	}
	if !ok {
		return false
	}
	word := wordAt(w, b)
	o, known := decode(word)
	loads := o.base == stack && o.loads && !o.stores && o.writes&(1<<stack) != 0
	return known && (loads || word&0xff8003ff == 0x910003ff) // ADD of a number to SP
}
