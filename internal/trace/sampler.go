package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/internal/budget"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/tracefs"
)

// sampler keeps what probes take of the program's CPU time within a budget: functions that are hot are
// watched in short stretches of time alone, all in the same ones (package budget has the rule).
//
// It is a coroutine of the reading: all but the work on probes happens between two reads of the stream.
type sampler struct {
	l         *Live
	ctx       context.Context
	cancel    context.CancelFunc
	budget    budget.Budget
	estimates budget.Estimates
	load      *load
	groups    map[string]*group            // all that were made, by what they watch
	watched   []*group                     // those that are in place all the time
	base      *group                       // of the probes of the runtime, nil if there are none
	placing   []int                        // functions that get probes for the first time
	again     []int                        // functions that get probes again next
	hot       []int                        // functions that the last look found to be hot
	gone      map[int]uint64               // since when a function is not watched, by the trace clock
	stretch   *stretch                     // the one under way, or whose calls are not all counted
	events    int                          // how many were made
	changes   float64                      // how often probes were placed and removed, on each CPU that the program uses
	batch     int                          // how many functions are placed at once
	counted   struct{ calls, cpu float64 } // in all stretches that counted all sampled functions
	exceeded  bool                         // the budget was exceeded at some time: not everything was watched
	failed    bool                         // no more probes can be placed

	placed time.Time     // when probes were placed last
	looked time.Time     // when the last look was
	next   time.Time     // when the next one is due
	pause  time.Duration // between looks
	cpu    time.Duration // the program's CPU time at the last look
	read   int           // events since then
	inTurn bool          // probes are being placed or removed for what a look has found, or for a stretch

	resume func() (error, bool) // goes on until the next read
	stop   func()
	yield  func(error) bool // lets the stream be read; false is the end
}

// group is of functions whose probes are placed and removed together.
type group struct {
	funcs  []int
	events []tracefs.Event
	counts bool // they only count calls, in a run that times others
}

// stretch is a stretch of time in which sampled functions are watched.
type stretch struct {
	budget.Plan
	group  *group
	open   bool           // its probes are in place
	ended  bool           // all its calls were counted
	cpu    time.Duration  // the program's CPU time: when it began, and then of all of it
	before map[int]uint64 // the number of calls when it began
	calls  map[int]int    // of the stretch, once it has ended
	// around is the program's CPU time from the last look before it to the first one behind it, and spent what all probes took of that.
	around, spent float64
}

const (
	// firstPause is the least time between two looks at what probes cost, and longPause the most.
	firstPause = 3 * time.Millisecond
	longPause  = 100 * time.Millisecond
	// lookShare is what part of a CPU looks may take: to read the counters of 15,000 sites takes 20 ms.
	lookShare = 0.02
	// batchSites is how many sites are placed at once: where there are 15,000 others it takes a tenth of a second to define as many.
	batchSites = 1000
	// mostEvents may be made: at the end each takes 45 ms to remove.
	mostEvents = 300
)

// newSampler returns a sampler of what a source probes; nil, which does nothing, where there is no budget.
func newSampler(ctx context.Context, l *Live) (m *sampler, err error) {
	if l.opt.Once || l.opt.Budget == 0 {
		return nil, nil
	}
	plan, n := l.plan, len(l.plan.Funcs)
	m = &sampler{
		l: l, groups: make(map[string]*group), gone: make(map[int]uint64), pause: firstPause, events: len(plan.Events),
		budget: budget.Budget{Share: l.opt.Budget, Funcs: make([]budget.Func, n+1), Times: plan.Mode == uprobe.Latency},
	}
	if m.load, err = newLoad(l); err != nil {
		return nil, err
	}
	m.batch = max(batchSites*plan.Asked()/max(plan.Probes()+plan.Later(), 1), 1)
	m.ctx, m.cancel = context.WithCancel(ctx)
	m.budget.Counts = plan.Mode != uprobe.Latency || !plan.Filtered() && plan.Asked() > 0
	for i := range plan.Asked() {
		m.budget.Funcs[i].Named = l.opt.Named[i]
	}
	m.budget.Funcs[n].Named = true
	all := uprobe.TraceEvents(plan.Events)
	for _, g := range plan.Groups() {
		w := &group{funcs: g.Funcs}
		for _, e := range g.Events {
			w.events = append(w.events, all[e])
		}
		if len(g.Funcs) == 0 {
			w.funcs = []int{n}
			m.base = w
		}
		m.groups[key(false, w.funcs)] = w
		m.watch(w)
	}
	for i := range plan.Asked() {
		if plan.Funcs[i].Later {
			m.estimates.Join(i)
			m.placing = append(m.placing, i)
		}
	}
	slices.SortStableFunc(m.placing, func(i, j int) int { return cmp.Compare(rank(l.opt.Named[i]), rank(l.opt.Named[j])) })
	m.exceeded = len(m.placing) > 0
	m.begin()
	m.resume, m.stop = iter.Pull(iter.Seq[error](m.run))
	return m, nil
}

