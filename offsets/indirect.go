package offsets

import (
	"errors"

	"golang.org/x/arch/x86/x86asm"
)

// errSwitchOrTail: a breakpoint that ends calls must not be put on a jump which
// may stay inside the function.
var errSwitchOrTail = errors.New("goes through a register, and may be a switch or a tail call")

// indirect tells where an indirect jump leads. With the stack in use it can only be a
// switch. Otherwise it depends on where its target is from:
//
//   - an entry of a table, added to the table's address, is a switch of position-independent
//     code (GCC, Clang: lea table(%rip),B; movslq (B,I,4),R; add B,R; jmp *R);
//   - an element of an array of addresses is a switch or a tail call, depending on
//     what the array holds;
//   - anything else in memory (the global offset table, a table of methods, a
//     structure), an argument, or the result of a call is a tail call.
//
// All ways that lead to the jump must say the same.
func (w *flow) indirect(at place) (destination, error) {
	if !w.mayHaveLeft(w.addr(at)) {
		return inside, nil
	}
	in, err := w.instruction(at)
	if err != nil || in.Op != x86asm.JMP {
		return 0, errSwitchOrTail
	}
	switch arg := in.Args[0].(type) {
	case x86asm.Mem:
		return w.through(arg, at)
	case x86asm.Reg:
		if w.popsBefore(at) {
			return outside, nil // no compiler puts a switch behind an epilogue
		}
		return w.value(arg, at, maxCopies)
	}
	return 0, errSwitchOrTail
}

const maxCopies = 4 // of a register to another

// value tells where the value leads that a register has before an instruction.
func (w *flow) value(r x86asm.Reg, at place, copies int) (destination, error) {
	from, ok := w.origins(r, at)
	if !ok {
		return 0, errSwitchOrTail
	}
	var all destination
	for i, o := range from {
		where, err := w.origin(o, copies)
		if err != nil {
			return 0, err
		}
		if i > 0 && where != all {
			return 0, errSwitchOrTail
		}
		all = where
	}
	return all, nil
}

// origin is value for one of the ways.
func (w *flow) origin(o origin, copies int) (destination, error) {
	if o.argument {
		return outside, nil
	}
	switch o.in.Op {
	case x86asm.CALL:
		return outside, nil
	case x86asm.ADD:
		if w.fromTable(o.in.Args[0], o.at) || w.fromTable(o.in.Args[1], o.at) {
			return inside, nil
		}
	case x86asm.LEA:
		if m, ok := o.in.Args[1].(x86asm.Mem); ok && m.Base == x86asm.RIP {
			return w.destination(w.relative(o, m))
		}
	case x86asm.MOV:
		switch src := o.in.Args[1].(type) {
		case x86asm.Mem:
			return w.through(src, o.at)
		case x86asm.Imm:
			return w.destination(uint64(src))
		case x86asm.Reg:
			if wide(src) == src && copies > 0 {
				return w.value(src, o.at, copies-1)
			}
		}
	default:
		if src, ok := o.in.Args[1].(x86asm.Reg); ok && isCMOV(o.in.Op) && copies > 0 {
			kept, err1 := w.value(o.in.Args[0].(x86asm.Reg), o.at, copies-1)
			moved, err2 := w.value(src, o.at, copies-1)
			if err1 == nil && err2 == nil && kept == moved {
				return moved, nil
			}
		}
	}
	return 0, errSwitchOrTail
}

// relative returns the address that an operand relative to RIP means. x86asm does not
// extend the sign of the distance.
func (w *flow) relative(o origin, m x86asm.Mem) uint64 {
	return w.addr(o.at) + uint64(o.in.Len) + uint64(int32(m.Disp))
}

// destination tells what an address of code is.
func (w *flow) destination(addr uint64) (destination, error) {
	if w.partAt(addr) != nil && addr != w.fn.Addr {
		return inside, nil
	}
	if f, ok := w.binary.FuncAt(addr); ok && f.Addr == addr || w.binary.inPLT(addr) {
		return outside, nil
	}
	if e, ok := w.unwind.at(addr); ok && e.addr == addr {
		return outside, nil
	}
	return 0, errSwitchOrTail
}

// fromTable reports whether a register holds an entry of a table of 32-bit
// distances before an instruction.
func (w *flow) fromTable(arg x86asm.Arg, at place) bool {
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
func (w *flow) through(m x86asm.Mem, at place) (destination, error) {
	if m.Index == 0 {
		return outside, nil
	}
	if m.Scale != 8 {
		return 0, errSwitchOrTail
	}
	table := uint64(int32(m.Disp))
	if m.Base != 0 {
		from, ok := w.origins(m.Base, at)
		if !ok || len(from) != 1 || from[0].in.Op != x86asm.LEA {
			return 0, errSwitchOrTail
		}
		lea := from[0]
		src, ok := lea.in.Args[1].(x86asm.Mem)
		if !ok || src.Base != x86asm.RIP {
			return 0, errSwitchOrTail
		}
		table += w.relative(lea, src)
	}
	first, ok := w.binary.ownPointer(table)
	if !ok {
		return 0, errSwitchOrTail
	}
	return w.destination(first)
}
