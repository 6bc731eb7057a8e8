package parse

// stack is a stack with its open calls, the innermost last.
type stack struct {
	goid   uint64
	frames []frame
	hits   Hits // so far
	// unnamed: no event has told the goroutine's id yet.
	unnamed bool
	ended   bool // the goroutine has gone through goexit1
}

type frame struct {
	fn         int
	depth      uint64
	sp         uint64
	bias       uint64
	start      uint64
	tid, cpu   int
	inside     bool
	atEntry    Split    // sums of its stack at entry
	hitsBefore Hits     // those of its stack before the entry
	hi         uint64   // see Call.StackHi
	args       []uint64 // of the stack and of values
}

// maxOpen is how many calls may be open at once, of all stacks together: some 300 MB.
const maxOpen = 1 << 20

// push puts a call on a stack, all of which is left to set but args, which are none: no frame
// beyond the innermost keeps any. Frames are set where they lie, and so is the Call that is
// made of them, since copying them was the dearest part of pairing.
func (p *pairer) push(s *stack) *frame {
	p.open++
	n := len(s.frames)
	if n < cap(s.frames) {
		s.frames = s.frames[:n+1]
	} else {
		s.frames = append(s.frames, frame{})
	}
	return &s.frames[n]
}

// pop takes the innermost call off a stack. The memory of its arguments is kept for another's.
func (p *pairer) pop(s *stack) {
	n := len(s.frames) - 1
	if f := &s.frames[n]; f.args != nil {
		p.spare, f.args = append(p.spare, f.args), nil
	}
	s.frames = s.frames[:n]
	p.open--
}

// fill sets c to the call at depth n of a stack of a process, as far as it is known before it
// has ended.
func (p *pairer) fill(c *Call, s *stack, n, pid int) {
	f := &s.frames[n]
	c.Func, c.PID, c.TID, c.CPU, c.Goid, c.Depth = f.fn, pid, f.tid, f.cpu, s.goid, n
	c.Start, c.End, c.Outcome, c.Split = f.start, 0, Returned, Split{}
	c.Bias, c.SP, c.Hits, c.Inside = f.bias, f.sp, s.hits.since(f.hitsBefore), f.inside
	words := min(p.plan.StackWords(), len(f.args))
	c.StackHi, c.Stack, c.Args, c.Results = f.hi, f.args[:words], f.args[words:], nil
}