// key tells groups apart.
func key(counts bool, funcs []int) string { return fmt.Sprint(counts, funcs) }

// watch notes that a group is in place all the time.
func (m *sampler) watch(g *group) {
	m.watched = append(m.watched, g)
	for _, i := range g.funcs {
		m.budget.Watch(i)
		m.estimates.Leave(i)
	}
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// begin has the window begin now.
func (m *sampler) begin() {
	if m == nil {
		return
	}
	m.cpu, m.looked, m.changes = m.load.clock.Used(), time.Now(), 0
	m.next = m.looked.Add(m.pause)
}

// step goes on with what there is to do, now that so many more events were read.
func (m *sampler) step(read int) error {
	if m == nil {
		return nil
	}
	m.read += read
	err, _ := m.resume()
	return err
}

// end waits for the work under way, which it cuts short.
func (m *sampler) end() {
	if m == nil {
		return
	}
	m.cancel()
	if s := m.stretch; s != nil && s.open {
		_ = m.close(s) // without the clock, which fails then, nothing is counted
	}
	m.look()
	m.stop()
}

// errEnded: the window has ended before the work on probes.
var errEnded = errors.New("the window has ended")

// run does what is to be done, again and again.
func (m *sampler) run(yield func(error) bool) {
	m.yield = yield
	for {
		switch err := m.turn(); {
		case errors.Is(err, errEnded):
			return
		case err != nil:
			yield(err)
			return
		}
	}
}

// turn does one thing.
func (m *sampler) turn() error {
	if err := m.wait(time.Now()); err != nil || m.failed {
		return err
	}
	switch m.again = append(m.again, m.budget.Calm()...); {
	case len(m.again) > 0: // they cost little
		return m.place(&m.again)
	case len(m.placing) > 0 && (m.budget.Paid() || time.Since(m.placed) > time.Second):
		return m.place(&m.placing)
	}
	if p, ok := m.budget.Next(); ok {
		return m.sample(p)
	}
	return nil
}

// wait lets the stream be read once, and until a time, and looks at what probes cost meanwhile.
func (m *sampler) wait(until time.Time) error {
	for {
		if !m.yield(nil) {
			return errEnded
		}
		now := time.Now()
		if m.stretch == nil && (!now.Before(m.next) || m.alarmed(now)) {
			m.look()
			m.l.opt.Costs.Now() // not before: who places probes has whoever removes some wait
		}
		if len(m.hot) > 0 && !m.inTurn {
			m.inTurn = true
			err := m.cool()
			m.inTurn = false
			if err != nil {
				return err
			}
		}
		if !now.Before(until) {
			return nil
		}
	}
}

// alarmed tells whether what was read since the last look says that probes take much more than they may.
func (m *sampler) alarmed(now time.Time) bool {
	return now.Sub(m.looked) > firstPause && m.load.costOf(m.read) > m.budget.Allowed()/4
}

// beside runs do while the stream is read, and returns when it has ended.
func (m *sampler) beside(do func() error) (err error) {
	done := make(chan struct{})
	var panicked Panicked
	go func() {
		defer close(done)
		defer panicked.Catch()
		err = do()
	}()
	defer panicked.Raise()
	for {
		failed := m.wait(time.Now())
		if failed != nil {
			<-done
			return failed
		}
		select {
		case <-done:
			return err
		default:
		}
	}
}

// look learns what probes have cost since the last look, and which functions are hot.
func (m *sampler) look() {
	profile, took, err := m.load.read(m.l.session)
	now, used := time.Now(), m.load.clock.Used()
	m.next = now.Add(longPause)
	if err != nil { // if that stays so, the last reading tells
		return
	}
	m.load.price(m.l.opt.Costs)
	for i := range m.l.plan.Funcs {
		f := &m.budget.Funcs[i]
		f.Counted, f.Timed = m.load.callCosts(i)
	}
	spent := m.load.take(profile)
	seconds, cpu := now.Sub(m.looked).Seconds(), (used - m.cpu).Seconds()
	m.budget.Spend(seconds, cpu, min(spent*m.load.dear(), max(cpu, spent))) // a budget is kept even where probes cost more than is usual
	m.read, m.looked, m.cpu = 0, now, used
	m.pause = min(2*m.pause, longPause)
	m.next = now.Add(max(m.pause, time.Duration(float64(took)/lookShare)))
	if s := m.stretch; s != nil {
		s.around, s.spent = s.around+cpu, s.spent+spent
		return
	}
	m.estimates.Pause(m.own(cpu, spent))
	m.hot = append(m.hot, m.budget.Hot(seconds, cpu, func(i int) float64 { return m.load.calls[i] }, func(i int) float64 { return m.load.spent[i] })...)
}

// own is what the program had of a CPU time for itself, of which probes took about so much. All in seconds.
func (m *sampler) own(cpu, spent float64) budget.Range {
	cost := m.load.bounds(spent, m.budget.CPUs())
	if cost.High > cpu/2 { // hits may cost more than anything that was measured where they come one after the other
		cost.High = cpu
	}
	return budget.Less(cpu, cost)
}

// cool takes the probes of hot functions out, those that cost most first. Others that share events with them get new ones.
func (m *sampler) cool() error {
	hot := m.hot
	m.hot = nil
	first := !m.exceeded
	if m.exceeded = true; first {
		m.l.opt.Say("%s", m.overBudget(hot))
	}
	if m.base != nil && slices.Contains(hot, m.base.funcs[0]) { // without the runtime's probes nothing can be timed
		for _, g := range m.watched {
			hot = append(hot, g.funcs...)
		}
		slices.Sort(hot)
		hot = slices.Compact(hot)
	}
	isHot := func(i int) bool { return slices.Contains(hot, i) }
	from, err := m.l.session.Mark(false)
	if err != nil {
		return err
	}
	var events []tracefs.Event
	m.watched = slices.DeleteFunc(m.watched, func(g *group) bool {
		if !slices.ContainsFunc(g.funcs, isHot) {
			return false
		}
		events = append(events, g.events...)
		m.leave(g, from.Ticks)
		for _, i := range g.funcs {
			m.estimates.Join(i)
			if isHot(i) {
				m.budget.Sample(i)
			} else {
				m.again = append(m.again, i)
			}
		}
		return true
	})
	if first {
		m.l.stream.Mark(from.Ticks, func() {
			calls := make(map[int]int)
			for _, i := range hot {
				if i < len(m.l.plan.Funcs) {
					calls[i] = int(m.l.stream.Begun(i))
				}
			}
			m.estimates.First(calls)
		})
	}
	m.pause = firstPause
	return m.disarm(events)
}

// overBudget tells that the budget was exceeded, for the first time. It begins with what has happened, because a screen may
// have room for the first words only, and names are long.
func (m *sampler) overBudget(hot []int) string {
	var names []string
	for _, i := range hot {
		if i < len(m.l.plan.Funcs) {
			names = append(names, printable.Text(m.l.plan.Funcs[i].Name))
		}
	}
	if more := len(names) - 3; more > 0 {
		names = append(names[:3], fmt.Sprintf("%d more", more))
	}
	if len(names) == 0 {
		names = append(names, "the runtime's functions")
	}
	return fmt.Sprintf("probes take more than %.4g%% of the program's CPU time: calls of %s are sampled, and their numbers estimated (--budget 0 sets no limit)",
		100*m.l.opt.Budget, strings.Join(names, ", "))
}

// disarm removes probes, those first that took most at the last look.
func (m *sampler) disarm(events []tracefs.Event) error {
	m.l.vanished.leave(events)
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b tracefs.Event) int { return cmp.Compare(m.load.events[b.Name], m.load.events[a.Name]) })
	err := m.beside(func() error {
		ahead()
		return m.l.session.Disarm(events)
	})
	m.change(events)
	if err != nil && !errors.Is(err, errEnded) {
		return fmt.Errorf("disarm probes: %w", err)
	}
	return err
}

