package uprobe

import (
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

// shape has the properties that are the same for all sites of an event.
type shape struct {
	kind          Kind
	id            identity
	types, filter string // the types of the fetched values, and the condition on which the kernel records a hit
	runtime       bool   // true for runtime probes in a plan with a GroupSize: they share no event with functions
}

// planner collects sites into the events of a plan.
type planner struct {
	plan       *Plan
	machine    *arch.Machine
	conv, abi0 *arch.CallConv // the calling conventions of compiled Go functions and of assembly functions in the binary
	// goid, stackLo, stackHi, waitReason and m are offsets of fields in runtime.g, and curg is the offset of the
	// running goroutine in runtime.m.
	goid, stackLo, stackHi, waitReason, m, curg int64

	nonce   string
	limit   int // the maximum number of sites of an event
	events  []Event
	open    map[shape]int     // the index of the event that gets the next site of a shape
	earlier int               // the number of events that the plan already has
	addrs   []map[uint64]bool // the addresses of the sites of each event
}

func newPlanner(p *Plan, nonce string) (*planner, error) {
	minor, _ := p.Binary.GoVersion()
	processor := p.Binary.File().Processor
	c := &planner{
		plan: p, machine: processor.Machine(), conv: processor.Machine().Go(minor, false), abi0: processor.Machine().Go(minor, true),
		nonce: nonce, limit: 1, open: make(map[shape]int),
	}
	if p.Features.Append {
		sites := 0
		for i := range p.Funcs {
			sites += p.siteCount(&p.Funcs[i])
		}
		if c.limit = SitesPerEvent(sites); p.GroupSize > 0 {
			c.limit = min(c.limit, MaxGroupSize)
		}
	}
	if minor == 0 || !p.identifies() {
		return c, nil
	}
	l, err := p.Binary.Internals().Layout()
	c.goid, c.stackLo, c.stackHi, c.m, c.curg = l.Goid, l.StackLo, l.StackHi, l.M, l.Curg
	return c, err
}

// add adds a site to an event of its shape. If values is not nil, the event also fetches values.
func (c *planner) add(sh shape, fn int, s offsets.Site, values *capture.Capture) {
	site := Site{Kind: sh.kind, Addr: s.Addr(), Offset: s.Offset(), Func: fn, Cond: s.Cost().Cond, Stepped: !c.emulated(s)}
	if values != nil {
		for _, a := range values.Args {
			sh.types += a.Type + " "
		}
	} else if c.sharesEntryEvent(sh, site.Addr) {
		sh.kind = map[Kind]Kind{Return: Entry, TailJump: Entry, CondTail: EntryJump}[sh.kind]
	} else if c.sharesReturnEvent(sh) {
		if sh.kind == Recovery {
			site.appendFetch(c.fetch(Recovery, sh.id))
		}
		sh.kind = Return
	}
	sh.runtime = c.plan.GroupSize > 0 && fn < 0
	i, ok := c.open[sh]
	// All runtime probes of a shape share one event if events can have several sites, because these probes are few.
	if !ok || len(c.events[i].Sites) >= c.limit && (fn >= 0 || !c.plan.Features.Append) {
		i = len(c.events)
		c.open[sh] = i
		c.events = append(c.events, c.event(sh, i, values))
		c.addrs = append(c.addrs, make(map[uint64]bool))
	}
	if values != nil {
		ev := &c.events[i]
		site.appendFetch(ev.Args[:len(ev.Args)-len(values.Args)])
		site.appendFetch(values.Args)
	}
	if !c.addrs[i][site.Addr] { // an event has only one site at an address
		c.addrs[i][site.Addr] = true
		c.events[i].Sites = append(c.events[i].Sites, site)
	}
}

// sharesEntryEvent reports whether a site where calls end shares the event of a site where calls begin. The kernel
// disarms all sites of an event at once. With two events, the sites of the second event would stay armed for a grace
// period longer, and cost the program time.
func (c *planner) sharesEntryEvent(sh shape, addr uint64) bool {
	p := c.plan
	ends := sh.kind == Return || sh.kind == TailJump || sh.kind == CondTail
	if p.GroupSize == 0 || !p.Recorded || p.Stack > 0 || !ends {
		return false
	}
	// A call that begins and ends at one instruction needs two events.
	return !slices.ContainsFunc(c.addrs, func(addrs map[uint64]bool) bool { return addrs[addr] })
}

// sharesReturnEvent reports whether a site shares the event of the returns that fetch no values. It does to save the
// grace period that each further event takes when it is disarmed. All sites of this event have different addresses.
func (c *planner) sharesReturnEvent(sh shape) bool {
	switch sh.kind {
	case TailJump:
		return true
	case GoroutineEnd, Recovery:
		// In older versions of Go, no register holds g where calls return.
		return !c.plan.ByStack && c.plan.Features.Memory
	}
	return false
}

// letters maps kinds to the first letter of their events' names.
var letters = map[Kind]string{Entry: "e", EntryJump: "j", Point: "i", Return: "r", CondTail: "c", GoroutineEnd: "x", Recovery: "p", StackMove: "m", Resume: "g", Yield: "y", Status: "s", Park: "w", Switch: "o", Waiter: "b", WaitOver: "a", Creation: "k", Counter: "n", CounterJump: "f", Arrival: "q", ArrivalJump: "h"}

func (c *planner) event(sh shape, i int, values *capture.Capture) Event {
	ev := Event{Event: tracefs.Event{Name: fmt.Sprintf("%s%d_%s", letters[sh.kind], c.earlier+i, c.nonce), PC: c.machine.PC.Fetch()}}
	if !c.plan.identifies() || sh.kind.Counts() {
		// The kernel counts all hits, and records only hits that are not calls. Most kinds have no such hits:
		// their filter is always false.
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
		ev.Args = append(ev.Args, StackArgs(c.plan.Binary, c.plan.Stack, c.plan.Features.Arrays)...)
		ev.Fields.Stack = n
		n += c.plan.StackWords()
	}
	if values != nil {
		ev.Fields.Values, ev.Words, ev.Faults = n, values.Words, c.plan.Features.Arrays
		ev.Args = append(ev.Args, values.Args...)
	}
	ev.Recorded = len(ev.Args) == 0
	return ev
}

// MaxGroupSize is the recommended maximum of Options.GroupSize, and the maximum number of sites of an event in a plan
// with a GroupSize. The kernel disarms all sites of an event at once, in about 45 ms whatever their number. To remove
// some functions of a group, the sites of the other functions must be defined again. This takes half a second for 1,000
// sites if 15,000 sites exist.
const MaxGroupSize = 1000

// addFuncs adds the probes of functions. If counts is true, they only count calls in a plan that times calls.
func (c *planner) addFuncs(funcs []int, counts bool) {
	for _, i := range funcs {
		c.addEntry(i, counts)
	}
	for _, i := range funcs {
		switch {
		case c.plan.To != nil:
			c.addArrival(i)
		case c.plan.Mode == Latency && !counts:
			c.addEnds(i)
		}
	}
}

// addArrival adds the site where calls of Plan.To begin, which end the calls of a function.
func (c *planner) addArrival(i int) {
	to := *c.plan.To
	to.Values.Entry = c.plan.Funcs[i].Values.Return
	kind, site := c.entry(&to)
	if kind == EntryJump {
		c.add(shape{kind: ArrivalJump, id: byThread}, i, site, to.Values.Entry)
		return
	}
	c.add(shape{kind: Arrival, id: byThread}, i, site, to.Values.Entry)
}

// addEntry adds the site where calls of a function begin. If counts is true, the site only counts calls in a plan that
// times calls.
func (c *planner) addEntry(i int, counts bool) {
	f := &c.plan.Funcs[i]
	kind, site := c.entry(f)
	if counts {
		counter := Counter
		if kind == EntryJump {
			counter = CounterJump
		}
		c.add(shape{kind: counter, id: byThread}, i, site, nil)
		return
	}
	id, _ := c.identity(f)
	c.add(shape{kind: kind, id: id, filter: f.Values.Filter}, i, site, f.Values.Entry)
}

// entry returns the site where beginnings of calls are observed, and the kind of the site. It also sets f.Stepped.
func (c *planner) entry(f *Probe) (Kind, offsets.Site) {
	kind, site := Entry, f.Sites.Entry
	switch s := f.Sites; {
	case f.Point:
		kind = Point
	case s.CheckOnly:
		kind, site = EntryJump, *s.Check
	case c.emulated(site):
	case s.Check != nil && c.emulated(*s.Check):
		// The kernel would single-step the entry, which costs more than ten times as much as the
		// jump of the stack check, which every kernel emulates.
		kind, site = EntryJump, *s.Check
	case s.Branch == nil || !c.emulated(*s.Branch) || f.Returns && slices.Contains(slices.Concat(s.Returns, s.Tails, s.CondTails), *s.Branch):
		// Keep Sites.Entry. If calls began and ended at the branch, it would be a site of two events, and the
		// order of their hits would be undefined.
	case s.Intact || f.Values.Entry == nil || len(f.Values.Entry.Args) == 0: // no values are fetched there
		site = *s.Branch
	}
	f.Stepped = !c.emulated(site)
	return kind, site
}

// emulated reports whether the kernel emulates the instruction of a site instead of single-stepping it.
func (c *planner) emulated(s offsets.Site) bool {
	return s.Cost().Emulated || s.Cost().Later != "" && c.plan.Features.PushEmulated
}

// identity returns how events identify the goroutine of a call of a function: begin is for the events where calls begin,
// end for the events where calls end.
//
// In Go code, a register holds g, and SP is on g's stack. There are two exceptions. Assembly (ABI0) may be called from
// C, or use the register for other values. In package runtime, a signal handler runs on its own stack before it changes
// g.
func (c *planner) identity(f *Probe) (begin, end identity) {
	switch {
	// Nothing, or only registers, can be fetched. So neither goroutines nor their stacks are known.
	case !c.plan.identifies() || !c.plan.Features.Memory || f.Point || f.ABI == offsets.SystemV:
		return byThread, byThread
	case c.plan.ByStack && f.Sites.Check != nil:
		return byCheckG, byStack
	case c.plan.ByStack:
		return byStack, byStack
	// byCheckedG fetches everything that byG fetches. If events are added to a session (c.earlier > 0), all functions
	// use byCheckedG, so that they share events: this halves the number of added events.
	case c.earlier > 0 || f.ABI == offsets.ABI0 || inRuntime(f.Func):
		return byCheckedG, byCheckedG
	}
	return byG, byG
}

// addEnds adds the sites where calls of a function end.
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

// sorted returns the events in the order of their sites' kinds. In an event where calls begin and end (see
// sharesEntryEvent), the ends come first: the kernel places probes in this order, so no call begins before the probes
// at its ends are placed.
func (c *planner) sorted() []Event {
	for i := 0; i < len(c.events) && c.plan.GroupSize > 0 && c.plan.Recorded; i++ {
		slices.SortStableFunc(c.events[i].Sites, func(a, b Site) int { return int(b.Kind) - int(a.Kind) })
	}
	slices.SortStableFunc(c.events, func(a, b Event) int { return int(a.Sites[0].Kind) - int(b.Sites[0].Kind) })
	MarkShared(c.events)
	return c.events
}

// MarkShared sets Shared of a site to whether an earlier event has a site at the same address. Calls of a function that
// consists of one instruction begin and end at the same address, for example.
func MarkShared(events []Event) {
	seen := make(map[uint64]bool)
	for e := range events {
		for i := range events[e].Sites {
			s := &events[e].Sites[i]
			s.Shared = seen[s.Addr]
			seen[s.Addr] = true
		}
	}
}

// decodeAll finds the sites of functions, on all CPUs, and returns a Probe for each function in order.
func decodeAll(b *offsets.Binary, funcs []*offsets.Func) []Probe {
	out := make([]Probe, len(funcs))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(funcs)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(funcs)); i = next.Add(1) - 1 {
				sites, err := b.Sites(funcs[i])
				out[i] = Probe{Func: funcs[i], Sites: sites, Err: err}
			}
		})
	}
	wg.Wait()
	return out
}

