package offsets

import (
	"errors"
	"fmt"

	"github.com/ftgo/ftgo/offsets/insn"
)

// Site is one instruction of a function that was decoded from its first byte to its
// last without a doubt. It can't be made in any other way: a breakpoint in the
// middle of an instruction, or in data, corrupts the program.
type Site struct {
	addr, offset uint64
	cost         insn.Cost
}

// Addr is the instruction's virtual address in the file, without load bias.
func (s Site) Addr() uint64 { return s.addr }

// Offset is the instruction's place in the file.
func (s Site) Offset() uint64 { return s.offset }

// Emulated tells whether every kernel emulates the instruction under a probe, which
// is more than ten times as cheap for the target as single-stepping it.
func (s Site) Emulated() bool { return s.cost.Class == insn.Emulated }

// EmulatedPush tells whether kernels since 5.4 do.
func (s Site) EmulatedPush() bool { return s.cost.Class == insn.EmulatedPush }

// CheckFailedFlags are the bits of RFLAGS of which one is set at [Sites].Check when the
// stack check has failed: CF and ZF, what JBE asks for.
const CheckFailedFlags = 1<<0 | 1<<6

// Sites is where calls of a function begin and end.
type Sites struct {
	// Entry is executed exactly once per call, with SP and the argument registers
	// as the caller left them, unless Restarts. It is the first instruction after
	// the stack check, where there is one: when the check fails, the function is
	// started again on a larger stack.
	Entry Site
	// Check is the stack check's jump, nil without one. It is executed once more for
	// each time that the check fails.
	Check *Site
	// Returns are all RETs. Tails are the jumps that leave the function for good:
	// the function jumped to returns for both.
	Returns, Tails []Site
	// Restarts: the function has no stack check and jumps back to its first
	// instruction, so that Entry may be executed more than once per call.
	Restarts bool
}

// Strategy says in a word or two which instruction Entry is.
func (s *Sites) Strategy() string {
	switch {
	case s.Check != nil:
		return "after check"
	case s.Restarts:
		return "start (loops)"
	}
	return "start"
}

// Sites decodes a function. The error says why it must not be probed.
func (b *Binary) Sites(f *Func) (*Sites, error) {
	code, err := b.Code(f)
	if err != nil {
		return nil, err
	}
	body, err := sweep(code)
	if err != nil {
		return nil, err
	}
	s := &Sites{}
	entry := 0
	if check, ok := insn.StackCheck(code); ok {
		if !body.boundary[check.Jump] || !body.boundary[check.Post] {
			return nil, errors.New("stack check not on an instruction boundary")
		}
		entry = check.Post
		if jump, err := b.site(f, code, check.Jump); err == nil {
			s.Check = &jump
		}
	} else {
		s.Restarts = body.restarts
	}
	if s.Entry, err = b.site(f, code, entry); err != nil {
		return nil, err
	}
	for _, at := range body.returns {
		site, err := b.site(f, code, at)
		if err != nil {
			return nil, err
		}
		s.Returns = append(s.Returns, site)
	}
	for _, at := range body.tails {
		site, err := b.site(f, code, at)
		if err != nil {
			return nil, err
		}
		s.Tails = append(s.Tails, site)
	}
	return s, nil
}

// site makes a Site of an instruction of swept code, if the kernel takes a probe
// there.
func (b *Binary) site(f *Func, code []byte, at int) (Site, error) {
	in, err := insn.Decode(code[at:])
	if err != nil {
		return Site{}, fmt.Errorf("instruction at +%#x: %w", at, err)
	}
	cost := insn.Probe(code[at:], in)
	if cost.Class == insn.Refused {
		return Site{}, fmt.Errorf("instruction at +%#x: %s", at, cost.Reason)
	}
	addr := f.Addr + uint64(at)
	off, err := b.FileOffset(addr)
	if err != nil {
		return Site{}, err
	}
	return Site{addr, off, cost}, nil
}

// CallsOf returns the places in f that call another function directly.
func (b *Binary) CallsOf(f, callee *Func) ([]Site, error) {
	code, err := b.Code(f)
	if err != nil {
		return nil, err
	}
	body, err := sweep(code)
	if err != nil {
		return nil, err
	}
	var calls []Site
	for at := range code {
		if !body.boundary[at] {
			continue
		}
		in, err := insn.Decode(code[at:])
		if err != nil || in.Kind != insn.Call || f.Addr+uint64(at+in.Len)+uint64(in.Rel) != callee.Addr {
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