// urgent is the nice value of a thread that removes probes (nice(2)): what keeps the CPUs busy may be what is to be removed.
const urgent = -15

// ahead gives the goroutine a thread of its own that goes before others, and ends with it. Without CAP_SYS_NICE it takes its turn.
func ahead() {
	runtime.LockOSThread()
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, urgent)
}

// change charges the budget for placing or removing probes: each interrupts the program on each CPU that it uses.
func (m *sampler) change(events []tracefs.Event) {
	sites := 0
	for i := range events {
		sites += len(events[i].Sites)
	}
	times := float64(sites) * m.budget.CPUs()
	m.changes += times
	m.budget.Spend(0, 0, times*m.load.costs.Typical.Change()/1e9)
}

// leave says that nothing of a group's functions counts from a time of the trace clock on.
func (m *sampler) leave(g *group, from uint64) {
	if g.counts {
		m.l.stream.Uncount(g.funcs, from, math.MaxUint64)
		return
	}
	for _, i := range g.funcs {
		m.gone[i] = from
	}
	m.l.stream.Retire(m.planned(g), from, math.MaxUint64)
}

// come says that calls of a group's functions that begin from a time of the trace clock on count again.
func (m *sampler) come(g *group, at uint64) {
	for _, i := range m.planned(g) {
		if g.counts {
			m.l.stream.Count([]int{i}, at)
		} else if from, ok := m.gone[i]; ok {
			m.l.stream.Retire([]int{i}, from, at)
			delete(m.gone, i)
		}
	}
}

