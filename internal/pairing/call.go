package pairing

import (
	"slices"

	"github.com/ftgo/ftgo/internal/uprobe"
)

// Outcome is how a call ended, as far as it was seen.
type Outcome uint8

const (
	// Returned: by a RET, or by jumping into another function. Only then does the
	// call have a duration.
	Returned Outcome = iota
	// Unwound: it never returned, because a panic or Goexit went through it or its
	// goroutine is gone; or its return was lost, which the kernel's counts tell.
	Unwound
	// Open: nothing had ended it when tracing did.
	Open
	// Abandoned: the probes that would have told its end were taken out meanwhile.
	Abandoned
)

func (o Outcome) String() string {
	return [...]string{"return", "unwound", "open", "abandoned"}[o]
}

// Call is one call of a function.
type Call struct {
	// ID numbers calls in the order in which they were seen to begin, from 1 on.
	ID uint64
	// Parent is the ID of the call that it is nested in or, of the outermost call of a goroutine, of the one
	// that has started that: see [Goroutine]. It is 0 if there is none.
	Parent uint64
	// Root is the ID of the call that has no parent, among it and all that it is below.
	Root uint64
	// Func is the function's index in Plan.Funcs.
	Func int
	// PID is the process, 0 where the kernel did not tell; TID and CPU are where
	// the call began. It may have ended on others.
	PID, TID, CPU int
	// Bias is the distance of addresses in the process, as it was when the call began, from
	// those in the file.
	Bias uint64
	// Goid is the goroutine's id, 0 on a thread's system stack and outside Go.
	Goid uint64
	// Depth is the number of traced calls that the call is nested in, on its
	// goroutine.
	Depth int
	// Start and End are time stamps of the trace clock. End is when the call
	// returned, or was first seen to be gone.
	Start, End uint64
	Outcome    Outcome
	// Split is what the time from Start to End was spent with, if the call has Returned and
	// the plan follows the scheduler ([uprobe.Options].Sched): its parts add up to it.
	Split Split
	// Waits are what its goroutine has waited for meanwhile, if the plan follows the scheduler.
	Waits Waits
	// SP is the stack pointer when the call began.
	SP uint64
	// Hits are those of probes on its stack from Start on, its own where it began included,
	// before the one at End. What they cost the program is part of the time between.
	Hits Hits
	// Inside: on its goroutine, or where that was started, a call of one of the functions given to
	// Stream.Inside was open when it began.
	Inside bool
	// StackHi is the end of the stack that SP is on, 0 if that is not known; Stack the words
	// that tell the callers, for [uprobe.Callers].
	StackHi uint64
	Stack   []uint64
	// Args are the words that were fetched where the call began, Results those where it
	// ended, for the Decode of the function's captures; Results are nil if it did not end
	// by a RET.
	Args, Results []uint64
}

// stack is a stack with its open calls, the innermost last.
type stack struct {
	key    stackKey
	goid   uint64
	frames []frame
	hits   Hits // so far
	// unnamed: no event has told the goroutine's id yet.
	unnamed bool
	ended   bool // the goroutine has gone through goexit1
}

// frame is a call that is open, at a depth of the stack in bytes. Its Split and Hits are sums of its stack
// before it began, its Waits those of its own, and of calls nested in it that have ended; what only
// [stack.complete] sets is not known yet.
type frame struct {
	Call
	depth uint64
}

// maxOpen is how many calls may be open at once, of all stacks together: some 400 MB.
const maxOpen = 1 << 20

// push puts a call on a stack, all of which is left to set. Frames are set where they lie, and told
// from there, since copying them was the dearest part of pairing.
func (p *Stream) push(s *stack) *frame {
	p.open++
	n := len(s.frames)
	s.frames = slices.Grow(s.frames, 1)[:n+1]
	return &s.frames[n]
}

// pop takes the innermost call off a stack. The memory of what it has fetched is kept for another's.
func (p *Stream) pop(s *stack) {
	n := len(s.frames) - 1
	if words := s.frames[n].Stack; words != nil {
		p.spare = append(p.spare, words)
	}
	s.frames = s.frames[:n]
	p.open--
}

// complete sets what of the call at depth n only its stack tells, which may have got its goroutine's id since.
func (s *stack) complete(n int) *Call {
	c := &s.frames[n].Call
	if c.Goid, c.Depth, c.Root = s.goid, n, s.frames[0].Root; n > 0 {
		c.Parent = s.frames[n-1].ID
	}
	c.Hits = s.hits.since(&c.Hits)
	return c
}

// Hits count hits of probes by what they cost the program.
type Hits struct {
	// Emulated: the kernel emulates the instruction under the probe. Stepped: it
	// single-steps a copy, which takes several times as long.
	Emulated, Stepped uint64
	// Words of values were fetched with them, and so many times the kernel has met no memory where a
	// pointer led.
	Words, Faults uint64
}

// sharedWords is what a hit costs of a site that is where another is, which the trap is charged to: the
// kernel records it in about the time that it takes to fetch so many words.
const sharedWords = 4

// add counts n hits of a site, with so many faults in all.
func (h *Hits) add(n uint64, site *uprobe.Site, words int, faults uint64) {
	h.Words += n * uint64(words)
	h.Faults += faults
	switch {
	case site.Shared:
		h.Words += n * sharedWords
	case site.Stepped:
		h.Stepped += n
	default:
		h.Emulated += n
	}
}

// since are the hits after earlier ones.
func (h *Hits) since(earlier *Hits) Hits {
	return Hits{h.Emulated - earlier.Emulated, h.Stepped - earlier.Stepped, h.Words - earlier.Words, h.Faults - earlier.Faults}
}
