package pairing

import "github.com/ftgo/ftgo/internal/uprobe"

// Outcome is how a call ended.
type Outcome uint8

const (
	// Returned: the call ended by a RET or by a jump into another function. Only such calls have a duration.
	Returned Outcome = iota
	// Unwound: the call never returned, because a panic or Goexit unwound it or its goroutine has ended. Or its return
	// was lost: [Count].Missing is the number of lost returns.
	Unwound
	// Open: the call had not ended when tracing or its process ended.
	Open
	// Abandoned: the end of the call is unknown, because its probes were removed while it was open.
	Abandoned
)

func (o Outcome) String() string {
	return [...]string{"return", "unwound", "open", "abandoned"}[o]
}

// Call is one call of a function. If [uprobe.Plan].Waits is set, a wait of a goroutine is also emitted as a Call: its
// Func stands for the reason, and its ID is 0.
type Call struct {
	// ID numbers calls from 1 in the order in which they began.
	ID uint64
	// Parent is the ID of the call that this call is nested in. The Parent of the outermost call of a goroutine is the
	// call that started the goroutine (see [Goroutine]), or 0.
	Parent uint64
	Root   uint64 // the ID of the first call in the chain of parents; the call's ID if it has no Parent
	Func   int    // the function's index in Plan.Funcs
	// PID is the process, 0 if the kernel did not report it. TID and CPU are the thread and CPU on which the call
	// began; it may end on others.
	PID, TID, CPU int
	Bias          uint64 // the difference between an address in the process, when the call began, and in the file
	Goid          uint64 // the goroutine's ID, 0 on a thread's system stack and outside Go
	Depth         int    // the number of traced calls of the same goroutine that the call is nested in
	// Start and End are in units of the trace clock. End of an unwound call is the time of the first event that proved
	// its end. End is 0 if no event proved the end: in open calls, and in some unwound or abandoned calls.
	Start, End uint64
	Outcome    Outcome
	// Split is the time from Start to End by activity, if the call has Returned, and Waits how long its goroutine waited,
	// by reason. Both need a plan that follows the scheduler ([uprobe.Options].Sched).
	Split Split
	Waits Waits
	SP    uint64 // the stack pointer when the call began
	// Hits counts the hits of probes on the call's stack, including the hit at Start, but not the hit at End. The cost
	// of these hits is part of the time between Start and End.
	Hits Hits
	// Inside: when the call began, a call of a function with the role Inside was open on its goroutine. Or the goroutine
	// was started inside such a call, directly or through other goroutines.
	Inside bool
	// StackHi is the upper end of the stack that contains SP, 0 if unknown. Stack holds the words from which
	// [uprobe.Callers] computes the callers.
	StackHi uint64
	Stack   []uint64
	// Args holds the words that were fetched at the begin of the call, Results the words at its end. The function's
	// captures decode them. Results is nil if the call did not end by a RET.
	Args, Results []uint64

	fromTop uint64 // distance in bytes between the end of the stack and SP when the call began
}

// stack is the stack of a goroutine or thread. Its frames are the open calls, the innermost last. Until a call ends, its
// Split is the time of its goroutine or thread, and its Hits the hits of its stack, before the call began. Its Waits
// include the waits of nested calls that have ended. The fields that [stack.complete] sets are not valid until it runs.
type stack struct {
	key    stackKey
	goid   uint64
	frames []Call
	hits   Hits // all hits on the stack so far
	noGoid bool // goid is not known yet
	ended  bool // the goroutine has called goexit1
}

// maxOpen is the maximum number of open calls, on all stacks together. They take some 400 MB.
const maxOpen = 1 << 20

// pop removes the innermost call of a stack. It keeps the memory of the fetched words for another call.
func (p *Stream) pop(s *stack) {
	n := len(s.frames) - 1
	if words := s.frames[n].Stack; words != nil {
		p.spare = append(p.spare, words)
	}
	s.frames = s.frames[:n]
	p.open--
}

// complete sets Goid, Depth, Root and Parent of frame n from its stack, and Hits to the hits since the call began. It
// does so late, because the goroutine's ID may become known after the call began.
func (s *stack) complete(n int) *Call {
	c := &s.frames[n]
	if c.Goid, c.Depth, c.Root = s.goid, n, s.frames[0].Root; n > 0 {
		c.Parent = s.frames[n-1].ID
	}
	c.Hits = s.hits.since(&c.Hits)
	return c
}

// Hits counts hits of probes, in categories of equal cost.
type Hits struct {
	Emulated uint64 // the kernel emulated the instruction under the probe
	Stepped  uint64 // the kernel single-stepped a copy of the instruction, which takes several times as long
	Words    uint64 // words of values that these hits fetched, and sharedWords for each hit at a Shared site
	Faults   uint64 // words that could not be fetched, because a pointer led to unmapped memory
}

// sharedWords is the cost of a hit at a Shared site, in words: the address has another probe, to which the cost of the
// trap is charged. The kernel needs about as long to record the hit as to fetch this number of words.
const sharedWords = 4

// add counts n hits of a site. words is the number of words that each hit fetches, and faults is the sum of the faults
// of all n hits.
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

// since returns h without the hits in earlier, an older copy of h.
func (h *Hits) since(earlier *Hits) Hits {
	return Hits{h.Emulated - earlier.Emulated, h.Stepped - earlier.Stepped, h.Words - earlier.Words, h.Faults - earlier.Faults}
}

// HitCost is the cost of hits for the program, in nanoseconds per unit of each field of [Hits].
type HitCost struct{ Emulated, Stepped, Word, Fault float64 }

// UsualCost is the assumed cost where it can't be measured. Stepped is the cost of a single-step in a virtual machine.
var UsualCost = HitCost{Emulated: 1000, Stepped: 10_000, Word: 100, Fault: 1000}

// Of returns the cost of hits.
func (c HitCost) Of(h Hits) float64 {
	return float64(h.Emulated)*c.Emulated + float64(h.Stepped)*c.Stepped + float64(h.Words)*c.Word + float64(h.Faults)*c.Fault
}

// Times returns n times the cost.
func (c HitCost) Times(n float64) HitCost {
	return HitCost{c.Emulated * n, c.Stepped * n, c.Word * n, c.Fault * n}
}

// Change returns the cost of placing or removing a probe, on each CPU that the program uses: the kernel replaces the
// page of code, and interrupts these CPUs to flush the old one (uprobe_write_opcode and ptep_clear_flush,
// kernel/events/uprobes.c of 6.12). The estimate is half of a single-step, because both are expensive in a virtual
// machine that must exit for them. A measurement of 100,000 changes gave 0.44 of a single-step each.
func (c HitCost) Change() float64 { return c.Stepped / 2 }

// Max returns the largest possible cost of a hit of an event.
func (c HitCost) Max(ev *uprobe.Event) float64 {
	var most float64
	for i := range ev.Sites {
		var hit Hits
		hit.add(1, &ev.Sites[i], ev.Words, ev.Reads(&ev.Sites[i]).MaxFaults())
		most = max(most, c.Of(hit))
	}
	return most
}

// Net returns the measured duration ns of a call without the cost of its hits, at least 0.
func (c HitCost) Net(call *Call, ns int64) int64 { return max(ns-int64(c.Of(call.Hits)), 0) }

// HitCosts holds the measured cost with its bounds.
type HitCosts struct{ Least, Typical, Most HitCost }