// planned are the functions of a group that are the plan's: all but what stands for the runtime.
func (m *sampler) planned(g *group) []int {
	if g == m.base {
		return nil
	}
	return g.funcs
}

// make makes the events of a group, or finds the group that was made before. It is nil if there is no room for more.
func (m *sampler) make(funcs []int, counts bool) (*group, error) {
	l := m.l
	if g := m.groups[key(counts, funcs)]; g != nil {
		return g, nil
	}
	if m.events > mostEvents {
		return nil, m.cannot(fmt.Errorf("%d events are enough to remove at the end", m.events))
	}
	events, err := l.plan.Again(l.opt.Features, funcs, counts)
	if err != nil {
		return nil, err
	}
	g := &group{funcs: funcs, events: uprobe.TraceEvents(events), counts: counts}
	if err := m.beside(func() error { return l.session.Extend(m.ctx, g.events) }); err != nil {
		return nil, m.cannot(err)
	}
	l.plan.Events = slices.Concat(l.plan.Events, events)
	l.session.Join(g.events)
	m.events += len(events)
	m.groups[key(counts, funcs)] = g
	return g, l.stream.Extend()
}

// cannot says that no more probes can be placed, unless the run has ended: those that are in place stay.
func (m *sampler) cannot(err error) error {
	if errors.Is(err, errEnded) || m.ctx.Err() != nil {
		return errEnded
	}
	m.failed = true
	m.l.opt.Say("no more probes are placed: %v", err)
	return nil
}

// arm places the probes of a group, and tells when they were in place.
func (m *sampler) arm(g *group, others ...*group) (at tracefs.Mark, err error) {
	events := g.events
	for _, o := range others {
		events = slices.Concat(events, o.events) // the last are placed first
	}
	m.change(events)
	if err := m.beside(func() error { return m.l.session.Arm(m.ctx, events) }); err != nil {
		if m.cannot(err) != nil {
			return at, errEnded
		}
		return at, m.disarm(events)
	}
	return m.l.session.Mark(false)
}

// place places probes of the first functions of a list, which are to be watched all the time.
func (m *sampler) place(list *[]int) error {
	m.placed = time.Now()
	next := (*list)[:min(len(*list), m.batch)]
	if base := len(m.l.plan.Funcs); next[0] == base {
		next = next[:1]
	} else if i := slices.Index(next, base); i > 0 {
		next = next[:i]
	}
	*list = (*list)[len(next):]
	funcs := slices.Sorted(slices.Values(next))
	g := m.base
	if g == nil || funcs[0] != g.funcs[0] {
		var err error
		if g, err = m.make(funcs, false); g == nil || err != nil {
			return err
		}
	}
	at, err := m.l.session.Mark(false) // from now on whatever begins is seen to end
	if err != nil {
		return err
	}
	for _, i := range m.planned(g) {
		if _, ok := m.gone[i]; !ok { // it had no probes before
			m.gone[i] = 0
		}
	}
	m.come(g, at.Ticks)
	if _, err := m.arm(g); err != nil || m.failed {
		return err
	}
	m.look() // what is watched from here on costs something
	m.watch(g)
	m.pause = firstPause
	m.next = time.Now().Add(m.pause)
	return nil
}

