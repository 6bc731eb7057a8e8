package offsets

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/offsets/internal/debug"
)

// way follows one function of the System V ABI, whose compilers are freer than Go's: a
// function may have parts elsewhere in the file (GCC's NAME.cold), leave by
// a conditional jump, and jump through registers both for a switch and for a call.
type way struct {
	code   *decoded // what is found
	binary *Binary
	cross  [][2]uint64 // jumps from one part to an address that must turn out to be in another
}

// follow decodes the function, and finds all its parts and where they are left.
func (w *way) follow() error {
	f := w.code.fn
	if whole, cold := w.partOf(f); cold {
		return fmt.Errorf("part of %s, not a function of its own", whole)
	}
	if !w.mayHaveLeft(f.Addr) {
		return errors.New("begins with the stack in use: not a function of its own")
	}
	if err := w.addPart(f.Addr, f.Size); err != nil {
		return err
	}
	// Parts first: what leads up to an indirect jump may be in any of them.
	for _, indirect := range []bool{false, true} {
		for i := 0; i < len(w.code.parts); i++ {
			if err := w.leave(i, indirect); err != nil {
				return err
			}
		}
	}
	slices.Sort(w.code.tails)
	slices.Sort(w.code.condTails)
	for _, cross := range w.cross {
		p, to := w.code.partAt(cross[1]), w.code.offsetOf(cross[1])
		if p == nil || !p.boundary[cross[1]-p.addr] {
			return middle(w.code.offsetOf(cross[0]), to)
		}
		w.code.landings = append(w.code.landings, to)
	}
	return nil
}

const maxParts = 64 // more is no compiler's work

// addPart reads and decodes another part.
func (w *way) addPart(addr, size uint64) error {
	if len(w.code.parts) == maxParts {
		return fmt.Errorf("in more than %d parts", maxParts)
	}
	p, err := w.binary.readPart(w.code.fn.Name, addr, size)
	if err != nil {
		return err
	}
	if err := w.code.add(p); err != nil {
		return err
	}
	switch w.code.parts[len(w.code.parts)-1].last.Kind {
	case arch.Other, arch.Literal, arch.CondJump, arch.IndirectCall:
		return errors.New("execution runs on past its end")
	}
	return nil
}

// coldPart is what GCC (and LLVM's function splitter, and BOLT) append to the name of a
// function for the part of it that is hardly ever executed.
var coldPart = regexp.MustCompile(`\.cold(\.[0-9]+)?$`)

// partOf tells whether a symbol is such a part, and of which function.
func (w *way) partOf(f *Func) (whole string, cold bool) {
	whole = coldPart.ReplaceAllString(f.Name, "")
	if whole == f.Name {
		return "", false
	}
	if _, ok := w.binary.Lookup(whole); ok {
		return whole, true
	}
	return whole, !w.mayHaveLeft(f.Addr)
}

// leave looks at each jump out of a part, either the direct or the indirect ones.
func (w *way) leave(i int, indirect bool) error {
	c, p := w.code, w.code.parts[i] // direct adds parts
	for _, j := range p.jumps {
		if j.inside || indirect != j.in.Kind.Indirect() {
			continue
		}
		addr := p.addr + uint64(j.at)
		at := c.offsetOf(addr)
		var inside bool
		var err error
		if indirect {
			inside, err = w.indirect(addr)
		} else {
			inside, err = w.direct(addr, p.addr+uint64(j.to))
		}
		switch {
		case err != nil:
			return fmt.Errorf("jump at %+#x %w", at, err)
		case inside:
			c.switches = c.switches || indirect
		case j.in.Kind != arch.CondJump:
			c.tails = append(c.tails, at)
		case j.in.Cond == arch.NoCond: // jrcxz, loop
			return fmt.Errorf("leaves by a jump at %+#x that depends on a register", at)
		default:
			c.condTails = append(c.condTails, at)
		}
	}
	return nil
}

// indirect tells whether an indirect jump stays inside. With the stack in use it can only be a
// switch. A breakpoint that ends calls must not be put on a jump which may stay inside.
func (w *way) indirect(at uint64) (inside bool, err error) {
	if !w.mayHaveLeft(at) {
		return true, nil
	}
	inside, ok := w.code.processor.Leads(at, w)
	if !ok {
		return false, errors.New("goes through a register, and may be a switch or a tail call")
	}
	return inside, nil
}

// direct tells whether a direct jump stays inside. A part of the function that is not known
// yet is added.
func (w *way) direct(from, to uint64) (inside bool, err error) {
	if w.code.partAt(to) != nil {
		w.cross = append(w.cross, [2]uint64{from, to})
		return true, nil
	}
	if target, ok := w.binary.FuncAt(to); ok {
		_, cold := w.partOf(target)
		switch {
		case cold:
			return w.extend(from, to, target.Addr, target.Size)
		case to != target.Addr:
			return false, fmt.Errorf("leads into the middle of %s", target.Name)
		case !w.mayHaveLeft(from):
			return false, fmt.Errorf("leads to %s with the stack in use", target.Name)
		}
		return false, nil
	}
	// No symbol: a function that is not exported, or a part of this one, in a stripped file.
	if w.binary.image.InPLT(to) || w.binary.image.BeginsInitFini(to) && w.mayHaveLeft(from) {
		return false, nil
	}
	e, ok := w.binary.unwind().At(to)
	if !ok {
		return false, errors.New("leads to code of which nothing is known")
	}
	if to == e.Addr && w.mayHaveLeft(from) {
		if entered, _ := w.entered(to); entered && !w.comesBack(e) {
			return false, nil
		}
	}
	if next, ok := w.binary.funcFrom(e.Addr); ok && next.Addr < e.Addr+e.Size {
		return false, fmt.Errorf("leads into the middle of code around %s", next.Name)
	}
	return w.extend(from, to, e.Addr, e.Size)
}

