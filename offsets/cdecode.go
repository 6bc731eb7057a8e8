package offsets

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/offsets/internal/debug"
)

// cDecoder decodes a function with the System V ABI. C compilers generate code that Go's compiler does not: a
// function may have parts elsewhere in the file (GCC's NAME.cold), leave by a conditional jump, and use indirect
// jumps both for switches and for tail calls.
type cDecoder struct {
	code       *funcCode // the result
	binary     *Binary
	crossJumps [][2]uint64 // from and to addresses of jumps between parts, which decode checks at the end
}

// decode decodes the function with all its parts, and finds the jumps that leave it.
func (w *cDecoder) decode() error {
	f := w.code.fn
	if whole, cold := w.coldPartOf(f); cold {
		return fmt.Errorf("part of %s, not a function of its own", whole)
	}
	if !w.spMayBeAtEntry(f.Addr) {
		return errors.New("begins with the stack in use: not a function of its own")
	}
	if err := w.addPart(f.Addr, f.Size); err != nil {
		return err
	}
	// Classify direct jumps first, because they add parts, and any part may have the code that leads to an indirect jump.
	for _, indirect := range []bool{false, true} {
		for i := 0; i < len(w.code.parts); i++ {
			if err := w.classifyJumps(i, indirect); err != nil {
				return err
			}
		}
	}
	slices.Sort(w.code.tails)
	slices.Sort(w.code.condTails)
	for _, j := range w.crossJumps {
		p, to := w.code.partAt(j[1]), w.code.offsetOf(j[1])
		if p == nil || !p.boundary[j[1]-p.addr] {
			return middleError(w.code.offsetOf(j[0]), to)
		}
		w.code.jumpTargets = append(w.code.jumpTargets, to)
	}
	return nil
}

// maxParts is above the number of parts that compilers split a function into.
const maxParts = 64

// addPart reads and decodes a part.
func (w *cDecoder) addPart(addr, size uint64) error {
	if len(w.code.parts) == maxParts {
		return fmt.Errorf("in more than %d parts", maxParts)
	}
	p, err := w.binary.readPart(w.code.fn.Name, addr, size)
	if err != nil {
		return err
	}
	if err := w.code.addPart(p); err != nil {
		return err
	}
	switch w.code.parts[len(w.code.parts)-1].last.Kind {
	case arch.Other, arch.Literal, arch.CondJump, arch.IndirectCall:
		return errors.New("execution runs on past its end")
	}
	return nil
}

// coldPart matches the suffix that GCC, LLVM's function splitter and BOLT append to the name of a function for its
// rarely executed part.
var coldPart = regexp.MustCompile(`\.cold(\.[0-9]+)?$`)

// coldPartOf reports whether a symbol is the cold part of a function, and returns the name of that function.
func (w *cDecoder) coldPartOf(f *Func) (whole string, cold bool) {
	whole = coldPart.ReplaceAllString(f.Name, "")
	if whole == f.Name {
		return "", false
	}
	if _, ok := w.binary.Lookup(whole); ok {
		return whole, true
	}
	return whole, !w.spMayBeAtEntry(f.Addr)
}

