package offsets

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/ftgo/ftgo/offsets/insn"
)

// place is an instruction of a function: an index into its parts, and the distance from
// that part's start.
type place struct{ part, at int }

func (w *flow) addr(p place) uint64 { return w.parts[p.part].addr + uint64(p.at) }

func (w *flow) instruction(p place) (x86asm.Inst, error) {
	return x86asm.Decode(w.parts[p.part].code[p.at:], 64)
}

// origin is where the value of a register is from: an instruction, or the caller.
type origin struct {
	argument bool
	at       place
	in       x86asm.Inst
}

// maxSearch bounds the instructions gone back over; compilers keep the parts of a
// switch close together.
const maxSearch = 500

// origins goes back along all ways that lead to an instruction, to where a register
// was set last. It fails at any instruction that it does not understand, and
// where it can't see how execution got there.
func (w *flow) origins(r x86asm.Reg, at place) (from []origin, ok bool) {
	seen := map[place]bool{at: true}
	for todo := []place{at}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		before := w.before(p)
		if w.addr(p) == w.fn.Addr {
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
			if w.isENDBR64(b) {
				todo = append(todo, b)
				continue
			}
			in, err := w.instruction(b)
			if err != nil {
				return nil, false
			}
			switch writes, known := sets(in, r); {
			case !known:
				return nil, false
			case writes:
				from = append(from, origin{at: b, in: in})
			default:
				todo = append(todo, b)
			}
		}
	}
	return from, len(from) > 0
}

// before returns the instructions that may be executed right before one. What nothing
// else leads to is where a switch leads.
func (w *flow) before(p place) (before []place) {
	if b, ok := w.above(p); ok && w.goesOn(b) && !w.isPadding(b) {
		before = append(before, b)
	}
	before = append(before, w.jumpsTo(p)...)
	if len(before) > 0 || w.addr(p) == w.fn.Addr {
		return before
	}
	for i := range w.parts {
		for _, j := range w.parts[i].jumps {
			if j.in.Kind == insn.IndirectJump {
				before = append(before, place{i, j.at})
			}
		}
	}
	return before
}

// goesOn reports whether the next instruction may be executed after this one.
func (w *flow) goesOn(p place) bool {
	d, err := insn.Decode(w.parts[p.part].code[p.at:])
	return err == nil && d.Kind != insn.Jump && d.Kind != insn.IndirectJump && d.Kind != insn.Return && d.Kind != insn.Trap
}

// jumpsTo returns the direct jumps that lead to an instruction.
func (w *flow) jumpsTo(p place) (from []place) {
	for _, j := range w.parts[p.part].inner {
		if j.to == p.at {
			from = append(from, place{p.part, j.at})
		}
	}
	for i := range w.parts {
		for _, j := range w.parts[i].jumps {
			if j.in.Kind != insn.IndirectJump && w.parts[i].addr+uint64(j.to) == w.addr(p) {
				from = append(from, place{i, j.at})
			}
		}
	}
	return from
}

// isPadding reports whether an instruction does nothing and is never reached:
// compilers put such behind a jump to align what follows.
func (w *flow) isPadding(p place) bool {
	for {
		if in, err := w.instruction(p); err != nil || in.Op != x86asm.NOP || len(w.jumpsTo(p)) > 0 {
			return false
		}
		above, ok := w.above(p)
		if !ok {
			return false
		}
		if !w.goesOn(above) {
			return true
		}
		p = above
	}
}

// above returns the instruction that lies before one.
func (w *flow) above(p place) (place, bool) {
	for n := p.at - 1; n >= 0; n-- {
		if w.parts[p.part].boundary[n] {
			return place{p.part, n}, true
		}
	}
	return place{}, false
}

// popsBefore reports whether the instruction above takes something off the stack, as
// the end of an epilogue does.
func (w *flow) popsBefore(p place) bool {
	b, ok := w.above(p)
	if !ok {
		return false
	}
	in, err := w.instruction(b)
	if err != nil {
		return false
	}
	return in.Op == x86asm.POP || in.Op == x86asm.LEAVE || in.Op == x86asm.ADD && in.Args[0] == x86asm.RSP
}

// isENDBR64: x86asm does not know the instruction.
func (w *flow) isENDBR64(p place) bool {
	d, err := insn.Decode(w.parts[p.part].code[p.at:])
	if err != nil {
		return false
	}
	op := w.parts[p.part].code[p.at+d.Prefix : p.at+d.Len]
	return len(op) == 3 && op[0] == 0x0f && op[1] == 0x1e && op[2] == 0xfa
}
