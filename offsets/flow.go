package offsets

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
	binary *Binary
	fn     *Func
	unwind debug.Unwind
	parts  []part // the function itself is the first
	body   body
	cross  []crossing
}

// part is one of the pieces of a function.
type part struct {
	addr uint64
	code []byte
	*stretch
}

// crossing is a jump from one part to an address that must turn out to be in another.
type crossing struct{ from, to uint64 }

// follow finds all parts of a function and where they are left.
func (b *Binary) follow(f *Func) (*body, error) {
	w := &flow{binary: b, fn: f, unwind: b.unwind()}
	if whole, cold := w.partOf(f); cold {
		return nil, fmt.Errorf("part of %s, not a function of its own", whole)
	}
	if rule, ok := w.unwind.FrameAt(f.Addr); ok && !rule.Entered(w.binary.image.Processor.Machine()) {
		return nil, errors.New("begins with the stack in use: not a function of its own")
	}
	if err := w.add(f.Addr, f.Size); err != nil {
		return nil, err
	}
	// Parts first: what leads up to an indirect jump may be in any of them.
	for _, indirect := range []bool{false, true} {
		for i := 0; i < len(w.parts); i++ {
			if err := w.leave(i, indirect); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(w.body.tails)
	slices.Sort(w.body.condTails)
	for _, c := range w.cross {
		p := w.partAt(c.to)
		if p == nil || !p.boundary[c.to-p.addr] {
			return nil, middle(w.offset(c.from), w.offset(c.to))
		}
		w.body.landings = append(w.body.landings, w.offset(c.to))
		if c.to == f.Addr {
			w.body.restarts = true
		}
	}
	w.body.parts, w.body.boundary = w.parts, w.parts[0].boundary
	return &w.body, nil
}

// coldPart is what GCC (and LLVM's function splitter, and BOLT) append to the name of a
// function for the part of it that is hardly ever executed.
var coldPart = regexp.MustCompile(`\.cold(\.[0-9]+)?$`)

// partOf tells whether a symbol is such a part, and of which function.
func (w *flow) partOf(f *Func) (whole string, cold bool) {
	whole = coldPart.ReplaceAllString(f.Name, "")
	if whole == f.Name {
		return "", false
	}
	if _, ok := w.binary.Lookup(whole); ok {
		return whole, true
	}
	rule, ok := w.unwind.FrameAt(f.Addr)
	return whole, ok && !rule.Entered(w.binary.image.Processor.Machine())
}

const maxParts = 64 // more is no compiler's work

// add decodes another part.
func (w *flow) add(addr, size uint64) error {
	if len(w.parts) == maxParts {
		return fmt.Errorf("in more than %d parts", maxParts)
	}
	code, err := w.binary.Code(&Func{Name: w.fn.Name, Addr: addr, Size: size})
	if err != nil {
		return err
	}
	s, err := decode(w.binary.image.Processor, code)
	if err != nil {
		return err
	}
	switch s.last.Kind {
	case arch.Other, arch.CondJump, arch.IndirectCall:
		return errors.New("execution runs on past its end")
	}
	for _, at := range s.returns {
		w.body.returns = append(w.body.returns, w.offset(addr+uint64(at)))
	}
	for _, j := range s.inner {
		w.body.landings = append(w.body.landings, w.offset(addr+uint64(j.to)))
	}
	w.body.restarts = w.body.restarts || s.restarts && len(w.parts) == 0
	w.parts = append(w.parts, part{addr, code, s})
	return nil
}

// offset is an address as distance from the function's start.
func (w *flow) offset(addr uint64) int { return int(addr - w.fn.Addr) }

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
		where := arch.Inside
		var err error
		if indirect {
			where, err = w.indirect(at)
		} else {
			where, err = w.direct(at, p.addr+uint64(j.to))
		}
		switch {
		case err != nil:
			return fmt.Errorf("jump at %+#x %w", w.offset(at), err)
		case where == arch.Inside:
			w.body.switches = w.body.switches || indirect
		case j.in.Kind != arch.CondJump:
			w.body.tails = append(w.body.tails, w.offset(at))
		case j.in.Cond == arch.NoCond: // jrcxz, loop
			return fmt.Errorf("leaves by a jump at %+#x that depends on a register", w.offset(at))
		default:
			w.body.condTails = append(w.body.condTails, w.offset(at))
		}
	}
	return nil
}

// errSwitchOrTail: a breakpoint that ends calls must not be put on a jump which
// may stay inside the function.
var errSwitchOrTail = errors.New("goes through a register, and may be a switch or a tail call")

// indirect tells where an indirect jump leads. With the stack in use it can only be a
// switch.
func (w *flow) indirect(at uint64) (arch.Destination, error) {
	if !w.mayHaveLeft(at) {
		return arch.Inside, nil
	}
	where, ok := w.binary.image.Processor.Leads(at, w)
	if !ok {
		return 0, errSwitchOrTail
	}
	return where, nil
}
