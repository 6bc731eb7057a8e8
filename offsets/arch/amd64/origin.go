package amd64

import "golang.org/x/arch/x86/x86asm"

// origin is where the value of a register is from: an instruction, or the caller.
type origin struct {
	argument bool
	at       uint64
	in       x86asm.Inst
}

// maxSearch bounds the instructions gone back over; compilers keep the parts of a
// switch close together.
const maxSearch = 500

// origins goes back along all ways that lead to an instruction, to where a register
// was set last. It fails at any instruction that it does not understand, and
// where it can't see how execution got there.
func (w way) origins(r x86asm.Reg, at uint64) (from []origin, ok bool) {
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
			if isENDBR64(w.Code(b)) {
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

// popsBefore reports whether the instruction above takes something off the stack, as
// the end of an epilogue does.
func (w way) popsBefore(at uint64) bool {
	b, ok := w.Above(at)
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
func isENDBR64(code []byte) bool {
	in, err := decode(code)
	if err != nil {
		return false
	}
	op := code[in.Prefix:in.Len]
	return len(op) == 3 && op[0] == 0x0f && op[1] == 0x1e && op[2] == 0xfa
}
