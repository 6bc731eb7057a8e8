package arm64

import "github.com/ftgo/ftgo/offsets/arch"

// way is what is known of the code around a jump.
type way struct {
	arch.Way
	searches *int // as many are left
}

func (w way) word(at uint64) uint32 {
	if code := w.Code(at); len(code) >= size {
		return word(code)
	}
	return 0
}

// Leads goes by where the jump's target is from:
//
//   - a distance from a table, added to an address, is a switch (GCC: ldrh w1, [table, w0, uxtw #1];
//     adr x2, here; add x1, x2, w1, sxth #2; br x1. Clang: ldrsw x1, [table, x0, lsl #2]; add x1, table, x1; br x1);
//   - an element of an array of addresses is a switch or a tail call, depending on what the array holds;
//   - anything else in memory (the global offset table, a table of methods, a structure), an argument,
//     or the result of a call is a tail call.
//
// All ways that lead to the jump must say the same.
func (processor) Leads(at uint64, around arch.Way) (inside, ok bool) {
	searches := maxSearches
	w := way{around, &searches}
	jump := w.word(at)
	if c := classify(jump); c != jumpReg && c != authJump {
		return false, false
	}
	if w.popsBefore(at) {
		return false, true // no compiler puts a switch behind an epilogue
	}
	return w.value(rn(jump), at, maxCopies)
}

const (
	maxCopies   = 4  // of a register to another
	maxSearches = 64 // for what sets a register
)

// value tells where the value leads that a register has before an instruction.
func (w way) value(r uint32, at uint64, copies int) (inside, ok bool) {
	from, ok := w.origins(r, at)
	if !ok {
		return false, false
	}
	for i, o := range from {
		leads, ok := w.origin(o, copies)
		if !ok || i > 0 && leads != inside {
			return false, false
		}
		inside = leads
	}
	return inside, true
}

// origin is value for one of the ways.
func (w way) origin(o origin, copies int) (inside, ok bool) {
	if o.argument || classify(o.word) != step {
		return o.address(w)
	}
	operands, _ := decode(o.word)
	switch {
	case operands.access == load && !operands.indexed:
		return false, true
	case o.word&0xffe01c00 == 0xf8601800: // LDR Xt, [Xn, Xm, LSL #3]
		return w.element(rn(o.word), o.at)
	case o.word&0x7f000000 == 0x0b000000: // ADD of registers
		if w.fromTable(rn(o.word), o.at) || w.fromTable(rm(o.word), o.at) {
			return true, true
		}
	case o.word&0xffe0ffe0 == 0xaa0003e0 && copies > 0: // MOV
		return w.value(rm(o.word), o.at, copies-1)
	case o.word&0xffe00c00 == 0x9a800000 && copies > 0: // CSEL
		one, ok1 := w.value(rn(o.word), o.at, copies-1)
		other, ok2 := w.value(rm(o.word), o.at, copies-1)
		return one, ok1 && ok2 && one == other
	case o.word&0xffc00000 == 0x91000000: // ADD of a number
		if addr, ok := w.constant(o); ok {
			return w.Inside(addr)
		}
	}
	return false, false
}

// address is origin for what is no plain instruction.
func (o origin) address(w way) (inside, ok bool) {
	if o.argument {
		return false, true
	}
	switch classify(o.word) {
	case call, callReg, authCall:
		return false, true
	case address:
		if addr, ok := w.constant(o); ok {
			return w.Inside(addr)
		}
	}
	return false, false
}

// constant is the address that ADR, ADRP, or ADRP and ADD put into a register.
func (w way) constant(o origin) (addr uint64, ok bool) {
	if o.argument {
		return 0, false
	}
	switch {
	case o.word&0x9f000000 == 0x10000000:
		return o.at + distance(o.word), true
	case o.word&0x9f000000 == 0x90000000:
		return pageOf(o.word, o.at), true
	case o.word&0xffc00000 == 0x91000000:
		if base, ok := w.base(rn(o.word), o.at); ok {
			return base + uint64(o.word>>10&0xfff), true
		}
	}
	return 0, false
}

// base is the address that is in a register before an instruction.
func (w way) base(r uint32, at uint64) (addr uint64, ok bool) {
	from, ok := w.origins(r, at)
	if !ok || len(from) != 1 || from[0].at >= at && !from[0].argument {
		return 0, false
	}
	return w.constant(from[0])
}

// fromTable tells whether a register holds an entry of a table of distances before an instruction.
func (w way) fromTable(r uint32, at uint64) bool {
	from, ok := w.origins(r, at)
	for _, o := range from {
		operands, known := decode(o.word)
		if o.argument || !known || operands.access != load || !operands.indexed || operands.vector || operands.bytes > 4 || classify(o.word) == literal {
			return false
		}
	}
	return ok
}

// element tells where the first entry leads of an array of addresses.
func (w way) element(base uint32, at uint64) (inside, ok bool) {
	table, ok := w.base(base, at)
	if !ok {
		return false, false
	}
	first, ok := w.Pointer(table)
	if !ok {
		return false, false
	}
	return w.Inside(first)
}

// origin is where the value of a register is from: an instruction, or the caller.
type origin struct {
	argument bool
	at       uint64
	word     uint32
}

// maxSearch bounds the instructions gone back over; compilers keep the parts of a
// switch close together.
const maxSearch = 500

// origins goes back along all ways that lead to an instruction, to where a register
// was set last. It fails at any instruction that it does not understand, and
// where it can't see how execution got there.
func (w way) origins(r uint32, at uint64) (from []origin, ok bool) {
	if *w.searches--; *w.searches < 0 {
		return nil, false
	}
	seen := map[uint64]bool{at: true}
	for todo := []uint64{at}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		before := w.Before(p)
		if p == w.Start() {
			from = append(from, origin{argument: true})
		} else if len(before) == 0 {
			return nil, false
		}
		for _, b := range before {
			if seen[b] {
				continue
			}
			if seen[b] = true; len(seen) > maxSearch {
				return nil, false
			}
			word := w.word(b)
			switch o, known := decode(word); {
			case !known:
				return nil, false
			case o.writes&one(r) != 0:
				from = append(from, origin{at: b, word: word})
			default:
				todo = append(todo, b)
			}
		}
	}
	return from, len(from) > 0
}

// popsBefore tells whether an epilogue ends right above: the return address is loaded from the stack, or SP goes up.
func (w way) popsBefore(at uint64) bool {
	b, ok := w.Above(at)
	for ok && w.word(b)&hints.bits == hints.value {
		b, ok = w.Above(b)
	}
	if !ok {
		return false
	}
	word := w.word(b)
	o, known := decode(word)
	return known && o.base == stack && o.access == load && o.writes&(1<<stack) != 0 || word&0xff8003ff == 0x910003ff
}
