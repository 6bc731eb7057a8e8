package uprobe

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/offsets"
)

// shape is what sites must agree in to share an event.
type shape struct {
	kind          Kind
	id            identity
	types, filter string // types are those of the values, filter what the kernel records hits by
	runtime       bool   // runtime probes, in a plan whose functions come and go
}

// planner gathers sites into the events of a plan.
type planner struct {
	plan     *Plan
	features tracefs.Features
	// Where the binary keeps what events fetch: conv is how functions of Go pass values, abi0 how assembly does.
	machine    *arch.Machine
	conv, abi0 *arch.CallConv
	// goid, stackLo, stackHi and waitReason are where runtime.g has them, m where it has its thread, and curg where
	// that has the goroutine that it runs.
	goid, stackLo, stackHi, waitReason, m, curg int64

	nonce  string
	limit  int // of the sites of an event
	events []Event
	open   map[shape]int     // the event that takes the next site of a shape
	made   int               // the number of events made before, which these join in a running session
	taken  []map[uint64]bool // the addresses of each event's sites
}

func newPlanner(p *Plan, on tracefs.Features, nonce string) (*planner, error) {
	minor, _ := p.Binary.GoVersion()
	processor := p.Binary.File().Processor
	c := &planner{
		plan: p, features: on, machine: processor.Machine(), conv: processor.Go(minor, false), abi0: processor.Go(minor, true),
		nonce: nonce, limit: 1, open: make(map[shape]int),
	}
	if on.Append {
		if c.limit = SitesPerEvent(p.sites()); p.Regroups > 0 {
			c.limit = min(c.limit, MostTogether)
		}
	}
	var err error
	if minor > 0 && p.identifies() {
		c.goid, c.stackLo, c.stackHi, err = p.Binary.Internals().Layout()
	}
	return c, err
}

// add puts a site into the event of its shape, which fetches values as well unless they are nil.
func (c *planner) add(sh shape, fn int, s offsets.Site, values *capture.Capture) {
	site := Site{Kind: sh.kind, Addr: s.Addr(), Offset: s.Offset(), Func: fn, Cond: s.Cond(), Stepped: !c.emulated(s)}
	if sh.kind == CheckFailed { // shares the event of what it is to be taken from
		if sh.kind = Entry; c.plan.Mode != Count {
			sh.kind = Counter
		}
	}
	if values != nil {
		for _, a := range values.Args {
			sh.types += a.Type + " "
		}
	} else if c.together(sh, site.Addr) {
		sh.kind = map[Kind]Kind{Return: Entry, TailJump: Entry, CondTail: EntryJump}[sh.kind]
	} else if c.joins(sh) {
		if sh.kind == Recovery {
			site.fetches(c.fetch(Recovery, sh.id))
		}
		sh.kind = Return
	}
	sh.runtime = c.plan.Regroups > 0 && fn < 0
	i, ok := c.open[sh]
	// The handful of runtime probes is worth no event more, where events can have many sites.
	if !ok || len(c.events[i].Sites) >= c.limit && (fn >= 0 || !c.features.Append) {
		i = len(c.events)
		c.open[sh] = i
		c.events = append(c.events, c.event(sh, i, values))
		c.taken = append(c.taken, make(map[uint64]bool))
	}
	if values != nil {
		ev := &c.events[i]
		site.fetches(ev.Args[:len(ev.Args)-len(values.Args)])
		site.fetches(values.Args)
	}
	if !c.taken[i][site.Addr] { // a second one is left out
		c.taken[i][site.Addr] = true
		c.events[i].Sites = append(c.events[i].Sites, site)
	}
}

// together tells whether a site where calls end shares the event of those where they begin: an event is disarmed at once, and
// the next one only after a grace period, in which it goes on to cost the program something.
func (c *planner) together(sh shape, addr uint64) bool {
	p := c.plan
	for _, taken := range c.taken { // an event has a place once: what begins and ends with one instruction takes two
		if taken[addr] {
			return false
		}
	}
	return p.Regroups > 0 && p.Recorded && p.Stack == 0 && !sh.runtime && (sh.kind == Return || sh.kind == TailJump || sh.kind == CondTail)
}

// joins tells whether a site shares the event of returns that fetch no values: each event takes
// a grace period when it is disarmed. (None of them is at the same instruction as another.)
func (c *planner) joins(sh shape) bool {
	switch sh.kind {
	case TailJump:
		return true
	case GoroutineEnd, Recovery:
		// Older Go knows no g where calls return.
		return sh.id == byG && !c.plan.ByStack && c.features.Memory
	}
	return false
}

// letters begin an event's name.
var letters = map[Kind]string{Entry: "e", EntryJump: "j", Point: "i", Return: "r", CondTail: "c", GoroutineEnd: "x", Recovery: "p", StackMove: "m", Resume: "g", Yield: "y", Status: "s", Park: "w", Switch: "o", Waiter: "b", WaitOver: "a", Creation: "k", Counter: "n", CounterJump: "f"}

