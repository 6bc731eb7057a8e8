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

// shape has the properties that all sites of an event share.
type shape struct {
	kind          Kind
	id            identity
	types, filter string // the types of the values, and the condition on which the kernel records hits
	runtime       bool   // runtime probes, in a plan whose functions' probes are placed and removed
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
	limit  int // the most sites of an event
	events []Event
	open   map[shape]int     // the event that gets the next site of a shape
	made   int               // the number of earlier events, which these join in a running session
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
		if c.limit = SitesPerEvent(p.sites()); p.GroupSize > 0 {
			c.limit = min(c.limit, MaxGroupSize)
		}
	}
	var err error
	if minor > 0 && p.identifies() {
		c.goid, c.stackLo, c.stackHi, err = p.Binary.Internals().Layout()
	}
	return c, err
}

// add puts a site into the event of its shape. The event also fetches values, unless they are nil.
func (c *planner) add(sh shape, fn int, s offsets.Site, values *capture.Capture) {
	site := Site{Kind: sh.kind, Addr: s.Addr(), Offset: s.Offset(), Func: fn, Cond: s.Cost().Cond, Stepped: !c.emulated(s)}
	if sh.kind == CheckFailed { // shares the event of the counter from which it is subtracted
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
	sh.runtime = c.plan.GroupSize > 0 && fn < 0
	i, ok := c.open[sh]
	// The few runtime probes need no second event, if events can have many sites.
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

// together reports whether a site where calls end shares the event of sites where they begin: an event is disarmed at once, and
// the next one only after a grace period, during which it still costs the program time.
func (c *planner) together(sh shape, addr uint64) bool {
	p := c.plan
	for _, taken := range c.taken { // an event has an address once: a call that begins and ends at one instruction needs two events
		if taken[addr] {
			return false
		}
	}
	return p.GroupSize > 0 && p.Recorded && p.Stack == 0 && !sh.runtime && (sh.kind == Return || sh.kind == TailJump || sh.kind == CondTail)
}

// joins reports whether a site shares the event of returns that fetch no values: each event takes
// a grace period when it is disarmed. (No two of these sites are the same instruction.)
func (c *planner) joins(sh shape) bool {
	switch sh.kind {
	case TailJump:
		return true
	case GoroutineEnd, Recovery:
		// In older Go no register holds g where calls return.
		return sh.id == byG && !c.plan.ByStack && c.features.Memory
	}
	return false
}

// letters are the first letters of events' names.
var letters = map[Kind]string{Entry: "e", EntryJump: "j", Point: "i", Return: "r", CondTail: "c", GoroutineEnd: "x", Recovery: "p", StackMove: "m", Resume: "g", Yield: "y", Status: "s", Park: "w", Switch: "o", Waiter: "b", WaitOver: "a", Creation: "k", Counter: "n", CounterJump: "f"}

func (c *planner) event(sh shape, i int, values *capture.Capture) Event {
	ev := Event{Name: fmt.Sprintf("%s%d_%s", letters[sh.kind], c.made+i, c.nonce), PC: c.machine.PC.Fetch()}
	if !c.plan.identifies() || sh.kind.Counts() {
		// Only hits that are not calls are recorded. For most kinds that is no hit, because no thread has two ids.
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

// MaxGroupSize is the most functions whose probes should be placed and removed together, and the most sites of an
// event of a plan that GroupSize. An event is disarmed as a whole, in some 45 ms whatever its number of sites. To define
// so many sites anew, for functions that stay, takes half a second among 15,000 sites.
const MaxGroupSize = 1000

// addFuncs adds the probes of all functions.
func (c *planner) addFuncs() {
	funcs := c.plan.Funcs
	most := cmp.Or(c.plan.GroupSize, max(len(funcs), 1))
	for from := 0; from < len(funcs); from += most {
		until := min(from+most, len(funcs))
		for i := from; i < until; i++ {
			if !funcs[i].Deferred {
				c.addEntry(i, false)
			}
		}
		for i := from; i < until && c.plan.Mode == Latency; i++ {
			if !funcs[i].Deferred {
				c.addEnds(i)
			}
		}
		if c.plan.GroupSize > 0 {
			clear(c.open) // the next functions share no event with these
		}
	}
}

// addEntry adds the site where calls of a function begin, to time the calls or only to count them.
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

// subtracts reports whether two counters of the kernel count calls, so that nothing is recorded: how often a
// function's stack check runs, less how often it fails. That needs twice as many sites, and the time to define them grows
// with the square of their number: for many functions, failed checks are recorded instead. It also needs both sites in one
// event: one of two events would be disarmed before the other.
func (c *planner) subtracts(counts bool) bool {
	return (c.plan.Mode == Count || counts && !c.plan.Recorded) && c.features.Append && len(c.plan.Funcs) <= MaxGroupSize
}

// entry returns the site where calls of a function are seen to begin.
func (c *planner) entry(f *Probe) (Kind, offsets.Site) {
	kind, site := Entry, f.Sites.Entry
	switch s := f.Sites; {
	case f.Point:
		kind = Point
	case s.CheckOnly:
		kind, site = EntryJump, *s.Check
	case c.emulated(site):
	case s.Check != nil && c.emulated(*s.Check):
		// The instruction after the check would be single-stepped, which costs more than ten
		// times as much as its jump, which every kernel emulates.
		kind, site = EntryJump, *s.Check
	case s.Branch == nil || !c.emulated(*s.Branch) || f.Returns && endsAt(s, *s.Branch):
		// (If a call begins and ends in one hit of two events, their order is not defined.)
	case s.Intact || !f.Values.fetched():
		site = *s.Branch
	}
	f.Stepped = !c.emulated(site)
	return kind, site
}

// endsAt reports whether calls may end at a site.
func endsAt(s *offsets.Sites, site offsets.Site) bool {
	return slices.Contains(s.Returns, site) || slices.Contains(s.Tails, site) || slices.Contains(s.CondTails, site)
}

// fetched reports whether anything is fetched where calls begin.
func (v Values) fetched() bool { return v.Entry != nil && len(v.Entry.Args) > 0 }

func (c *planner) emulated(s offsets.Site) bool {
	return s.Cost().Emulated || s.Cost().Later != "" && c.features.PushEmulated
}

// identity says how calls of a function are identified, where they begin and where they end.
//
// In Go code a register holds g, and SP is on g's stack. The exceptions: assembly (ABI0) may
// be called from C or use the register for something else; and in package runtime a signal handler
// runs on a stack of its own before it switches g.
func (c *planner) identity(f *Probe) (begin, end identity) {
	switch {
	// Nothing is fetched, or only registers: then neither goroutines nor their stacks are known.
	case !c.plan.identifies() || !c.features.Memory || f.Point || f.ABI == offsets.SystemV:
		return byThread, byThread
	case c.plan.ByStack && f.Sites.Check != nil:
		return byCheckG, byStack
	case c.plan.ByStack:
		return byStack, byStack
	// In a running session this halves the number of events: byCheckedG fetches all that byG fetches.
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

// sorted returns the events in order of their sites' kinds. If calls begin and end in one event, see together, the ends come first: the
// kernel places probes in this order, so that the end of every call that is seen to begin is probed.
func (c *planner) sorted() []Event {
	for i := 0; i < len(c.events) && c.plan.GroupSize > 0 && c.plan.Recorded; i++ {
		slices.SortStableFunc(c.events[i].Sites, func(a, b Site) int { return int(b.Kind) - int(a.Kind) })
	}
	slices.SortStableFunc(c.events, func(a, b Event) int { return int(a.Sites[0].Kind) - int(b.Sites[0].Kind) })
	MarkShared(c.events)
	return c.events
}

// Share marks sites at an address where an earlier event has a site: a function that does nothing begins and
// ends with one instruction.
func MarkShared(events []Event) {
	taken := make(map[uint64]bool)
	for e := range events {
		for i := range events[e].Sites {
			s := &events[e].Sites[i]
			s.Shared = taken[s.Addr]
			taken[s.Addr] = true
		}
	}
}

// decodeAll decodes functions on all CPUs and returns them in order. It calls progress, if not nil.
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

// The cost of sites and events, in nanoseconds: measured on Linux 6.18 in a virtual machine
// with 2 MB of second-level cache, 1 to 15,000 sites (scripts/bench -only split repeats
// it). Only the square root of their ratio matters.
const (
	// compareCost is the cost of comparing a definition with an earlier site of the same event: the kernel compares each
	// with each of them (kernel/trace/trace_uprobe.c, trace_uprobe_has_same_uprobe).
	compareCost = 6.5
	// graceCost is the cost of the grace period that each event takes when it is disarmed,
	// whatever its number of sites (trace_uprobe.c, __probe_event_disable). Grace periods follow one
	// another, because the kernel holds event_mutex meanwhile: disabling the whole group,
	// removing the instance, or several threads do not join them.
	graceCost = 55e6
)

// SitesPerEvent returns the most sites of an event for which n sites are armed and disarmed fastest.
//
// k events of n/k sites cost n²/2k comparisons and k grace periods. The sum is least
// when one more event saves less in comparisons than its grace period costs:
//
//	n²/2k·compareCost − n²/2(k+1)·compareCost ≤ graceCost
//
// Other costs do not depend on k. From 15,000 sites on, the largest is that the kernel compares
// each definition with all others (validate_ref_ctr_offset).
func SitesPerEvent(n int) int {
	comparisons := float64(n) * float64(n) / 2
	k := 1
	for comparisons/float64(k*(k+1))*compareCost > graceCost {
		k++
	}
	return max(1, (n+k-1)/k)
}
