// Package flow decodes functions, from their first byte to their last: where they begin behind
// the check of the stack, where they end, and what may stand for these places.
package flow

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ftgo/ftgo/offsets/arch"
	"github.com/ftgo/ftgo/offsets/internal/debug"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// Program is where a function's code is, and what else there is.
type Program struct {
	Image   *image.Image
	Unwind  func() debug.Unwind
	Symbols Symbols
}

// Symbols are the functions that the program names.
type Symbols interface {
	// Named tells whether there is one of a name.
	Named(name string) bool
	// At is the one that an address lies in.
	At(addr uint64) (s Symbol, ok bool)
	// First is the first that begins from one address on and before another.
	First(from, to uint64) (s Symbol, ok bool)
}

// Symbol is the name of a function and the bytes that belong to it.
type Symbol struct {
	Name       string
	Addr, Size uint64
}

// Function is a function that was decoded without a doubt. Offsets count from its first
// byte: a part that the compiler has moved elsewhere lies before 0 or beyond the function's
// size.
type Function struct {
	processor arch.Processor
	symbol    Symbol
	c         bool // by the System V ABI
	code      []byte
	parts     []part // of C; the function itself is the first
	boundary  []bool // of the function itself: an instruction begins here
	// Returns are the instructions that return. Tails are the jumps that leave the function for
	// good, CondTails those that do under a condition.
	Returns, Tails, CondTails []int

	restarts bool
	landings []int // where direct jumps inside the function lead
	switches bool  // others lead from one place in it to another, or may
}

// Decode decodes a function of Go, or of the System V ABI. The error says why it must not be
// probed.
func (p *Program) Decode(s Symbol, c bool) (*Function, error) {
	code, err := p.Image.Code(s.Name, s.Addr, s.Size)
	if err != nil {
		return nil, err
	}
	f := &Function{processor: p.Image.Processor, symbol: s, c: c, code: code}
	if c {
		err = p.follow(f)
	} else {
		err = f.sweep()
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Instruction is one on which the kernel takes a probe.
type Instruction struct {
	Addr uint64
	Cost arch.Cost
	Cond arch.Cond
}

// At is the instruction at an offset where one begins. The error says why the kernel takes
// no probe there.
func (f *Function) At(at int) (in Instruction, err error) {
	code, offset := f.code, at
	if addr := f.symbol.Addr + uint64(at); offset < 0 || offset >= len(code) {
		p := partAt(f.parts, addr)
		code, offset = p.code, int(addr-p.addr)
	}
	decoded, err := f.processor.Decode(code[offset:])
	if err != nil {
		return in, fmt.Errorf("instruction at +%#x: %w", offset, err)
	}
	cost := f.processor.Cost(code, offset)
	if cost.Refused != "" {
		return in, fmt.Errorf("instruction at +%#x: %s", offset, cost.Refused)
	}
	return Instruction{f.symbol.Addr + uint64(at), cost, decoded.Cond}, nil
}

// Begin is where calls of a function are seen to begin.
type Begin struct {
	// Entry is the first instruction that takes a probe, or that behind a passed stack check.
	// Late: others come before it, which change neither SP nor the flow of control.
	Entry Instruction
	Late  bool
	// Check is the stack check's jump, if Checked; Repeats: Entry may be executed again
	// after a preemption. Restarts: there is none, and a jump leads to the first instruction.
	Check                      Instruction
	Checked, Repeats, Restarts bool
	// Branch may stand for Entry, if Branches. Intact tells that nothing before it writes a
	// general register or memory; see branch.
	Branch           Instruction
	Branches, Intact bool
}

// Begin finds them.
func (f *Function) Begin() (b Begin, err error) {
	entry := 0
	if check, ok := f.processor.StackCheck(f.code); ok && !f.c {
		if !f.boundary[check.Jump] || !f.boundary[check.Post] {
			return b, errors.New("stack check not on an instruction boundary")
		}
		entry = check.Post
		if jump, err := f.At(check.Jump); err == nil {
			jump.Cond = f.processor.Passed()
			b.Check, b.Checked, b.Repeats = jump, true, check.Repeats
		}
	} else {
		b.Restarts = f.restarts
	}
	if b.Entry, b.Late, err = f.entry(entry); err != nil {
		return b, err
	}
	if !b.Checked && entry == 0 && b.Entry.Cost.Stepped() {
		b.Branch, b.Branches, b.Intact = f.branch()
	}
	return b, nil
}

// entry finds the first instruction at or behind at that takes a
// probe. Only instructions that some kernel can't have a probe on, and which go on to the
// next, are passed over, and nothing may jump to what is behind them.
func (f *Function) entry(at int) (in Instruction, late bool, err error) {
	first := at
	for {
		in, err := f.At(at)
		if err == nil {
			return in, at != first, nil
		}
		refused, decodeErr := f.processor.Decode(f.code[at:])
		if decodeErr != nil || !f.processor.Cost(f.code, at).Passable {
			return in, false, err
		}
		at += refused.Len
		if at == len(f.code) || slices.Contains(f.landings, at) {
			return in, false, err
		}
	}
}

// SplitsStack tells whether it begins with GCC's check of a split stack (-fsplit-stack).
func (f *Function) SplitsStack() bool { return f.c && f.processor.SplitsStack(f.code) }

// CallsOf returns the instructions that call the function at an address directly.
func (f *Function) CallsOf(callee uint64) (calls []Instruction, err error) {
	for at := range f.code {
		if !f.boundary[at] {
			continue
		}
		in, err := f.processor.Decode(f.code[at:])
		if err != nil || in.Kind != arch.Call || f.symbol.Addr+uint64(at)+uint64(in.To) != callee {
			continue
		}
		call, err := f.At(at)
		if err != nil {
			return nil, err
		}
		calls = append(calls, call)
	}
	return calls, nil
}