// classifyJumps classifies the direct jumps out of part i, or its indirect jumps if indirect is true.
func (w *cDecoder) classifyJumps(i int, indirect bool) error {
	c, p := w.code, w.code.parts[i] // a copy, because directStays appends to parts
	for _, j := range p.jumps {
		if j.inside || indirect != j.in.Kind.Indirect() {
			continue
		}
		addr := p.addr + uint64(j.at)
		at := c.offsetOf(addr)
		var inside bool
		var err error
		if indirect {
			inside, err = w.indirectStays(addr)
		} else {
			inside, err = w.directStays(addr, p.addr+uint64(j.to))
		}
		switch {
		case err != nil:
			return fmt.Errorf("jump at %+#x %w", at, err)
		case inside:
			c.hasSwitch = c.hasSwitch || indirect
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

// indirectStays reports whether an indirect jump stays inside the function. If SP differs from its value at entry, the
// jump must be a switch. It returns an error in doubt, because a breakpoint that ends calls must not be on a jump
// that may stay inside.
func (w *cDecoder) indirectStays(at uint64) (inside bool, err error) {
	if !w.spMayBeAtEntry(at) {
		return true, nil
	}
	inside, ok := w.code.processor.Leads(at, w)
	if !ok {
		return false, errors.New("goes through a register, and may be a switch or a tail call")
	}
	return inside, nil
}

// directStays reports whether a direct jump stays inside the function. If the target is in a part that the function does not
// have yet, it adds this part.
func (w *cDecoder) directStays(from, to uint64) (inside bool, err error) {
	if w.code.partAt(to) != nil {
		w.crossJumps = append(w.crossJumps, [2]uint64{from, to})
		return true, nil
	}
	if target, ok := w.binary.FuncAt(to); ok {
		_, cold := w.coldPartOf(target)
		switch {
		case cold:
			return w.addTarget(from, to, target.Addr, target.Size)
		case to != target.Addr:
			return false, fmt.Errorf("leads into the middle of %s", target.Name)
		case !w.spMayBeAtEntry(from):
			return false, fmt.Errorf("leads to %s with the stack in use", target.Name)
		}
		return false, nil
	}
	// The target has no symbol: it is a function that is not exported, or a part of this function in a stripped file.
	if w.binary.image.InPLT(to) || w.binary.image.BeginsInitFini(to) && w.spMayBeAtEntry(from) {
		return false, nil
	}
	e, ok := w.binary.unwind().At(to)
	if !ok {
		return false, errors.New("leads to code without a symbol or unwind information")
	}
	if to == e.Addr && w.spMayBeAtEntry(from) {
		if entered, _ := w.spAtEntry(to); entered && !w.jumpsBack(e) {
			return false, nil
		}
	}
	if next, ok := w.binary.funcFrom(e.Addr); ok && next.Addr < e.Addr+e.Size {
		return false, fmt.Errorf("leads into the middle of code around %s", next.Name)
	}
	return w.addTarget(from, to, e.Addr, e.Size)
}

// addTarget adds the part that contains the target of a jump.
func (w *cDecoder) addTarget(from, to, addr, size uint64) (inside bool, err error) {
	w.crossJumps = append(w.crossJumps, [2]uint64{from, to})
	if err := w.addPart(addr, size); err != nil {
		return false, fmt.Errorf("leads to a part of the function at %+#x: %w", w.code.offsetOf(addr), err)
	}
	return true, nil
}

// spAtEntry reports whether SP at an instruction equals SP at the start of the function. known is false without unwind
// information.
func (w *cDecoder) spAtEntry(at uint64) (entered, known bool) {
	rule, known := w.binary.unwind().FrameAt(at)
	return known && rule.Entered(w.code.processor.Machine()), known
}

// spMayBeAtEntry reports whether SP at an instruction may equal SP at the start of the function. Only then can a jump
// be a tail call.
func (w *cDecoder) spMayBeAtEntry(at uint64) bool {
	entered, known := w.spAtEntry(at)
	return entered || !known
}

// jumpsBack reports whether the code of e jumps into the function, other than to its start.
func (w *cDecoder) jumpsBack(e *debug.UnwindEntry) bool {
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

// These methods implement [arch.Way] for the function's indirect jumps.

func (w *cDecoder) Start() uint64 { return w.code.fn.Addr }

func (w *cDecoder) Code(at uint64) []byte {
	p := w.code.partAt(at)
	return p.code[at-p.addr:]
}

func (w *cDecoder) Pointer(at uint64) (uint64, bool) { return w.binary.image.LocalPointer(at) }

func (w *cDecoder) Inside(addr uint64) (inside, ok bool) {
	if w.code.partAt(addr) != nil && addr != w.code.fn.Addr {
		return true, true
	}
	if f, ok := w.binary.FuncAt(addr); ok && f.Addr == addr || w.binary.image.InPLT(addr) {
		return false, true
	}
	e, ok := w.binary.unwind().At(addr)
	return false, ok && e.Addr == addr
}

// Above returns the previous instruction in the same part.
func (w *cDecoder) Above(at uint64) (uint64, bool) {
	p := w.code.partAt(at)
	for n := int(at-p.addr) - 1; n >= 0; n-- {
		if p.boundary[n] {
			return p.addr + uint64(n), true
		}
	}
	return 0, false
}

// Before returns the instructions that may be executed immediately before an instruction. If neither the instruction above
// nor a direct jump leads to it, Before returns all indirect jumps, unless it is the first instruction of the function.
func (w *cDecoder) Before(at uint64) (before []uint64) {
	if above, ok := w.Above(at); ok && w.fallsThrough(above) && !w.isPadding(above) {
		before = append(before, above)
	}
	before = append(before, w.jumpsTo(at)...)
	if len(before) > 0 || at == w.code.fn.Addr {
		return before
	}
	return w.jumpsWhere(func(p *part, j jump) bool { return j.in.Kind.Indirect() })
}

// jumpsTo returns the direct jumps to an instruction.
func (w *cDecoder) jumpsTo(at uint64) []uint64 {
	return w.jumpsWhere(func(p *part, j jump) bool { return !j.in.Kind.Indirect() && p.addr+uint64(j.to) == at })
}

// jumpsWhere returns the addresses of the jumps for which match returns true.
func (w *cDecoder) jumpsWhere(match func(p *part, j jump) bool) (from []uint64) {
	for i := range w.code.parts {
		p := &w.code.parts[i]
		for _, j := range p.jumps {
			if match(p, j) {
				from = append(from, p.addr+uint64(j.at))
			}
		}
	}
	return from
}

// instruction decodes an instruction of the function. It ignores errors, because decode has decoded all instructions before.
func (w *cDecoder) instruction(at uint64) arch.Inst {
	in, _ := w.code.processor.Decode(w.Code(at))
	return in
}

// fallsThrough reports whether execution may continue with the next instruction.
func (w *cDecoder) fallsThrough(at uint64) bool {
	kind := w.instruction(at).Kind
	return kind != arch.Jump && !kind.Indirect() && kind != arch.Return && kind != arch.Trap
}

// isPadding reports whether an instruction is an unreachable nop. Compilers put such nops after jumps to align the next
// instruction.
func (w *cDecoder) isPadding(at uint64) bool {
	for w.instruction(at).Kind == arch.Nop && len(w.jumpsTo(at)) == 0 {
		above, ok := w.Above(at)
		if !ok || !w.fallsThrough(above) {
			return ok
		}
		at = above
	}
	return false
}
