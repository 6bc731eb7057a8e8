package offsets

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/ftgo/ftgo/internal/arch"
)

// Site is one instruction of a function that was decoded from its first byte to its
// last without a doubt. It can't be made in any other way: a breakpoint in the
// middle of an instruction, or in data, corrupts the program.
type Site struct {
	addr, offset uint64
	cost         arch.Cost
}

// Addr is the instruction's virtual address in the file, without load bias.
func (s Site) Addr() uint64 { return s.addr }

// Offset is the instruction's place in the file.
func (s Site) Offset() uint64 { return s.offset }

// Cost is what a probe on the instruction costs the target.
func (s Site) Cost() arch.Cost { return s.cost }

// Sites is where calls of a function begin and end.
type Sites struct {
	// Entry is executed exactly once per call, with SP and the argument registers as the caller
	// left them, unless Restarts. It is the first instruction after the stack check, where there
	// is one: when the check fails, the function is started again on a larger stack.
	Entry Site
	// Late: instructions that take no probe come before Entry, which may have changed
	// registers, arguments among them, but neither SP nor the flow of control.
	Late bool
	// Check is the stack check's jump, nil without one. It is executed once more for
	// each time that the check fails, which its condition tells.
	Check *Site
	// CheckOnly: Entry may be executed again where a goroutine is preempted, so that Check
	// alone tells of calls.
	CheckOnly bool
	// First and Again, nil if they are not known, count calls without a look at flags: there are as many as
	// First is executed, a jump of the stack check, less how often Again is, where the check has failed.
	First, Again *Site
	// Branch is an instruction that may stand for Entry if the kernel emulates it, and not Entry:
	// a branch, or a push, that is executed exactly once per call as well (unless Restarts), with
	// SP, the frame pointer and g as they are at Entry. It is nil if there is none; only
	// functions without a stack check have one. It may be one of Tails or CondTails, too.
	Branch *Site
	// Intact: nothing that comes before Branch writes a general register or memory, so that
	// arguments are there what they are at Entry.
	Intact bool
	// Returns are all RETs. Tails are the jumps that leave the function for good:
	// the function jumped to returns for both.
	Returns, Tails []Site
	// CondTails are conditional jumps that leave it: a hit ends the call if
	// [arch.Processor].Taken says of the flags there that the jump is taken.
	CondTails []Site
	// Restarts: the function has no stack check and jumps back to its first
	// instruction, so that Entry may be executed more than once per call.
	Restarts bool
	// SplitStack: the function may go on on another stack (GCC's -fsplit-stack, which
	// gccgo uses). Then a return is executed there, with an SP that no call of the
	// function began with, and another one after it with that of the entry.
	SplitStack bool
}

// Sites decodes a function and finds where calls of it begin and end.
func (b *Binary) Sites(f *Func) (*Sites, error) {
	c, err := b.decode(f)
	if err != nil {
		return nil, err
	}
	return c.sites()
}

