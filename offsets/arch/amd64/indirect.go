package amd64

import (
	"bytes"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/ftgo/ftgo/offsets/arch"
)

// way is what is known of the code around a jump.
type way struct{ arch.Way }

func (w way) instruction(at uint64) (x86asm.Inst, error) { return x86asm.Decode(w.Code(at), 64) }

// Leads goes by where the jump's target is from:
//
//   - an entry of a table, added to the table's address, is a switch of position-independent
//     code (GCC, Clang: lea table(%rip),B; movslq (B,I,4),R; add B,R; jmp *R);
//   - an element of an array of addresses is a switch or a tail call, depending on
//     what the array holds;
//   - anything else in memory (the global offset table, a table of methods, a
//     structure), an argument, or the result of a call is a tail call.
//
// All ways that lead to the jump must say the same.
func (processor) Leads(at uint64, around arch.Way) (inside, ok bool) {
	w := way{around}
	in, err := w.instruction(at)
	if err != nil || in.Op != x86asm.JMP {
		return false, false
	}
	switch arg := in.Args[0].(type) {
	case x86asm.Mem:
		return w.through(arg, at)
	case x86asm.Reg:
		if w.popsBefore(at) {
			return false, true // no compiler puts a switch behind an epilogue
		}
		return w.value(arg, at, maxCopies)
	}
	return false, false
}

const maxCopies = 4 // of a register to another

// value tells where the value leads that a register has before an instruction.
func (w way) value(r x86asm.Reg, at uint64, copies int) (inside, ok bool) {
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
	if o.argument {
		return false, true
	}
	switch o.in.Op {
	case x86asm.CALL:
		return false, true
	case x86asm.ADD:
		if w.fromTable(o.in.Args[0], o.at) || w.fromTable(o.in.Args[1], o.at) {
			return true, true
		}
	case x86asm.LEA:
		if addr, ok := o.address(); ok {
			return w.Inside(addr)
		}
	case x86asm.MOV:
		switch src := o.in.Args[1].(type) {
		case x86asm.Mem:
			return w.through(src, o.at)
		case x86asm.Imm:
			return w.Inside(uint64(src))
		case x86asm.Reg:
			if wide(src) == src && copies > 0 {
				return w.value(src, o.at, copies-1)
			}
		}
	default:
		if src, ok := o.in.Args[1].(x86asm.Reg); ok && strings.HasPrefix(o.in.Op.String(), "CMOV") && copies > 0 {
			kept, ok1 := w.value(o.in.Args[0].(x86asm.Reg), o.at, copies-1)
			moved, ok2 := w.value(src, o.at, copies-1)
			if ok1 && ok2 && kept == moved {
				return moved, true
			}
		}
	}
	return false, false
}

// fromTable reports whether a register holds an entry of a table of 32-bit
// distances before an instruction.
func (w way) fromTable(arg x86asm.Arg, at uint64) bool {
	r, ok := arg.(x86asm.Reg)
	if !ok {
		return false
	}
	from, ok := w.origins(wide(r), at)
	for _, o := range from {
		m, isMem := o.in.Args[1].(x86asm.Mem)
		if o.argument || o.in.Op != x86asm.MOVSXD || !isMem || m.Index == 0 || m.Scale != 4 {
			return false
		}
	}
	return ok
}

// through tells where a word of memory leads that an instruction reads.
func (w way) through(m x86asm.Mem, at uint64) (inside, ok bool) {
	if m.Index == 0 {
		return false, true
	}
	if m.Scale != 8 {
		return false, false
	}
	table := uint64(int32(m.Disp))
	if m.Base != 0 {
		from, ok := w.origins(m.Base, at)
		if !ok || len(from) != 1 {
			return false, false
		}
		base, ok := from[0].address()
		if !ok {
			return false, false
		}
		table += base
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
	in       x86asm.Inst
}

// address is the one relative to RIP that a LEA loads. x86asm does not extend the sign of the distance.
func (o origin) address() (addr uint64, ok bool) {
	m, ok := o.in.Args[1].(x86asm.Mem)
	return o.at + uint64(o.in.Len) + uint64(int32(m.Disp)), ok && o.in.Op == x86asm.LEA && m.Base == x86asm.RIP
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
			if bytes.HasPrefix(w.Code(b), endbr64) {
				todo = append(todo, b)
				continue
			}
			in, err := w.instruction(b)
			if err != nil {
				return nil, false
			}
			switch writes, known := sets(in, wide(r)); {
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
	return err == nil && (in.Op == x86asm.POP || in.Op == x86asm.LEAVE || in.Op == x86asm.ADD && in.Args[0] == x86asm.RSP)
}