func (c *planner) event(sh shape, i int, values *capture.Capture) Event {
	ev := Event{Name: fmt.Sprintf("%s%d_%s", letters[sh.kind], c.made+i, c.nonce), PC: c.machine.PC.Fetch()}
	if !c.plan.identifies() || sh.kind.Counts() {
		// Only hits that are no calls are recorded: none of most kinds, as no thread has two ids.
		filter := "common_pid == 1 && common_pid == 2"
		if sh.kind == EntryJump || sh.kind == CounterJump {
			ev.Args = c.flags()
			filter = c.plan.Processor.Failed("fl")
		}
		ev.Fields = fieldsOf(ev.Args)
		if c.plan.Mode == Count || sh.kind.Counts() && !c.plan.Recorded {
			ev.Filter = filter
		}
		return ev
	}
	ev.Args, ev.Filter = c.fetch(sh.kind, sh.id), sh.filter
	ev.Fields = fieldsOf(ev.Args)
	n := len(ev.Args)
	if (sh.kind <= EntryJump || sh.kind == Waiter) && c.plan.Stack > 0 {
		ev.Args = append(ev.Args, StackArgs(c.plan.Binary, c.plan.Stack, c.features.Arrays)...)
		ev.Fields.Stack = n
		n += c.plan.StackWords()
	}
	if values != nil {
		ev.Fields.Values, ev.Words, ev.Faults = n, values.Words, c.features.Arrays
		ev.Args = append(ev.Args, values.Args...)
	}
	for _, a := range ev.Args {
		ev.Counts = append(ev.Counts, arrayLen(a.Type))
	}
	return ev
}

// MostTogether is the most functions whose probes should come and go together, and the most sites of an
// event of a plan that Regroups: an event is disarmed as a whole, in some 45 ms however many it has, and
// the definitions of as many for what is to stay take half a second among 15,000 sites.
const MostTogether = 1000

// addFuncs adds the probes of all functions.
func (c *planner) addFuncs() {
	funcs := c.plan.Funcs
	most := cmp.Or(c.plan.Regroups, max(len(funcs), 1))
	for from := 0; from < len(funcs); from += most {
		until := min(from+most, len(funcs))
		for i := from; i < until; i++ {
			if !funcs[i].Later {
				c.addEntry(i, false)
			}
		}
		for i := from; i < until && c.plan.Mode == Latency; i++ {
			if !funcs[i].Later {
				c.addEnds(i)
			}
		}
		if c.plan.Regroups > 0 {
			clear(c.open) // the next ones share no event with these
		}
	}
}

// addEntry chooses the site where calls of a function begin, to time them or only to count them.
func (c *planner) addEntry(i int, counts bool) {
	f := &c.plan.Funcs[i]
	if s := f.Sites; s.CheckOnly && s.Again != nil && c.subtracts(counts) {
		kind := Entry
		if counts {
			kind = Counter
		}
		c.add(shape{kind: kind, id: byThread}, i, *s.First, nil)
		c.add(shape{kind: CheckFailed, id: byThread}, i, *s.Again, nil)
		return
	}
	kind, site := c.entry(f)
	if counts {
		c.add(shape{kind: kind + Counter, id: byThread}, i, site, nil)
		return
	}
	id, _ := c.identity(f)
	c.add(shape{kind: kind, id: id, filter: f.Values.Filter}, i, site, f.Values.Entry)
}

// subtracts tells whether calls are counted by two counters of the kernel, so that nothing is recorded: how often a
// function's stack check runs, less how often it fails. That takes twice the sites, and what these take grows
// with their square: of many functions the flags are recorded where the check has failed. It takes one event, too: of
// two one would be disarmed before the other.
func (c *planner) subtracts(counts bool) bool {
	return (c.plan.Mode == Count || counts && !c.plan.Recorded) && c.features.Append && len(c.plan.Funcs) <= MostTogether
}

// entry is the site where calls of a function are seen to begin.
func (c *planner) entry(f *Probe) (Kind, offsets.Site) {
	kind, site := Entry, f.Sites.Entry
	switch s := f.Sites; {
	case f.Point:
		kind = Point
	case s.CheckOnly:
		kind, site = EntryJump, *s.Check
	case c.emulated(site):
	case s.Check != nil && c.emulated(*s.Check):
		// The instruction after the check would be single-stepped, more than ten
		// times as dear as its jump, which every kernel emulates.
		kind, site = EntryJump, *s.Check
	case s.Branch == nil || !c.emulated(*s.Branch) || f.Returns && endsAt(s, *s.Branch):
		// (That a call begins and ends in one hit of two events, nothing orders.)
	case s.Intact || !f.Values.fetched():
		site = *s.Branch
	}
	f.Stepped = !c.emulated(site)
	return kind, site
}

// endsAt tells whether calls may end at a site.
func endsAt(s *offsets.Sites, site offsets.Site) bool {
	return slices.Contains(s.Returns, site) || slices.Contains(s.Tails, site) || slices.Contains(s.CondTails, site)
}

