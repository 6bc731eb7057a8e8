package uprobe

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/offsets"
)

// Mode selects the parts of a call that are observed, and how.
type Mode uint8

const (
	Latency Mode = iota // the beginning and the end of each call
	// Count counts the beginnings of calls by the kernel's hit counters. The kernel records only hits
	// to subtract from the counters: hits at which a function starts again within a call (see [offsets.Sites]).
	Count
	Entries // the beginning of each call, with callers and arguments
	// CountRecorded records the beginnings of calls and counts the records. Unlike the kernel's counters, records can be
	// counted for single processes.
	CountRecorded
)

// Probe is a function of a plan, or a single instruction. Recordings contain the fields that have JSON names.
type Probe struct {
	*offsets.Func

	Role    Role           `json:"role,omitzero"`
	Sites   *offsets.Sites `json:"-"`                 // where calls begin and end; nil for a recording
	Returns bool           `json:"returns,omitempty"` // the ends of calls are observed
	// Restarts: a call may execute the instruction at which it begins several times, see [offsets.Sites].
	Restarts bool `json:"restarts,omitempty"`
	// Point: the probe is for the single instruction Sites.Entry instead of a function. With Restarts, a call of the
	// function around the instruction may execute the instruction twice.
	Point bool `json:"point,omitempty"`
	// Stepped: the kernel single-steps the instruction at which beginnings are observed, see [Site].Stepped.
	Stepped  bool   `json:"stepped,omitempty"`
	Deferred bool   `json:"-"` // New makes no events for the probe, only [Plan.EventsFor] does
	Values   Values `json:"-"` // the values to fetch
	Err      error  `json:"-"` // the reason why the probe is in [Plan.Skipped]
}

// Role says why a function was selected.
type Role struct {
	// Named: a FUNC without wildcards selects the function or instruction. It is shown even if it is never called.
	Named bool `json:"named,omitempty"`
	// Wrapper: the compiler generated the function to call another function, and each pattern that selects it also
	// selects functions that are not wrappers.
	Wrapper bool `json:"wrapper,omitempty"`
	// Inside: --inside selects the function, and only calls that are made from such a function are shown. Hidden: calls of
	// the function itself are not shown.
	Inside bool `json:"inside,omitempty"`
	Hidden bool `json:"hidden,omitempty"`
}

// Values are the values to fetch at calls of a function.
type Values struct {
	// Entry is fetched where calls begin, and Return where calls end by a RET instruction. nil means that nothing is
	// fetched.
	Entry, Return *capture.Capture
	// Filter is a condition on the names of Entry.Args. The kernel evaluates the condition where calls begin. If a call
	// does not meet it, the kernel records only the call's return. "" is the condition that all calls meet.
	Filter string
	// Fails: the value in Return shows whether a call has failed.
	Fails bool
}

// Plan lists the events to define, and the meaning of their hits. Recordings contain the fields that have JSON names.
type Plan struct {
	// Options are the options of New, without what the binary or the kernel does not support: Threads, Follow, and callers
	// beyond Stack. Sched is also set for Waits.
	Options
	Binary    *offsets.Binary `json:"-"`
	Processor arch.Processor  `json:"-"` // of Binary
	Funcs     []Probe         `json:"funcs"`
	Skipped   []Probe         `json:"-"` // requested functions without probes
	Events    []Event         `json:"events"`
	// BySP: only the stack pointer identifies a call, because neither a value that can be fetched nor the thread
	// identifies the goroutine. BySP is set for gccgo. The stacks of gccgo never move.
	BySP bool `json:"by_sp,omitempty"`
	// ByStack: no register holds g by the calling convention. Some entries can fetch g nevertheless. At the other entries,
	// and where calls end, only the stack identifies the goroutine.
	ByStack     bool `json:"by_stack,omitempty"`
	Relocatable bool `json:"relocatable,omitempty"` // addresses in a process differ from those in the file
	// Runtime has the address ranges of package runtime, without corostart, if Follow is set. A goroutine that begins
	// in package runtime serves the whole program. It does not belong to the call that has started it.
	Runtime [][2]uint64 `json:"runtime,omitempty"`
	// Reasons has the names of wait reasons, by their number in the runtime, if Sched is set. The last one,
	// "syscall", is not from the runtime: the goroutine's thread waits in the kernel.
	Reasons []string `json:"-"`
}

// RequestedFuncs returns the number of Funcs that were requested. They are at the beginning of Funcs. With Waits, a function
// for each of Reasons follows. A wait of a goroutine is reported as a call of the function that stands for its reason.
func (p *Plan) RequestedFuncs() int {
	if p.Waits {
		return len(p.Funcs) - len(p.Reasons)
	}
	return len(p.Funcs)
}

// Reason returns the index in Reasons of a wait reason, or 0 if the reason is unknown. why is the reason's number in
// the runtime. Only the lowest 8 bits of why are valid.
func (p *Plan) Reason(why uint64) int {
	if why &= 0xff; why < uint64(p.SyscallReason()) {
		return int(why)
	}
	return 0
}