// sites finds where calls begin and end. The error says why the function must not be probed.
func (c *decoded) sites() (s *Sites, err error) {
	whole, p := &c.parts[0], c.processor
	s = &Sites{}
	entry, late, restarts := 0, false, slices.Contains(c.landings, 0)
	if c.fn.ABI == SystemV {
		s.Restarts, s.SplitStack = restarts, p.SplitsStack(whole.code)
	} else if check, ok := p.StackCheck(whole.code); !ok {
		s.Restarts = restarts
		entry, late = c.unrepeated()
	} else {
		if !whole.boundary[check.Jump] || !whole.boundary[check.Post] {
			return nil, errors.New("stack check not on an instruction boundary")
		}
		entry = check.Post
		if jump, err := c.at(check.Jump); err == nil {
			jump.cost.Cond = p.Passed()
			s.Check, s.CheckOnly = &jump, check.Repeats
			s.First, s.Again = c.counters(check)
		}
	}
	if s.Entry, s.Late, err = c.entry(entry); err != nil {
		return nil, err
	}
	if s.Late = s.Late || late; s.Check == nil && entry < len(whole.code) && s.Entry.cost.Stepped() {
		s.Branch, s.Intact = c.branch(entry)
	}
	add := func(to *[]Site, from int, ends []int) {
		*to = slices.Grow(*to, len(ends)) // which files make many of that mean harm
		for _, at := range ends {
			site, cause := c.at(from + at)
			err = cmp.Or(err, cause)
			*to = append(*to, site)
		}
	}
	for i := range c.parts {
		add(&s.Returns, c.offsetOf(c.parts[i].addr), c.parts[i].returns)
	}
	add(&s.Tails, 0, c.tails)
	add(&s.CondTails, 0, c.condTails)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// entry finds the first instruction at or behind at that takes a probe. Only instructions that
// some kernel can't have a probe on, and which go on to the next, are passed over, and nothing
// may jump to what is behind them.
func (c *decoded) entry(at int) (s Site, late bool, err error) {
	code, first := c.parts[0].code, at
	for {
		s, err := c.at(at)
		if err == nil {
			return s, at != first, nil
		}
		refused, decodeErr := c.processor.Decode(code[at:])
		if decodeErr != nil || !c.processor.Cost(code, at).Passable {
			return s, false, err
		}
		at += refused.Len
		if at == len(code) || slices.Contains(c.landings, at) {
			return s, false, err
		}
	}
}

// counters are the sites that count calls of a function with a stack check, if both are emulated.
func (c *decoded) counters(check arch.Check) (first, again *Site) {
	if check.Again == 0 {
		return nil, nil
	}
	f, err1 := c.at(check.First)
	a, err2 := c.at(check.Again)
	if err1 != nil || err2 != nil || !f.cost.Emulated || !a.cost.Emulated {
		return nil, nil
	}
	return &f, &a
}

// unrepeated finds the first instruction of a function without a stack check that no preemption repeats. What comes
// before it may have changed arguments: then it is late.
func (c *decoded) unrepeated() (at int, late bool) {
	code := c.parts[0].code
	for at, in := range arch.Instructions(c.processor, code) {
		e := c.processor.Effects(code[at:])
		if !e.Repeats || at+in.Len == len(code) || slices.Contains(c.landings, at+in.Len) {
			return at, late
		}
		late = late || !e.KeepsRegisters || !e.KeepsMemory
	}
	return 0, false
}

// branch finds what may stand for Entry in a function without a stack check, from the instruction at from on:
// the first that kernels emulate, if every call executes it exactly once. That is so as execution comes straight to it from
// the function's start, with nothing on the way that could raise a signal (whose handler need not
// come back, as after a nil pointer) or that anything jumps to. SP, the frame pointer and g are
// as they were at the start; intact tells that all general registers and memory are. (firstBranch
// is for another purpose: SP may have changed there, and more may be written.)
func (c *decoded) branch(from int) (branch *Site, intact bool) {
	code, p := c.parts[0].code, c.processor
	if c.switches {
		return nil, false // where to is not known
	}
	intact = true
	for at, in := range arch.Instructions(p, code) {
		if at > 0 && slices.Contains(c.landings, at) {
			break
		}
		e := p.Effects(code[at:])
		if !in.Kind.GoesOn() || at > from && !e.Repeats && emulated(in.Kind, p.Cost(code, at)) {
			s, err := c.at(at)
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

// emulated tells whether kernels, or newer ones, emulate an instruction that does something and goes on to the next.
func emulated(k arch.Kind, c arch.Cost) bool { return c.Later != "" || c.Emulated && k != arch.Nop }

func (c *decoded) firstBranch() (Site, error) {
	code := c.parts[0].code
	for at, in := range arch.Instructions(c.processor, code) {
		if in.Kind != arch.CondJump && !c.processor.Effects(code[at:]).KeepsRegisters {
			return Site{}, fmt.Errorf("%s: no conditional jump before +%#x, which may change a register", c.fn.Name, at)
		}
		if i := slices.IndexFunc(c.landings, func(to int) bool { return to <= at }); i >= 0 {
			return Site{}, fmt.Errorf("%s: jump back to +%#x", c.fn.Name, c.landings[i])
		}
		if in.Kind == arch.CondJump {
			return c.at(at)
		}
	}
	return Site{}, fmt.Errorf("%s: no conditional jump", c.fn.Name)
}
