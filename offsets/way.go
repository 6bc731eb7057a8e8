package offsets

import "github.com/ftgo/ftgo/offsets/arch"

// A flow is the [arch.Way] of its jumps.

func (w *flow) Start() uint64 { return w.fn.fn.Addr }

func (w *flow) Code(at uint64) []byte {
	p := w.fn.partAt(at)
	return p.code[at-p.addr:]
}

func (w *flow) Pointer(at uint64) (uint64, bool) { return w.fn.binary.image.OwnPointer(at) }

func (w *flow) Inside(addr uint64) (inside, ok bool) {
	b := w.fn.binary
	if w.fn.partAt(addr) != nil && addr != w.fn.fn.Addr {
		return true, true
	}
	if f, ok := b.FuncAt(addr); ok && f.Addr == addr || b.image.InPLT(addr) {
		return false, true
	}
	e, ok := w.unwind.At(addr)
	return false, ok && e.Addr == addr
}

// Above returns the instruction that lies before one.
func (w *flow) Above(at uint64) (uint64, bool) {
	p := w.fn.partAt(at)
	for n := int(at-p.addr) - 1; n >= 0; n-- {
		if p.boundary[n] {
			return p.addr + uint64(n), true
		}
	}
	return 0, false
}

// Before returns the instructions that may be executed right before one. What nothing
// else leads to is where a switch leads.
func (w *flow) Before(at uint64) (before []uint64) {
	if above, ok := w.Above(at); ok && w.goesOn(above) && !w.isPadding(above) {
		before = append(before, above)
	}
	before = append(before, w.jumpsTo(at)...)
	if len(before) > 0 || at == w.fn.fn.Addr {
		return before
	}
	return w.jumps(func(p *part, j jump) bool { return j.in.Kind.Indirect() })
}

// jumpsTo returns the direct jumps that lead to an instruction.
func (w *flow) jumpsTo(at uint64) (from []uint64) {
	p := w.fn.partAt(at)
	for _, j := range p.inner {
		if p.addr+uint64(j.to) == at {
			from = append(from, p.addr+uint64(j.at))
		}
	}
	return append(from, w.jumps(func(p *part, j jump) bool { return !j.in.Kind.Indirect() && p.addr+uint64(j.to) == at })...)
}

// jumps returns those out of a part of which something is so.
func (w *flow) jumps(is func(p *part, j jump) bool) (from []uint64) {
	for i := range w.fn.parts {
		p := &w.fn.parts[i]
		for _, j := range p.jumps {
			if is(p, j) {
				from = append(from, p.addr+uint64(j.at))
			}
		}
	}
	return from
}

// instruction decodes one of the function's, all of which have been decoded before.
func (w *flow) instruction(at uint64) arch.Inst {
	in, _ := w.fn.processor().Decode(w.Code(at))
	return in
}

// goesOn reports whether the next instruction may be executed after this one.
func (w *flow) goesOn(at uint64) bool {
	switch w.instruction(at).Kind {
	case arch.Jump, arch.IndirectJump, arch.SwitchJump, arch.Return, arch.Trap:
		return false
	}
	return true
}

// isPadding reports whether an instruction does nothing and is never reached:
// compilers put such behind a jump to align what follows.
func (w *flow) isPadding(at uint64) bool {
	for w.instruction(at).Kind == arch.Nop && len(w.jumpsTo(at)) == 0 {
		above, ok := w.Above(at)
		if !ok || !w.goesOn(above) {
			return ok
		}
		at = above
	}
	return false
}