// SyscallReason returns the index of "syscall", the last of Reasons.
func (p *Plan) SyscallReason() int { return len(p.Reasons) - 1 }

// StackWords returns the number of words that an entry fetches for callers.
func (p *Plan) StackWords() int {
	if p.Stack <= 1 {
		return p.Stack
	}
	return 2 * p.Stack
}

// Options are the options of a plan. Recordings contain the fields that have JSON names.
type Options struct {
	Mode     Mode             `json:"mode"`
	Features tracefs.Features `json:"features"` // of the kernel
	Points   []Probe          `json:"-"`        // single instructions to probe
	// Stack is the number of callers to fetch at entries. New limits it to MaxStack, and to one in programs of Go before
	// 1.7, which has no frame pointers. Plans that only count have no Stack.
	Stack int `json:"stack,omitempty"`
	// Values returns the values to fetch for a function. If Values is nil, no values are fetched. If Values returns an
	// error from SkipFunc, New leaves out the function. If it returns another error, New fails with this error.
	Values      func(*offsets.Func, *offsets.Sites) (Values, error) `json:"-"`
	ReturnsOnly bool                                                `json:"-"` // observe only ends of calls by a return
	RuntimeProbes
	// FirstSites, if not 0, is the number of sites in the plan's Events from which on functions are Deferred.
	FirstSites int  `json:"-"`
	Recorded   bool `json:"-"` // count calls by recorded hits, as CountRecorded does
	// To, if not nil, makes the plan's only function stand for a pair: its calls begin like calls of the function, and end
	// when To is called with the same values. The values of such a call are Values.Entry at its begin, and Values.Return
	// at the begin of the call of To. Only Func and Sites are set.
	To *Probe `json:"-"`
	// GroupSize, if not 0, is the largest number of functions in a group. The functions of a group share events. In a
	// running session, the probes of a group are placed and removed together.
	GroupSize int `json:"-"`
}

// RuntimeProbes says which probes on functions of Go's runtime a plan has beside the usual ones.
type RuntimeProbes struct {
	// Threads adds runtime probes where a thread changes to another goroutine. It needs the mode Latency.
	Threads bool `json:"-"`
	// Sched adds runtime probes of the scheduler, for each goroutine that begins to wait, becomes runnable, or runs. It
	// needs the mode Latency. New fails if it does not know the binary's scheduler.
	Sched bool `json:"-"`
	// Follow adds a runtime probe where goroutines are created, if the binary and the kernel support it, so that hits
	// identify the call that has started a goroutine.
	Follow bool `json:"follow,omitempty"`
	// Waits reports the waits of goroutines like calls: waits within calls of the functions, or all waits if there
	// are no functions. It implies Sched.
	Waits bool `json:"-"`
}

// New plans the probes of functions of a binary. Functions that can't be probed safely are in Plan.Skipped. Events are
// in the order that [tracefs.Start] needs: beginnings of calls, ends of calls, and then the runtime probes for the ends
// of goroutines.
func New(b *offsets.Binary, funcs []*offsets.Func, opt Options) (*Plan, error) {
	p := &Plan{Options: opt, Binary: b, Processor: b.File().Processor, Relocatable: b.File().Relocatable()}
	_, p.BySP = b.Lookup("__morestack")
	sites := 0
	for _, f := range append(decodeAll(b, funcs), opt.Points...) {
		if f.Err != nil {
			p.Skipped = append(p.Skipped, f)
			continue
		}
		if f.Restarts = f.Sites.Restarts; !f.Point {
			f.Returns = opt.To != nil || opt.Mode == Latency && len(f.Sites.Returns)+len(f.Sites.Tails)+len(f.Sites.CondTails) > 0
			f.Deferred = opt.FirstSites > 0 && sites >= opt.FirstSites
			sites += p.siteCount(&f)
			p.BySP = p.BySP || f.Sites.SplitStack
		}
		p.Funcs = append(p.Funcs, f)
	}
	if err := p.addValues(); err != nil || len(p.Funcs) == 0 && (!opt.Waits || len(funcs)+len(opt.Points) > 0) {
		return p, err
	}
	switch frames := framesOf(b); {
	case !p.identifies():
		p.Stack = 0
	case !frames.Kept:
		p.Stack = min(opt.Stack, 1)
	default:
		p.Stack = min(opt.Stack, deepest(frames))
	}
	c, err := newPlanner(p, newNonce())
	if err != nil {
		return nil, err
	}
	minor, _ := b.GoVersion()
	p.ByStack = minor > 0 && p.identifies() && c.conv.G == ""
	placed := make([]int, 0, len(p.Funcs))
	for i := range p.Funcs {
		if !p.Funcs[i].Deferred {
			placed = append(placed, i)
		}
	}
	for group := range slices.Chunk(placed, cmp.Or(p.GroupSize, max(len(placed), 1))) {
		c.addFuncs(group, false)
		if p.GroupSize > 0 {
			clear(c.open) // the next group has its own events
		}
	}
	if opt.Mode == Latency {
		// These probes fetch memory. On kernels that can't fetch memory, only calls of C functions are timed. These
		// calls end by returning.
		if !opt.ReturnsOnly && opt.To == nil && opt.Features.Memory {
			c.addEndProbes()
		}
		p.Threads = opt.Threads && c.addThreadProbes()
		p.Follow = opt.Follow && c.addCreation()
		if p.Sched = opt.Sched || opt.Waits; p.Sched {
			if err := c.addSchedProbes(); err != nil {
				return nil, err
			}
		}
		if opt.Waits {
			c.addWaits()
		}
	}
	p.Events = c.sorted()
	return p, nil
}

