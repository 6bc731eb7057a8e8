package uprobe

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/tracefs"
)

// shape is what sites must agree in to share an event.
type shape struct {
	kind Kind
	id   identity
	// types are those of the values, filter what the kernel records hits by.
	types, filter string
}

// planner gathers sites into the events of a plan.
type planner struct {
	plan     *Plan
	features tracefs.Features
	fetcher  fetcher
	nonce    string
	limit    int // of the sites of an event
	events   []Event
	open     map[shape]int // the event that takes the next site of a shape
	// made is the number of events made before; later: these join them in a running
	// session.
	made  int
	later bool
	// taken are the addresses of each event's sites.
	taken map[takenSite]bool
}

type takenSite struct {
	event int
	addr  uint64
}

func newPlanner(p *Plan, on tracefs.Features, nonce string) (*planner, error) {
	c := &planner{
		plan: p, fetcher: newFetcher(p.Binary), features: on, nonce: nonce, limit: 1,
		open: make(map[shape]int), taken: make(map[takenSite]bool),
	}
	if on.Append {
		c.limit = tracefs.SitesPerEvent(p.sites())
	}
	var err error
	if minor, _ := p.Binary.GoVersion(); minor > 0 && p.identifies() {
		f := &c.fetcher
		f.goid, f.stackLo, f.stackHi, err = p.Binary.Layout()
	}
	return c, err
}

// add puts a site into the event of its shape.
func (c *planner) add(sh shape, fn int, s offsets.Site) { c.addFetching(sh, fn, s, nil) }