// sample watches sampled functions for a stretch of time.
func (m *sampler) sample(p budget.Plan) error {
	m.inTurn = true
	defer func() { m.inTurn = false }()
	funcs := []int{p.Witness}
	var others []*group
	if p.Witness < 0 {
		funcs = m.budget.Sampled()
		if base := len(m.l.plan.Funcs); slices.Contains(funcs, base) {
			funcs = slices.DeleteFunc(funcs, func(i int) bool { return i == base })
			if p.Kind == budget.Time {
				others = append(others, m.base)
			}
		}
	}
	counts := p.Kind != budget.Time && m.l.plan.Mode == uprobe.Latency
	g := &group{}
	if len(funcs) > 0 {
		var err error
		if g, err = m.make(funcs, counts); g == nil || err != nil {
			return err
		}
	}
	m.look()
	s := &stretch{Plan: p, group: g, calls: make(map[int]int)}
	m.stretch = s
	at, err := m.arm(g, others...)
	if err != nil || m.failed {
		return err
	}
	m.come(g, at.Ticks)
	s.cpu, s.open = m.load.clock.Used(), true
	m.l.stream.Mark(at.Ticks, func() { s.before = m.begun(g) })
	if err := m.wait(time.Now().Add(time.Duration(p.Seconds * float64(time.Second)))); err != nil {
		return err
	}
	if err := m.close(s); err != nil {
		return err
	}
	events := g.events
	for _, o := range others {
		events = slices.Concat(events, o.events)
	}
	if err := m.disarm(events); err != nil {
		return err
	}
	m.look()
	for !s.ended {
		if err := m.wait(time.Now()); err != nil {
			return err
		}
	}
	m.account()
	return nil
}

// close ends a stretch, before its probes are removed.
func (m *sampler) close(s *stretch) error {
	until, err := m.l.session.Mark(false)
	if err != nil {
		return err
	}
	s.cpu, s.open = m.load.clock.Used()-s.cpu, false
	m.leave(s.group, until.Ticks)
	m.l.stream.Mark(until.Ticks, func() {
		for i, n := range m.begun(s.group) {
			if n > s.before[i] {
				s.calls[i] = int(n - s.before[i])
			}
		}
		s.ended = true
	})
	return nil
}

// total is the number of calls of a stretch.
func (s *stretch) total() (n int) {
	for _, calls := range s.calls {
		n += calls
	}
	return n
}

// begun are the numbers of calls of a group's functions so far.
func (m *sampler) begun(g *group) map[int]uint64 {
	calls := make(map[int]uint64, len(g.funcs))
	for _, i := range g.funcs {
		calls[i] = m.l.stream.Begun(i)
	}
	return calls
}

// account takes a stretch whose calls were all counted.
func (m *sampler) account() {
	s := m.stretch
	if s == nil || !s.ended {
		return
	}
	m.stretch = nil
	m.budget.Cost(s.Plan, min(s.spent*m.load.dear(), max(s.around, s.spent)))
	inside, cost := s.cpu.Seconds(), 0.0
	if !m.budget.Counts { // of what a filter has dropped only the kernel's counters tell
		cost = s.spent * inside / max(s.around, inside, 1e-9)
	}
	for i, n := range s.calls {
		switch f := &m.budget.Funcs[i]; {
		case !m.budget.Counts:
		case s.Kind == budget.Time:
			cost += float64(n) * f.Timed
		default:
			cost += float64(n) * f.Counted
		}
	}
	m.estimates.Pause(m.own(max(s.around-inside, 0), max(s.spent-cost, 0)))
	own := m.own(inside, cost)
	if n := float64(s.total()); s.Kind == budget.Count {
		m.counted.calls, m.counted.cpu = m.counted.calls+n, m.counted.cpu+inside
	} else if s.Kind == budget.Witness && m.counted.calls > 0 {
		// To count a call took no more than all the time of stretches in which little else was done, but for what is in no cache.
		own.Low = max(own.Low, inside-1.5*n*m.counted.cpu/m.counted.calls)
	}
	if s.Kind == budget.Time && m.budget.Counts { // calls are counted in other stretches, whose own time is known better
		m.estimates.Watched(own)
		return
	}
	m.estimates.Add(budget.Stretch{Own: own, Calls: s.calls, Witness: s.Witness})
	for _, i := range s.group.funcs {
		m.budget.Note(i, max(own.Typical, inside/50), float64(s.calls[i]))
	}
}

// settle takes the time since the last look into the estimates.
func (m *sampler) settle() {
	if m != nil && m.stretch == nil {
		m.look()
	}
}

// whole estimates how often functions were called, of which so many calls were seen; nil if all were watched all the time.
func (m *sampler) whole(seen func(fn int) uint64) []*stats.Whole {
	if m == nil || !m.exceeded {
		return nil
	}
	m.account()
	all := make([]*stats.Whole, m.l.plan.Asked())
	for i := range all {
		if !m.estimates.Sampled(i) {
			continue
		}
		n := float64(seen(i))
		unseen := m.estimates.Unseen(i, seen(i))
		if m.failed && m.estimates.Away(i) {
			unseen.High = math.Inf(1)
		}
		all[i] = &stats.Whole{Calls: n + unseen.Typical, Low: n + unseen.Low, High: n + unseen.High}
	}
	return all
}