// SkipFunc wraps an error. If Options.Values returns the result, New skips the function and continues, with err as
// Probe.Err.
func SkipFunc(err error) error { return skipFunc{err} }

type skipFunc struct{ error }

func (p *Plan) addValues() error {
	kept := p.Funcs[:0]
	for _, f := range p.Funcs {
		var err error
		if p.Values != nil && !f.Point {
			f.Values, err = p.Values(f.Func, f.Sites)
		}
		switch out, ok := errors.AsType[skipFunc](err); {
		case ok:
			f.Err = out.error
			p.Skipped = append(p.Skipped, f)
		case err != nil:
			return err
		default:
			kept = append(kept, f)
		}
	}
	p.Funcs = kept
	return nil
}

// siteCount returns the number of sites of a function, without runtime probes.
func (p *Plan) siteCount(f *Probe) int {
	switch {
	case p.Mode != Latency:
		return 1
	case p.To != nil:
		return 2
	}
	return 1 + len(f.Sites.Returns) + len(f.Sites.Tails) + len(f.Sites.CondTails)
}

// identifies reports whether events identify the goroutine of a call.
func (p *Plan) identifies() bool { return p.Mode == Latency || p.Mode == Entries }

// Filtered reports whether the kernel drops hits by a filter. Then the kernel's hit counters exceed the number of
// recorded hits.
func (p *Plan) Filtered() bool {
	return p.identifies() && slices.ContainsFunc(p.Events, func(e Event) bool { return e.Filter != "" && !e.counts() })
}

// newNonce returns a text that makes event names unique to a session and longer than any thread name. A thread name has
// at most 15 bytes. The target chooses it and the kernel prints it unescaped, so a thread name that contained an event
// name could forge a line of trace_pipe.
func newNonce() string {
	var b [7]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Target returns the file to probe. It is the file that was decoded, even if the name now belongs to another file.
func (p *Plan) Target() tracefs.Target {
	return tracefs.Target{Path: p.Binary.File().Link(), Unchanged: p.Binary.File().Unchanged}
}

// Probes returns the number of sites.
func (p *Plan) Probes() int {
	n := 0
	for i := range p.Events {
		n += len(p.Events[i].Sites)
	}
	return n
}

// DeferredSites returns the number of sites of Deferred functions.
func (p *Plan) DeferredSites() (n int) {
	for i := range p.Funcs {
		if f := &p.Funcs[i]; f.Deferred {
			n += p.siteCount(f)
		}
	}
	return n
}

// EventsFor returns new events for functions of the plan, which may already have events. If counts is true, the new
// events only count calls in a plan that times calls. The new events are for tracefs.Session.Extend. The caller must append
// them to Events before the next call of EventsFor, because the number of events is a part of their names.
func (p *Plan) EventsFor(funcs []int, counts bool) ([]Event, error) {
	_, nonce, _ := strings.Cut(p.Events[0].Name, "_")
	c, err := newPlanner(p, nonce)
	if err != nil {
		return nil, err
	}
	c.earlier = len(p.Events)
	c.addFuncs(funcs, counts)
	return c.sorted(), nil
}

// Group is a set of functions and the events that they share, as indexes in Plan.Funcs and Plan.Events.
type Group struct{ Funcs, Events []int }

// Groups returns the groups of all functions with probes, in the order of their first events. All runtime probes belong to
// one group, which may have no functions. The events of a group are in the order in which they are disarmed.
func (p *Plan) Groups() (groups []*Group) {
	of := make(map[int]*Group) // by function; -1 stands for all runtime probes
	for e, ev := range p.Events {
		g := of[max(ev.Sites[0].Func, -1)]
		if g == nil {
			g = &Group{}
			groups = append(groups, g)
		}
		g.Events = append(g.Events, e)
		for _, s := range ev.Sites {
			fn := max(s.Func, -1)
			switch other := of[fn]; {
			case other == nil:
				of[fn], g.Funcs = g, append(g.Funcs, fn)
			case other != g: // the event joins two groups
				for _, f := range other.Funcs {
					of[f] = g
				}
				g.Funcs, g.Events = append(g.Funcs, other.Funcs...), append(g.Events, other.Events...)
				groups = slices.DeleteFunc(groups, func(old *Group) bool { return old == other })
			}
		}
	}
	for _, g := range groups {
		slices.Sort(g.Events)
		slices.Sort(g.Funcs)
		g.Funcs = slices.DeleteFunc(g.Funcs, func(fn int) bool { return fn < 0 })
	}
	slices.SortFunc(groups, func(a, b *Group) int { return a.Events[0] - b.Events[0] })
	return groups
}
