package offsets

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/ftgo/ftgo/internal/arch"
)

// Site is an instruction at which a probe is safe. Only decoding a whole function without any ambiguity creates a Site,
// because a breakpoint in the middle of an instruction or in data corrupts the program.
type Site struct {
	addr, offset uint64
	cost         arch.Cost
}

// Addr returns the instruction's virtual address in the file, without load bias.
func (s Site) Addr() uint64 { return s.addr }

// Offset returns the instruction's file offset.
func (s Site) Offset() uint64 { return s.offset }

// Cost returns the cost of a probe on the instruction to the target program.
func (s Site) Cost() arch.Cost { return s.cost }

// Sites are the instructions at which calls of a function begin and end.
type Sites struct {
	// Entry is executed exactly once per call, unless Restarts or CheckOnly is true. SP and the argument registers
	// are as the caller left them. Entry is the first instruction after the stack check, if the function has one:
	// when the check fails, the function starts over on a larger stack.
	Entry Site
	// Late means that instructions before Entry, which can't be probed or which are repeated after a preemption, may
	// have changed registers, including arguments. They do not change SP or the flow of control.
	Late bool
	// Check is the conditional jump of the stack check, or nil. It is executed once more for each failed check; the
	// flags say whether the check fails.
	Check *Site
	// CheckOnly means that a preempted goroutine may execute Entry again, so that only Check counts calls.
	CheckOnly bool
	// Branch is an alternative to Entry, a branch or a push, if the kernel emulates it but not Entry, else nil. It is
	// executed exactly once per call (unless Restarts is true), with SP, the frame pointer and g as they are at Entry. Only
	// functions without a stack check have a Branch. Branch may also be in Tails or CondTails.
	Branch *Site
	// Intact means that no instruction before Branch writes general registers or memory, so that arguments are the
	// same as at Entry.
	Intact bool
	// Returns are all RETs. Tails are the unconditional jumps that leave the function for good: the function at the
	// target returns to the caller.
	Returns, Tails []Site
	// CondTails are conditional jumps that leave the function. A hit ends the call if [arch.Processor].Taken returns
	// true for the flags.
	CondTails []Site
	// Restarts means that the function has no stack check and jumps back to its first instruction, so that a call may
	// execute Entry several times.
	Restarts bool
	// SplitStack means that the function may switch to another stack (GCC's -fsplit-stack, which gccgo uses). A
	// return is then executed on that stack, with an SP at which no call of the function began, followed by a second
	// return with the SP of the entry.
	SplitStack bool
}

