package offsets

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/offsets/internal/debug"
)

// decodeC decodes a function with the System V ABI with all its parts, and finds the jumps that leave it. C compilers generate
// code that Go's compiler does not: a function may have parts elsewhere in the file (GCC's NAME.cold), leave by a conditional
// jump, and use indirect jumps both for switches and for tail calls.
func (d *decoder) decodeC() error {
	f := d.fn
	if whole, cold := d.coldPartOf(f); cold {
		return fmt.Errorf("part of %s, not a function of its own", whole)
	}
	if !d.spMayBeAtEntry(f.Addr) {
		return errors.New("begins with the stack in use: not a function of its own")
	}
	if err := d.addPart(f.Addr, f.Size); err != nil {
		return err
	}
	// Classify direct jumps first, because they add parts, and any part may have the code that leads to an indirect jump.
	for _, indirect := range []bool{false, true} {
		for i := 0; i < len(d.parts); i++ {
			if err := d.classifyJumps(i, indirect); err != nil {
				return err
			}
		}
	}
	slices.Sort(d.tails)
	slices.Sort(d.condTails)
	for _, j := range d.crossJumps {
		p, to := d.partAt(j[1]), d.offsetOf(j[1])
		if p == nil || !p.boundary[j[1]-p.addr] {
			return middleError(d.offsetOf(j[0]), to)
		}
		d.jumpTargets = append(d.jumpTargets, to)
	}
	return nil
}

// coldPart matches the suffix that GCC, LLVM's function splitter and BOLT append to the name of a function for its
// rarely executed part.
var coldPart = regexp.MustCompile(`\.cold(\.[0-9]+)?$`)

// coldPartOf reports whether a symbol is the cold part of a function, and returns the name of that function.
func (d *decoder) coldPartOf(f *Func) (whole string, cold bool) {
	whole = coldPart.ReplaceAllString(f.Name, "")
	if whole == f.Name {
		return "", false
	}
	if _, ok := d.binary.Lookup(whole); ok {
		return whole, true
	}
	return whole, !d.spMayBeAtEntry(f.Addr)
}

// classifyJumps classifies the direct jumps out of part i, or its indirect jumps if indirect is true.
func (d *decoder) classifyJumps(i int, indirect bool) error {
	p := d.parts[i] // a copy, because directStays appends to parts
	for _, j := range p.jumps {
		if j.inside || indirect != j.in.Kind.Indirect() {
			continue
		}
		addr := p.addr + uint64(j.at)
		at := d.offsetOf(addr)
		var inside bool
		var err error
		if indirect {
			inside, err = d.indirectStays(addr)
		} else {
			inside, err = d.directStays(addr, p.addr+uint64(j.to))
		}
		switch {
		case err != nil:
			return fmt.Errorf("jump at %+#x %w", at, err)
		case inside:
			d.hasSwitch = d.hasSwitch || indirect
		case j.in.Kind != arch.CondJump:
			d.tails = append(d.tails, at)
		case j.in.Cond == arch.NoCond: // jrcxz, loop
			return fmt.Errorf("leaves by a jump at %+#x that depends on a register", at)
		default:
			d.condTails = append(d.condTails, at)
		}
	}
	return nil
}

// indirectStays reports whether an indirect jump stays inside the function. If SP differs from its value at entry, the
// jump must be a switch. It returns an error in doubt, because a breakpoint that ends calls must not be on a jump
// that may stay inside.
func (d *decoder) indirectStays(at uint64) (inside bool, err error) {
	if !d.spMayBeAtEntry(at) {
		return true, nil
	}
	inside, ok := d.processor.Leads(at, d)
	if !ok {
		return false, errors.New("goes through a register, and may be a switch or a tail call")
	}
	return inside, nil
}

// directStays reports whether a direct jump stays inside the function. If the target is in a part that the function does not
// have yet, it adds this part.
func (d *decoder) directStays(from, to uint64) (inside bool, err error) {
	if d.partAt(to) != nil {
		d.crossJumps = append(d.crossJumps, [2]uint64{from, to})
		return true, nil
	}
	if target, ok := d.binary.FuncAt(to); ok {
		_, cold := d.coldPartOf(target)
		switch {
		case cold:
			return d.addTarget(from, to, target.Addr, target.Size)
		case to != target.Addr:
			return false, fmt.Errorf("leads into the middle of %s", target.Name)
		case !d.spMayBeAtEntry(from):
			return false, fmt.Errorf("leads to %s with the stack in use", target.Name)
		}
		return false, nil
	}
	// The target has no symbol: it is a function that is not exported, or a part of this function in a stripped file.
	if d.binary.image.InPLT(to) || d.binary.image.BeginsInitFini(to) && d.spMayBeAtEntry(from) {
		return false, nil
	}
	e, ok := d.binary.unwind().At(to)
	if !ok {
		return false, errors.New("leads to code without a symbol or unwind information")
	}
	if to == e.Addr && d.spMayBeAtEntry(from) {
		if entered, _ := d.spAtEntry(to); entered && !d.jumpsBack(e) {
			return false, nil
		}
	}
	if next, ok := d.binary.funcFrom(e.Addr); ok && next.Addr < e.Addr+e.Size {
		return false, fmt.Errorf("leads into the middle of code around %s", next.Name)
	}
	return d.addTarget(from, to, e.Addr, e.Size)
}