// extend adds a part that a jump leads to.
func (w *way) extend(from, to, addr, size uint64) (inside bool, err error) {
	w.cross = append(w.cross, [2]uint64{from, to})
	if err := w.addPart(addr, size); err != nil {
		return false, fmt.Errorf("leads to a part of the function at %+#x: %w", w.code.offsetOf(addr), err)
	}
	return true, nil
}

// entered tells whether SP is where it was at the start of a function, if that is known.
func (w *way) entered(at uint64) (entered, known bool) {
	rule, known := w.binary.unwind().FrameAt(at)
	return known && rule.Entered(w.code.processor.Machine()), known
}

// mayHaveLeft reports whether SP may be where it was at the start: only then can a
// jump be a tail call.
func (w *way) mayHaveLeft(at uint64) bool {
	entered, known := w.entered(at)
	return entered || !known
}

// comesBack reports whether code jumps into the function, other than to its start.
func (w *way) comesBack(e *debug.UnwindEntry) bool {
	code, err := w.binary.image.Code(w.code.fn.Name, e.Addr, e.Size)
	other := part{code: code}
	if err != nil || other.decode(w.code.processor) != nil {
		return false
	}
	return slices.ContainsFunc(other.jumps, func(j jump) bool {
		to := e.Addr + uint64(j.to)
		return !j.inside && !j.in.Kind.Indirect() && to != w.code.fn.Addr && w.code.partAt(to) != nil
	})
}

// A way is the [arch.Way] of its jumps.

func (w *way) Start() uint64 { return w.code.fn.Addr }

func (w *way) Code(at uint64) []byte {
	p := w.code.partAt(at)
	return p.code[at-p.addr:]
}

func (w *way) Pointer(at uint64) (uint64, bool) { return w.binary.image.OwnPointer(at) }

func (w *way) Inside(addr uint64) (inside, ok bool) {
	if w.code.partAt(addr) != nil && addr != w.code.fn.Addr {
		return true, true
	}
	if f, ok := w.binary.FuncAt(addr); ok && f.Addr == addr || w.binary.image.InPLT(addr) {
		return false, true
	}
	e, ok := w.binary.unwind().At(addr)
	return false, ok && e.Addr == addr
}

// Above returns the instruction that lies before one.
func (w *way) Above(at uint64) (uint64, bool) {
	p := w.code.partAt(at)
	for n := int(at-p.addr) - 1; n >= 0; n-- {
		if p.boundary[n] {
			return p.addr + uint64(n), true
		}
	}
	return 0, false
}

// Before returns the instructions that may be executed right before one. What nothing
// else leads to is where a switch leads.
func (w *way) Before(at uint64) (before []uint64) {
	if above, ok := w.Above(at); ok && w.goesOn(above) && !w.isPadding(above) {
		before = append(before, above)
	}
	before = append(before, w.jumpsTo(at)...)
	if len(before) > 0 || at == w.code.fn.Addr {
		return before
	}
	return w.jumps(func(p *part, j jump) bool { return j.in.Kind.Indirect() })
}

// jumpsTo returns the direct jumps that lead to an instruction.
func (w *way) jumpsTo(at uint64) []uint64 {
	return w.jumps(func(p *part, j jump) bool { return !j.in.Kind.Indirect() && p.addr+uint64(j.to) == at })
}

// jumps returns those of which something is so.
func (w *way) jumps(is func(p *part, j jump) bool) (from []uint64) {
	for i := range w.code.parts {
		p := &w.code.parts[i]
		for _, j := range p.jumps {
			if is(p, j) {
				from = append(from, p.addr+uint64(j.at))
			}
		}
	}
	return from
}

// instruction decodes one of the function's, all of which have been decoded before.
func (w *way) instruction(at uint64) arch.Inst {
	in, _ := w.code.processor.Decode(w.Code(at))
	return in
}

// goesOn reports whether the next instruction may be executed after this one.
func (w *way) goesOn(at uint64) bool {
	kind := w.instruction(at).Kind
	return kind != arch.Jump && !kind.Indirect() && kind != arch.Return && kind != arch.Trap
}

// isPadding reports whether an instruction does nothing and is never reached:
// compilers put such behind a jump to align what follows.
func (w *way) isPadding(at uint64) bool {
	for w.instruction(at).Kind == arch.Nop && len(w.jumpsTo(at)) == 0 {
		above, ok := w.Above(at)
		if !ok || !w.goesOn(above) {
			return ok
		}
		at = above
	}
	return false
}
