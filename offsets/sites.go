package offsets

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ftgo/ftgo/offsets/arch"
)

// Site is one instruction of a function that was decoded from its first byte to its
// last without a doubt. It can't be made in any other way: a breakpoint in the
// middle of an instruction, or in data, corrupts the program.
type Site struct {
	addr, offset uint64
	cost         arch.Cost
	cond         arch.Cond
}

// Addr is the instruction's virtual address in the file, without load bias.
func (s Site) Addr() uint64 { return s.addr }

// Offset is the instruction's place in the file.
func (s Site) Offset() uint64 { return s.offset }

// Emulated tells whether every kernel emulates the instruction under a probe, which
// is more than ten times as cheap for the target as single-stepping it.
func (s Site) Emulated() bool { return s.cost.Class == arch.Emulated }

// EmulatedLater tells whether newer kernels do: see [arch.EmulatedLater].
func (s Site) EmulatedLater() bool { return s.cost.Class == arch.EmulatedLater }

// Cond is the condition of a conditional jump, for [arch.Processor].Taken: that of a stack
// check's is the one that holds if the check has passed.
func (s Site) Cond() arch.Cond { return s.cond }

// Sites is where calls of a function begin and end.
type Sites struct {
	// Entry is executed exactly once per call, with SP and the argument registers
	// as the caller left them, unless Restarts. It is the first instruction after
	// the stack check, where there is one: when the check fails, the function is
	// started again on a larger stack.
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
	// Branch is an instruction that may stand for Entry if the kernel emulates it, and not
	// Entry: a branch, or a push, that is executed exactly once per call as well (unless
	// Restarts), with SP, the frame pointer and g as they are at Entry. It is nil if
	// there is none; only functions without a stack check have one. It may be one of
	// Tails or CondTails, too.
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

// EndsAt tells whether calls may end at a site, other than by a RET.
func (s *Sites) EndsAt(site Site) bool {
	return slices.Contains(s.Tails, site) || slices.Contains(s.CondTails, site)
}

// Strategy says in a word or two which instruction tells of calls.
func (s *Sites) Strategy() string {
	switch {
	case s.Check != nil:
		return "after check"
	case s.Branch != nil && s.Restarts:
		return "first branch (loops)"
	case s.Branch != nil && s.Branch.EmulatedLater():
		return "first " + s.Branch.cost.Reason
	case s.Branch != nil:
		return "first branch"
	case s.Restarts:
		return "start (loops)"
	case s.Late:
		return "near start"
	}
	return "start"
}

// Sites decodes a function. The error says why it must not be probed.
func (b *Binary) Sites(f *Func) (*Sites, error) {
	code, err := b.Code(f)
	if err != nil {
		return nil, err
	}
	body, err := b.bodyOf(f, code)
	if err != nil {
		return nil, err
	}
	s := &Sites{}
	entry := 0
	if check, ok := b.image.Processor.StackCheck(code); ok && f.ABI != SystemV {
		if !body.boundary[check.Jump] || !body.boundary[check.Post] {
			return nil, errors.New("stack check not on an instruction boundary")
		}
		entry = check.Post
		if jump, err := b.site(f, code, check.Jump); err == nil {
			jump.cond = b.image.Processor.Passed()
			s.Check, s.CheckOnly = &jump, check.Repeats
		}
	} else {
		s.Restarts = body.restarts
	}
	if s.Entry, s.Late, err = b.entry(f, code, entry, body.landings); err != nil {
		return nil, err
	}
	if s.Check == nil && entry == 0 && s.Entry.cost.Class == arch.Stepped {
		s.Branch, s.Intact = b.branch(f, code, body)
	}
	s.SplitStack = f.ABI == SystemV && b.image.Processor.SplitsStack(code)
	for _, ends := range []struct {
		at    []int
		sites *[]Site
	}{{body.returns, &s.Returns}, {body.tails, &s.Tails}, {body.condTails, &s.CondTails}} {
		for _, at := range ends.at {
			p := partAt(body.parts, f.Addr+uint64(at))
			site, err := b.site(&Func{Name: f.Name, Addr: p.addr}, p.code, int(f.Addr-p.addr)+at)
			if err != nil {
				return nil, err
			}
			*ends.sites = append(*ends.sites, site)
		}
	}
	return s, nil
}

// entry makes the Site of a function's first instruction at or behind at that takes a
// probe. Only instructions that some kernel can't have a probe on, and which go on to the
// next, are passed over, and nothing may jump to what is behind them.
func (b *Binary) entry(f *Func, code []byte, at int, landings []int) (s Site, late bool, err error) {
	first := at
	for {
		s, err := b.site(f, code, at)
		if err == nil {
			return s, at != first, nil
		}
		in, decodeErr := b.image.Processor.Decode(code[at:])
		if decodeErr != nil || !b.image.Processor.Cost(code, at).Passable {
			return Site{}, false, err
		}
		at += in.Len
		if at == len(code) || slices.Contains(landings, at) {
			return Site{}, false, err
		}
	}
}

// bodyOf finds the ends of a function.
func (b *Binary) bodyOf(f *Func, code []byte) (*body, error) {
	if f.ABI == SystemV {
		return b.follow(f)
	}
	body, err := sweep(b.image.Processor, code)
	if err != nil {
		return nil, err
	}
	body.parts = []part{{addr: f.Addr, code: code}}
	return body, nil
}

// site makes a Site of an instruction of swept code, if the kernel takes a probe
// there.
func (b *Binary) site(f *Func, code []byte, at int) (Site, error) {
	in, err := b.image.Processor.Decode(code[at:])
	if err != nil {
		return Site{}, fmt.Errorf("instruction at +%#x: %w", at, err)
	}
	cost := b.image.Processor.Cost(code, at)
	if cost.Class == arch.Refused {
		return Site{}, fmt.Errorf("instruction at +%#x: %s", at, cost.Reason)
	}
	addr := f.Addr + uint64(at)
	off, err := b.FileOffset(addr)
	if err != nil {
		return Site{}, err
	}
	return Site{addr, off, cost, in.Cond}, nil
}

// CallsOf returns the places in f that call another function directly.
func (b *Binary) CallsOf(f, callee *Func) ([]Site, error) {
	code, err := b.Code(f)
	if err != nil {
		return nil, err
	}
	body, err := sweep(b.image.Processor, code)
	if err != nil {
		return nil, err
	}
	var calls []Site
	for at := range code {
		if !body.boundary[at] {
			continue
		}
		in, err := b.image.Processor.Decode(code[at:])
		if err != nil || in.Kind != arch.Call || f.Addr+uint64(at)+uint64(in.To) != callee.Addr {
			continue
		}
		s, err := b.site(f, code, at)
		if err != nil {
			return nil, err
		}
		calls = append(calls, s)
	}
	return calls, nil
}