// Sites decodes a function and returns the instructions at which its calls begin and end. The error says why it is unsafe to
// probe the function.
func (b *Binary) Sites(f *Func) (*Sites, error) {
	d, err := b.decode(f)
	if err != nil {
		return nil, err
	}
	whole, p, s := &d.parts[0], d.processor, &Sites{}
	entry, late, restarts := 0, false, slices.Contains(d.jumpTargets, 0)
	if d.fn.ABI == SystemV {
		s.Restarts, s.SplitStack = restarts, p.SplitsStack(whole.code)
	} else if check, ok := d.stackCheck(); !ok {
		s.Restarts = restarts
		entry, late = d.firstUnrepeated()
	} else {
		if !whole.boundary[check.Jump] || !whole.boundary[check.Post] {
			return nil, errors.New("stack check not on an instruction boundary")
		}
		entry = check.Post
		if jump, err := d.site(check.Jump); err == nil {
			jump.cost.Cond = p.Machine().Passed
			s.Check, s.CheckOnly = &jump, check.Repeats
		}
	}
	if s.Entry, s.Late, err = d.entrySite(entry); err != nil {
		return nil, err
	}
	if s.Late = s.Late || late; s.Check == nil && entry < len(whole.code) && s.Entry.cost.Stepped() {
		s.Branch, s.Intact = d.branchSite(entry)
	}
	add := func(to *[]Site, from int, ends []int) {
		*to = slices.Grow(*to, len(ends)) // malicious files may have very many ends
		for _, at := range ends {
			site, cause := d.site(from + at)
			err = cmp.Or(err, cause)
			*to = append(*to, site)
		}
	}
	for i := range d.parts {
		add(&s.Returns, d.offsetOf(d.parts[i].addr), d.parts[i].returns)
	}
	add(&s.Tails, 0, d.tails)
	add(&s.CondTails, 0, d.condTails)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// entrySite returns the first instruction at or after offset at that can be probed. It skips only instructions that
// some kernel can't probe and that continue with the next instruction, and returns an error if a jump leads to the
// instruction after a skipped one.
func (d *decoder) entrySite(at int) (s Site, late bool, err error) {
	code, first := d.parts[0].code, at
	for {
		s, err := d.site(at)
		if err == nil {
			return s, at != first, nil
		}
		refused, decodeErr := d.processor.Decode(code[at:])
		if decodeErr != nil || !d.processor.Cost(code, at).Passable {
			return s, false, err
		}
		at += refused.Len
		if at == len(code) || slices.Contains(d.jumpTargets, at) {
			return s, false, err
		}
	}
}

// firstUnrepeated returns the first instruction of a function without a stack check that is not executed again after a
// preemption. late is true if an instruction before it may have changed arguments.
func (d *decoder) firstUnrepeated() (at int, late bool) {
	code := d.parts[0].code
	for at, in := range arch.Instructions(d.processor, code) {
		e := d.processor.Effects(code[at:])
		if !e.Repeats || at+in.Len == len(code) || slices.Contains(d.jumpTargets, at+in.Len) {
			return at, late
		}
		late = late || !e.KeepsRegisters || !e.KeepsMemory
	}
	return 0, false
}

// branchSite returns the first instruction after offset entry that kernels emulate, if every call executes this instruction
// exactly once. This is the case if the code from the start of the function to this instruction has no jumps and no jump
// targets, and no instruction that could raise a signal, because a signal handler (as for a nil pointer) need not return.
// SP, the frame pointer and g are the same as at the start. intact reports whether all general registers and memory are also
// the same. (firstBranch has other conditions: SP may have changed, and memory may be written.)
func (d *decoder) branchSite(entry int) (branch *Site, intact bool) {
	code, p := d.parts[0].code, d.processor
	if d.hasSwitch {
		return nil, false // unknown jump targets
	}
	intact = true
	for at, in := range arch.Instructions(p, code) {
		if at > 0 && slices.Contains(d.jumpTargets, at) {
			break
		}
		e := p.Effects(code[at:])
		if !in.Kind.GoesOn() || at > entry && !e.Repeats && emulated(in.Kind, p.Cost(code, at)) {
			s, err := d.site(at)
			if err != nil || in.Kind == arch.Call || in.Kind == arch.IndirectCall || s.cost.Stepped() {
				break
			}
			return &s, intact
		}
		if !e.KeepsFrame {
			break
		}
		intact = intact && e.KeepsRegisters && e.KeepsMemory
	}
	return nil, false
}

// emulated reports whether some kernels emulate an instruction that continues with the next one. It returns false for
// a nop that all kernels emulate.
func emulated(k arch.Kind, c arch.Cost) bool { return c.Later != "" || c.Emulated && k != arch.Nop }

func (d *decoder) firstBranch() (Site, error) {
	code := d.parts[0].code
	for at, in := range arch.Instructions(d.processor, code) {
		if in.Kind != arch.CondJump && !d.processor.Effects(code[at:]).KeepsRegisters {
			return Site{}, fmt.Errorf("%s: no conditional jump before +%#x, which may change a register", d.fn.Name, at)
		}
		if i := slices.IndexFunc(d.jumpTargets, func(to int) bool { return to <= at }); i >= 0 {
			return Site{}, fmt.Errorf("%s: jump back to +%#x", d.fn.Name, d.jumpTargets[i])
		}
		if in.Kind == arch.CondJump {
			return d.site(at)
		}
	}
	return Site{}, fmt.Errorf("%s: no conditional jump", d.fn.Name)
}