// Costs of sites and events in nanoseconds. They were measured on Linux 6.18 in a virtual machine with 2 MB of
// second-level cache, with 1 to 15,000 sites (scripts/bench -only split repeats this). Only the square root of their
// ratio matters.
const (
	// compareCost is the cost of comparing a new site with another site of the same event. The kernel compares each
	// new site with all others (kernel/trace/trace_uprobe.c, trace_uprobe_has_same_uprobe).
	compareCost = 6.5
	// graceCost is the cost of a grace period. Each event takes one when it is disarmed, whatever its number of sites
	// (trace_uprobe.c, __probe_event_disable). Grace periods of several events never overlap, because the kernel holds
	// event_mutex during each. This is so even if the whole group is disabled, if the instance is removed, or if
	// several threads disable events.
	graceCost = 55e6
)

// SitesPerEvent returns the number of sites per event with which n sites are armed and disarmed fastest.
//
// k events of n/k sites cost n²/2k comparisons and k grace periods. The sum is smallest when one more event would save
// less in comparisons than its grace period costs:
//
//	n²/2k·compareCost − n²/2(k+1)·compareCost ≤ graceCost
//
// Other costs do not depend on k. From 15,000 sites on, the largest one is that the kernel compares each definition
// with all others (validate_ref_ctr_offset).
func SitesPerEvent(n int) int {
	comparisons := float64(n) * float64(n) / 2
	k := 1
	for comparisons/float64(k*(k+1))*compareCost > graceCost {
		k++
	}
	return max(1, (n+k-1)/k)
}