// fetched tells whether anything is fetched where calls begin.
func (v Values) fetched() bool { return v.Entry != nil && len(v.Entry.Args) > 0 }

func (c *planner) emulated(s offsets.Site) bool {
	return s.Cost().Emulated || s.Cost().Later != "" && c.features.PushEmulated
}

// identity says how calls of a function are told apart, where they begin and where they end.
//
// In Go code a register is g, and SP is on g's stack. The exceptions: assembly (ABI0) may
// be entered from C or use the register for itself; and in package runtime a signal handler
// runs on a stack of its own before it switches g.
func (c *planner) identity(f *Probe) (begin, end identity) {
	switch {
	// Nothing is fetched, or from registers alone: then neither goroutines nor their stacks are known.
	case !c.plan.identifies() || !c.features.Memory || f.Point || f.ABI == offsets.SystemV:
		return byThread, byThread
	case c.plan.ByStack && f.Sites.Check != nil:
		return byCheckG, byStack
	case c.plan.ByStack:
		return byStack, byStack
	// The events of a running session are half as many: byCheckedG fetches all that byG does.
	case c.made > 0 || f.ABI == offsets.ABI0 || inRuntime(f.Func):
		return byCheckedG, byCheckedG
	}
	return byG, byG
}

func (c *planner) addEnds(i int) {
	f := &c.plan.Funcs[i]
	_, id := c.identity(f)
	for _, s := range f.Sites.Returns {
		c.add(shape{kind: Return, id: id}, i, s, f.Values.Return)
	}
	for _, s := range f.Sites.Tails {
		c.add(shape{kind: TailJump, id: id}, i, s, nil)
	}
	for _, s := range f.Sites.CondTails {
		c.add(shape{kind: CondTail, id: id}, i, s, nil)
	}
}

// sorted is the events in order of their sites' kinds. Where calls begin and end in one event, see together, the ends come first: the kernel
// places probes in this order, so that no call is seen to begin whose end is not.
func (c *planner) sorted() []Event {
	for i := 0; i < len(c.events) && c.plan.Regroups > 0 && c.plan.Recorded; i++ {
		slices.SortStableFunc(c.events[i].Sites, func(a, b Site) int { return int(b.Kind) - int(a.Kind) })
	}
	slices.SortStableFunc(c.events, func(a, b Event) int { return int(a.Sites[0].Kind) - int(b.Sites[0].Kind) })
	Share(c.events)
	return c.events
}

// Share marks the sites that are where an event before has one: a function that does nothing begins and
// ends with one instruction.
func Share(events []Event) {
	taken := make(map[uint64]bool)
	for e := range events {
		for i := range events[e].Sites {
			s := &events[e].Sites[i]
			s.Shared = taken[s.Addr]
			taken[s.Addr] = true
		}
	}
}

// decodeAll decodes functions on all CPUs, in their order, and tells progress, if it is not nil.
func decodeAll(b *offsets.Binary, funcs []*offsets.Func, progress func(what string, done, of int)) []Probe {
	out := make([]Probe, len(funcs))
	var next, done atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(funcs)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(funcs)); i = next.Add(1) - 1 {
				sites, err := b.Sites(funcs[i])
				out[i] = Probe{Func: funcs[i], Sites: sites, Err: err}
				if n := done.Add(1); progress != nil {
					progress("functions decoded", int(n), len(funcs))
				}
			}
		})
	}
	wg.Wait()
	return out
}

// What sites and events cost, in nanoseconds: measured on Linux 6.18 in a virtual machine
// with 2 MB of second-level cache, 1 to 15,000 sites (scripts/bench -only split does it
// again). Only their ratio matters, and only by its root.
const (
	// compareCost is of one comparison with an earlier site of the same event: each definition makes
	// one with each of them (kernel/trace/trace_uprobe.c, trace_uprobe_has_same_uprobe).
	compareCost = 6.5
	// graceCost is of the grace period which each event takes when it is disarmed,
	// whatever it holds (trace_uprobe.c, __probe_event_disable). They come one after
	// the other: the kernel holds event_mutex meanwhile, so disabling the whole group,
	// removing the instance, or several threads don't make it one.
	graceCost = 55e6
)

// SitesPerEvent is the most sites an event is to have for n of them to be armed and disarmed soonest.
//
// In k events of n/k sites they cost n²/2k comparisons and k grace periods. That is least
// where one more event would save less in comparisons than it takes:
//
//	n²/2k·compareCost − n²/2(k+1)·compareCost ≤ graceCost
//
// The other costs don't depend on k. The larger part from 15,000 sites on is that the kernel compares
// each definition with all others in it (validate_ref_ctr_offset).
func SitesPerEvent(n int) int {
	comparisons := float64(n) * float64(n) / 2
	k := 1
	for comparisons/float64(k*(k+1))*compareCost > graceCost {
		k++
	}
	return max(1, (n+k-1)/k)
}