// addTarget adds the part that contains the target of a jump.
func (d *decoder) addTarget(from, to, addr, size uint64) (inside bool, err error) {
	d.crossJumps = append(d.crossJumps, [2]uint64{from, to})
	if err := d.addPart(addr, size); err != nil {
		return false, fmt.Errorf("leads to a part of the function at %+#x: %w", d.offsetOf(addr), err)
	}
	return true, nil
}

// spAtEntry reports whether SP at an instruction equals SP at the start of the function. known is false without unwind
// information.
func (d *decoder) spAtEntry(at uint64) (entered, known bool) {
	rule, known := d.binary.unwind().FrameAt(at)
	return known && rule.Entered(d.processor.Machine()), known
}

// spMayBeAtEntry reports whether SP at an instruction may equal SP at the start of the function. Only then can a jump
// be a tail call.
func (d *decoder) spMayBeAtEntry(at uint64) bool {
	entered, known := d.spAtEntry(at)
	return entered || !known
}

// jumpsBack reports whether the code of e jumps into the function, other than to its start.
func (d *decoder) jumpsBack(e *debug.UnwindEntry) bool {
	code, err := d.binary.image.Code(d.fn.Name, e.Addr, e.Size)
	other := part{code: code}
	if err != nil || other.decode(d.processor) != nil {
		return false
	}
	return slices.ContainsFunc(other.jumps, func(j jump) bool {
		to := e.Addr + uint64(j.to)
		return !j.inside && !j.in.Kind.Indirect() && to != d.fn.Addr && d.partAt(to) != nil
	})
}

// These methods implement [arch.Way] for the function's indirect jumps.

func (d *decoder) Start() uint64 { return d.fn.Addr }

func (d *decoder) Code(at uint64) []byte {
	p := d.partAt(at)
	return p.code[at-p.addr:]
}

func (d *decoder) Pointer(at uint64) (uint64, bool) { return d.binary.image.LocalPointer(at) }

func (d *decoder) Inside(addr uint64) (inside, ok bool) {
	if d.partAt(addr) != nil && addr != d.fn.Addr {
		return true, true
	}
	if f, ok := d.binary.FuncAt(addr); ok && f.Addr == addr || d.binary.image.InPLT(addr) {
		return false, true
	}
	e, ok := d.binary.unwind().At(addr)
	return false, ok && e.Addr == addr
}

// Above returns the previous instruction in the same part.
func (d *decoder) Above(at uint64) (uint64, bool) {
	p := d.partAt(at)
	for n := int(at-p.addr) - 1; n >= 0; n-- {
		if p.boundary[n] {
			return p.addr + uint64(n), true
		}
	}
	return 0, false
}

// Before returns the instructions that may be executed immediately before an instruction. If neither the instruction above
// nor a direct jump leads to it, Before returns all indirect jumps, unless it is the first instruction of the function.
func (d *decoder) Before(at uint64) (before []uint64) {
	if above, ok := d.Above(at); ok && d.fallsThrough(above) && !d.isPadding(above) {
		before = append(before, above)
	}
	before = append(before, d.jumpsTo(at)...)
	if len(before) > 0 || at == d.fn.Addr {
		return before
	}
	return d.jumpsWhere(func(p *part, j jump) bool { return j.in.Kind.Indirect() })
}

// jumpsTo returns the direct jumps to an instruction.
func (d *decoder) jumpsTo(at uint64) []uint64 {
	return d.jumpsWhere(func(p *part, j jump) bool { return !j.in.Kind.Indirect() && p.addr+uint64(j.to) == at })
}

// jumpsWhere returns the addresses of the jumps for which match returns true.
func (d *decoder) jumpsWhere(match func(p *part, j jump) bool) (from []uint64) {
	for i := range d.parts {
		p := &d.parts[i]
		for _, j := range p.jumps {
			if match(p, j) {
				from = append(from, p.addr+uint64(j.at))
			}
		}
	}
	return from
}

// instruction decodes an instruction of the function. It ignores errors, because decode has decoded all instructions before.
func (d *decoder) instruction(at uint64) arch.Inst {
	in, _ := d.processor.Decode(d.Code(at))
	return in
}

// fallsThrough reports whether execution may continue with the next instruction.
func (d *decoder) fallsThrough(at uint64) bool {
	kind := d.instruction(at).Kind
	return kind != arch.Jump && !kind.Indirect() && kind != arch.Return && kind != arch.Trap
}

// isPadding reports whether an instruction is an unreachable nop. Compilers put such nops after jumps to align the next
// instruction.
func (d *decoder) isPadding(at uint64) bool {
	for d.instruction(at).Kind == arch.Nop && len(d.jumpsTo(at)) == 0 {
		above, ok := d.Above(at)
		if !ok || !d.fallsThrough(above) {
			return ok
		}
		at = above
	}
	return false
}
