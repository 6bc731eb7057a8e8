package flow

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/ftgo/ftgo/offsets/arch"
	"github.com/ftgo/ftgo/offsets/internal/debug"
)

// flow follows one function of the System V ABI, whose compilers are freer than Go's: a
// function may have parts elsewhere in the file (GCC's NAME.cold), leave by
// a conditional jump, and jump through registers both for a switch and for a call.
type flow struct {
	*Program
	fn     *Function
	unwind debug.Unwind
	parts  []part // the function itself is the first
	cross  []crossing
}

// part is one of the pieces of a function.
type part struct {
	addr uint64
	code []byte
	*stretch
}

// Parts are where a function's parts begin, the function itself first.
func (f *Function) Parts() (addrs []uint64) {
	for i := range f.parts {
		addrs = append(addrs, f.parts[i].addr)
	}
	return addrs
}

// crossing is a jump from one part to an address that must turn out to be in another.
type crossing struct{ from, to uint64 }

// follow finds all parts of a function and where they are left.
func (p *Program) follow(f *Function) error {
	w := &flow{Program: p, fn: f, unwind: p.Unwind()}
	if whole, cold := w.partOf(f.symbol); cold {
		return fmt.Errorf("part of %s, not a function of its own", whole)
	}
	if rule, ok := w.unwind.FrameAt(f.symbol.Addr); ok && !rule.Entered(p.Image.Processor.Machine()) {
		return errors.New("begins with the stack in use: not a function of its own")
	}
	if err := w.add(f.symbol.Addr, f.symbol.Size); err != nil {
		return err
	}
	// Parts first: what leads up to an indirect jump may be in any of them.
	for _, indirect := range []bool{false, true} {
		for i := 0; i < len(w.parts); i++ {
			if err := w.leave(i, indirect); err != nil {
				return err
			}
		}
	}
	slices.Sort(f.Tails)
	slices.Sort(f.CondTails)
	for _, c := range w.cross {
		p := w.partAt(c.to)
		if p == nil || !p.boundary[c.to-p.addr] {
			return middle(w.offset(c.from), w.offset(c.to))
		}
		f.landings = append(f.landings, w.offset(c.to))
		if c.to == f.symbol.Addr {
			f.restarts = true
		}
	}
	f.parts, f.boundary = w.parts, w.parts[0].boundary
	return nil
}

// coldPart is what GCC (and LLVM's function splitter, and BOLT) append to the name of a
// function for the part of it that is hardly ever executed.
var coldPart = regexp.MustCompile(`\.cold(\.[0-9]+)?$`)

// partOf tells whether a symbol is such a part, and of which function.
func (w *flow) partOf(f Symbol) (whole string, cold bool) {
	whole = coldPart.ReplaceAllString(f.Name, "")
	if whole == f.Name {
		return "", false
	}
	if w.Symbols.Named(whole) {
		return whole, true
	}
	rule, ok := w.unwind.FrameAt(f.Addr)
	return whole, ok && !rule.Entered(w.Image.Processor.Machine())
}

const maxParts = 64 // more is no compiler's work

// add decodes another part.
func (w *flow) add(addr, size uint64) error {
	if len(w.parts) == maxParts {
		return fmt.Errorf("in more than %d parts", maxParts)
	}
	code, err := w.Image.Code(w.fn.symbol.Name, addr, size)
	if err != nil {
		return err
	}
	s, err := decode(w.Image.Processor, code)
	if err != nil {
		return err
	}
	switch s.last.Kind {
	case arch.Other, arch.CondJump, arch.IndirectCall:
		return errors.New("execution runs on past its end")
	}
	for _, at := range s.returns {
		w.fn.Returns = append(w.fn.Returns, w.offset(addr+uint64(at)))
	}
	for _, j := range s.inner {
		w.fn.landings = append(w.fn.landings, w.offset(addr+uint64(j.to)))
	}
	w.fn.restarts = w.fn.restarts || s.restarts && len(w.parts) == 0
	w.parts = append(w.parts, part{addr, code, s})
	return nil
}

// offset is an address as distance from the function's start.
func (w *flow) offset(addr uint64) int { return int(addr - w.fn.symbol.Addr) }

func (w *flow) partAt(addr uint64) *part { return partAt(w.parts, addr) }

func partAt(parts []part, addr uint64) *part {
	for i := range parts {
		if p := &parts[i]; addr >= p.addr && addr-p.addr < uint64(len(p.code)) {
			return p
		}
	}
	return nil
}

// leave looks at each jump out of a part, either the direct or the indirect ones.
func (w *flow) leave(i int, indirect bool) error {
	p := w.parts[i] // direct adds parts
	for _, j := range p.jumps {
		if indirect != j.in.Kind.Indirect() {
			continue
		}
		at := p.addr + uint64(j.at)
		var inside bool
		var err error
		if indirect {
			inside, err = w.indirect(at)
		} else {
			inside, err = w.direct(at, p.addr+uint64(j.to))
		}
		switch {
		case err != nil:
			return fmt.Errorf("jump at %+#x %w", w.offset(at), err)
		case inside:
			w.fn.switches = w.fn.switches || indirect
		case j.in.Kind != arch.CondJump:
			w.fn.Tails = append(w.fn.Tails, w.offset(at))
		case j.in.Cond == arch.NoCond: // jrcxz, loop
			return fmt.Errorf("leaves by a jump at %+#x that depends on a register", w.offset(at))
		default:
			w.fn.CondTails = append(w.fn.CondTails, w.offset(at))
		}
	}
	return nil
}

// errSwitchOrTail: a breakpoint that ends calls must not be put on a jump which
// may stay inside the function.
var errSwitchOrTail = errors.New("goes through a register, and may be a switch or a tail call")

// indirect tells whether an indirect jump stays inside. With the stack in use it can only be a
// switch.
func (w *flow) indirect(at uint64) (inside bool, err error) {
	if !w.mayHaveLeft(at) {
		return true, nil
	}
	inside, ok := w.Image.Processor.Leads(at, w)
	if !ok {
		return false, errSwitchOrTail
	}
	return inside, nil
}
