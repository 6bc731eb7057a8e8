package offsets

import (
	"sort"

	"github.com/ftgo/ftgo/offsets/arch"
	"github.com/ftgo/ftgo/offsets/internal/flow"
	"github.com/ftgo/ftgo/offsets/internal/image"
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

// Cost is what a probe on the instruction costs the target.
func (s Site) Cost() arch.Cost { return s.cost }

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

// Code is a function that was decoded as a whole.
type Code struct {
	image *image.Image
	fn    *flow.Function
}

// Decode decodes a function. The error says why it must not be probed.
func (b *Binary) Decode(f *Func) (*Code, error) {
	fn, err := b.decode(f)
	if err != nil {
		return nil, err
	}
	return &Code{b.image, fn}, nil
}

func (b *Binary) decode(f *Func) (*flow.Function, error) {
	return b.program.Decode(flow.Symbol{Name: f.Name, Addr: f.Addr, Size: f.Size}, f.ABI == SystemV)
}

// Sites decodes a function and finds where calls of it begin and end.
func (b *Binary) Sites(f *Func) (*Sites, error) {
	fn, err := b.decode(f)
	if err != nil {
		return nil, err
	}
	c := Code{b.image, fn}
	return c.Sites()
}

// site is an instruction with its place in the file.
func (c *Code) site(in flow.Instruction, err error) (Site, error) {
	if err != nil {
		return Site{}, err
	}
	offset, err := c.image.FileOffset(in.Addr)
	if err != nil {
		return Site{}, err
	}
	return Site{in.Addr, offset, in.Cost, in.Cond}, nil
}

// Sites finds where calls begin and end. The error says why the function must not be probed.
func (c *Code) Sites() (*Sites, error) {
	begin, err := c.fn.Begin()
	s := &Sites{
		Late: begin.Late, CheckOnly: begin.Repeats, Intact: begin.Intact, Restarts: begin.Restarts, SplitStack: c.fn.SplitsStack(),
	}
	if s.Entry, err = c.site(begin.Entry, err); err != nil {
		return nil, err
	}
	if begin.Checked {
		if jump, err := c.site(begin.Check, nil); err == nil {
			s.Check = &jump
		}
	}
	if begin.Branches {
		if branch, err := c.site(begin.Branch, nil); err == nil {
			s.Branch = &branch
		}
	}
	for _, ends := range []struct {
		at    []int
		sites *[]Site
	}{{c.fn.Returns, &s.Returns}, {c.fn.Tails, &s.Tails}, {c.fn.CondTails, &s.CondTails}} {
		for _, at := range ends.at {
			site, err := c.site(c.fn.At(at))
			if err != nil {
				return nil, err
			}
			*ends.sites = append(*ends.sites, site)
		}
	}
	return s, nil
}

// ErrNoInstruction: no instruction begins at an offset.
var ErrNoInstruction = flow.ErrNoInstruction

// SiteAt returns one instruction by its offset from the function's first byte. The error says
// why there must be no probe: there is no instruction (ErrNoInstruction, with the offsets of
// its neighbours), or the kernel takes none there.
func (c *Code) SiteAt(offset uint64) (Site, error) { return c.site(c.fn.Instruction(offset)) }

// FirstBranch returns the function's first conditional jump, if each call comes by it exactly
// once, and with all registers but SP, the frame pointer and the flags as they were at the
// call. The kernel emulates such an instruction, where a function without a stack check may
// begin with one that it single-steps, which costs the program ten times as much.
func (c *Code) FirstBranch() (Site, error) { return c.site(c.fn.FirstBranch()) }

// CallsOf returns the instructions that call another function directly.
func (c *Code) CallsOf(callee *Func) ([]Site, error) {
	calls, err := c.fn.CallsOf(callee.Addr)
	if err != nil {
		return nil, err
	}
	var sites []Site
	for _, call := range calls {
		site, err := c.site(call, nil)
		if err != nil {
			return nil, err
		}
		sites = append(sites, site)
	}
	return sites, nil
}

// symbols are the functions of a binary as decoding asks for them.
type symbols struct{ *Binary }

func (b symbols) Named(name string) bool {
	_, ok := b.Lookup(name)
	return ok
}

func (b symbols) At(addr uint64) (s flow.Symbol, ok bool) {
	f, ok := b.FuncAt(addr)
	if ok {
		s = flow.Symbol{Name: f.Name, Addr: f.Addr, Size: f.Size}
	}
	return s, ok
}

func (b symbols) First(from, to uint64) (s flow.Symbol, ok bool) {
	i := sort.Search(len(b.funcs), func(i int) bool { return b.funcs[i].Addr >= from })
	if i == len(b.funcs) || b.funcs[i].Addr >= to {
		return s, false
	}
	return b.At(b.funcs[i].Addr)
}