// addFetching is add for sites that fetch values as well.
func (c *planner) addFetching(sh shape, fn int, s offsets.Site, values *capture.Capture) {
	site := Site{Kind: sh.kind, Addr: s.Addr(), Offset: s.Offset(), Func: fn, Cond: s.Cond(), Stepped: !c.emulated(s)}
	if values != nil {
		for _, a := range values.Args {
			sh.types += a.Type + " "
		}
	} else if c.joins(sh) {
		if sh.kind == Recovery {
			args, _ := c.fetcher.fetch(Recovery, sh.id)
			for _, a := range args {
				site.Fetch = append(site.Fetch, a.Fetch)
			}
		}
		sh.kind = Return
	}
	i, ok := c.open[sh]
	// The handful of runtime probes is worth no event more, where events can have many sites.
	if !ok || len(c.events[i].Sites) >= c.limit && (fn >= 0 || !c.features.Append) {
		i = len(c.events)
		c.open[sh] = i
		c.events = append(c.events, c.event(sh, i, values))
	}
	if values != nil {
		ev := &c.events[i]
		for _, a := range ev.Args[:len(ev.Args)-len(values.Args)] {
			site.Fetch = append(site.Fetch, a.Fetch)
		}
		for _, a := range values.Args {
			site.Fetch = append(site.Fetch, a.Fetch)
		}
	}
	if at := (takenSite{i, site.Addr}); !c.taken[at] { // a second one is left out
		c.taken[at] = true
		c.events[i].Sites = append(c.events[i].Sites, site)
	}
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
var letters = map[Kind]string{Entry: "e", EntryJump: "j", Point: "i", Return: "r", CondTail: "c", GoroutineEnd: "x", Recovery: "p", StackMove: "m", Resume: "g", Yield: "y", Status: "s", Park: "w", Switch: "o", Counter: "n", CounterJump: "f"}

func (c *planner) event(sh shape, i int, values *capture.Capture) Event {
	var ev Event
	ev.Name = fmt.Sprintf("%s%d_%s", letters[sh.kind], c.made+i, c.nonce)
	switch {
	case c.plan.identifies() && !sh.kind.Counts():
		ev.Args, ev.Fields = c.fetcher.fetch(sh.kind, sh.id)
		ev.Filter = sh.filter
		words := len(ev.Args)
		ev.Counts = make([]int, words)
		if sh.kind <= EntryJump && c.plan.Stack > 0 {
			args, counts := stackArgs(framesOf(c.plan.Binary), c.plan.Stack, c.features.Arrays)
			ev.Args, ev.Counts = append(ev.Args, args...), append(ev.Counts, counts...)
			ev.Fields.Stack = words
			words += c.plan.StackWords()
		}
		if values != nil {
			ev.Fields.Values, ev.Words = words, values.Words()
			ev.Args, ev.Counts = append(ev.Args, values.Args...), append(ev.Counts, values.Counts...)
		}
	default:
		ev.Fields = noFields
		if sh.kind == EntryJump || sh.kind == CounterJump {
			ev.Args = []tracefs.Arg{{Name: "fl", Fetch: c.fetcher.machine.Flags.Fetch(), Type: "s64"}}
			ev.Fields.Flags = 0
		}
		if c.plan.Mode == Count || sh.kind.Counts() && !c.plan.Recorded {
			ev.Filter = c.countFilter(sh.kind)
		}
	}
	return ev
}

// countFilter records nothing but the hits that are no calls.
func (c *planner) countFilter(k Kind) string {
	if k == EntryJump || k == CounterJump {
		return c.plan.Processor.Failed("fl")
	}
	// No thread has two ids.
	return "common_pid == 1 && common_pid == 2"
}

// addEntry chooses the site where calls of a function begin.
func (c *planner) addEntry(i int) {
	f := &c.plan.Funcs[i]
	if f.Point {
		f.Stepped = !c.emulated(f.Sites.Entry)
		c.add(shape{kind: Point, id: byThread}, i, f.Sites.Entry)
		return
	}
	kind, site := c.entry(f)
	id, _ := c.identity(f)
	c.addFetching(shape{kind: kind, id: id, filter: f.Values.Filter}, i, site, f.Values.Entry)
}

// addCounter counts calls where they begin.
func (c *planner) addCounter(i int) {
	kind, site := c.entry(&c.plan.Funcs[i])
	if kind == EntryJump {
		kind = CounterJump
	} else {
		kind = Counter
	}
	c.add(shape{kind: kind, id: byThread}, i, site)
}

// entry is the site where calls of a function are seen to begin.
func (c *planner) entry(f *Function) (Kind, offsets.Site) {
	kind, site := Entry, f.Sites.Entry
	switch s := f.Sites; {
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

// endsAt tells whether calls may end at a site, other than by a RET.
func endsAt(s *offsets.Sites, site offsets.Site) bool {
	return slices.Contains(s.Tails, site) || slices.Contains(s.CondTails, site)
}

// fetched tells whether anything is fetched where calls begin.
func (v Values) fetched() bool { return v.Entry != nil && len(v.Entry.Args) > 0 }

func (c *planner) emulated(s offsets.Site) bool {
	return s.Cost().Emulated || s.Cost().Later != "" && c.features.PushEmulated
}

func (c *planner) identity(f *Function) (begin, end identity) {
	if !c.plan.identifies() {
		return byThread, byThread // nothing is fetched: all functions share a shape
	}
	if !c.features.Memory {
		return byThread, byThread // neither the goroutine's id nor its stack is to be had
	}
	begin, end = identityOf(f, c.plan.ByStack)
	if c.later && begin == byG {
		// Which fetches all that byG does: so there are half as many events.
		begin, end = byCheckedG, byCheckedG
	}
	return begin, end
}

func (c *planner) addEnds(i int) {
	f := &c.plan.Funcs[i]
	_, id := c.identity(f)
	for _, s := range f.Sites.Returns {
		c.addFetching(shape{kind: Return, id: id}, i, s, f.Values.Return)
	}
	for _, s := range f.Sites.Tails {
		c.add(shape{kind: TailJump, id: id}, i, s)
	}
	for _, s := range f.Sites.CondTails {
		c.add(shape{kind: CondTail, id: id}, i, s)
	}
}

// addRuntimeProbes probes the places of Go's runtime that tell of calls which end
// without a return: where goroutines end, Goexit included, and where execution
// resumes after a recovered panic. A binary without them (not Go, stripped of the
// names) does without: such calls are then found unwound by the next event on
// their goroutine. Where goroutines are known by their stacks, a third one tells
// when a stack moves. Neither is gccgo's runtime, which has functions of the same names and
// no g in a register.
func (c *planner) addRuntimeProbes() {
	if c.fetcher.conv.G == "" && !c.plan.ByStack {
		return
	}
	b := c.plan.Binary
	if f, ok := b.Lookup("runtime.goexit1"); ok {
		if s, err := b.Sites(f); err == nil && c.plan.ByStack && s.Check != nil {
			c.addGoroutineEnd(byCheckG, *s.Check)
		} else if err == nil && !c.plan.ByStack {
			c.addGoroutineEnd(byG, s.Entry)
		}
	}
	recovery, ok1 := b.Lookup("runtime.recovery")
	gogo, ok2 := b.Lookup("runtime.gogo")
	if ok1 && ok2 && gogo.ABI == offsets.ABI0 {
		calls, err := callsOf(b, recovery, gogo)
		if err == nil {
			for _, s := range calls {
				c.add(shape{kind: Recovery, id: byG}, -1, s)
			}
		}
	}
	if f, ok := b.Lookup("runtime.copystack"); ok && c.plan.ByStack {
		if s, err := b.Sites(f); err == nil {
			for _, r := range s.Returns {
				c.add(shape{kind: StackMove, id: byG}, -1, r)
			}
		}
	}
}

// callsOf are the sites in f that call another function directly.
func callsOf(b *offsets.Binary, f, callee *offsets.Func) ([]offsets.Site, error) {
	code, err := b.Decode(f)
	if err != nil {
		return nil, err
	}
	return code.CallsOf(callee)
}

// sorted is the events in order of their sites' kinds.
func (c *planner) sorted() []Event {
	slices.SortStableFunc(c.events, func(a, b Event) int { return int(a.Sites[0].Kind) - int(b.Sites[0].Kind) })
	return c.events
}

// decoded is what became of one function.
type decoded struct {
	fn    *offsets.Func
	sites *offsets.Sites
	err   error
}

// decodeAll decodes functions on all CPUs, and keeps their order. It counts them in done,
// if that is not nil.
func decodeAll(b *offsets.Binary, funcs []*offsets.Func, done *atomic.Int64) []decoded {
	out := make([]decoded, len(funcs))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(funcs)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(funcs)); i = next.Add(1) - 1 {
				sites, err := b.Sites(funcs[i])
				out[i] = decoded{funcs[i], sites, err}
				if done != nil {
					done.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return out
}
