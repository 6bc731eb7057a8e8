package trace

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/budget"
	"github.com/ftgo/ftgo/internal/uprobe"
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
	placing   []int                        // functions that get probes for the first time, in the order of the plan
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
	read   uint64        // the number of events by then
	inTurn bool          // probes are being placed or removed for what a look has found, or for a stretch

	wake   *time.Timer          // ends the rest of the next read
	resume func() (error, bool) // goes on until the next read
	stop   func()
	yield  func(error) bool // lets the stream be read; false is the end
}

const (
	// firstPause is the least time between two looks at what probes cost, and longPause the most.
	firstPause = 3 * time.Millisecond
	longPause  = 100 * time.Millisecond
	// shortRest is the least time between two reads of the stream that find nothing, and watchfulRest the most where a function may become
	// hot.
	shortRest    = 2 * time.Millisecond
	watchfulRest = 10 * time.Millisecond
	// lookShare is what part of a CPU looks may take: to read the counters of 15,000 sites takes 20 ms.
	lookShare = 0.02
	// slowest is how long functions get no probes for the first time, because probes have taken more than they may, at most.
	slowest = time.Second
	// settled is how long the probes that were placed last are looked at before more are placed: to define these keeps the kernel's lock,
	// for which whoever removes some has to wait.
	settled = 30 * time.Millisecond
	// haste is how long after probes were placed some of them are likely to turn out to be hot.
	haste = 3 * time.Second
	// mostEvents may be made: at the end each takes 45 ms to remove.
	mostEvents = 300
)

// unlimited is a budget that nothing exceeds, of who has set none: functions that come later are placed all the same.
const unlimited = 1000

// BatchSites is how many sites are placed at once within a budget: where there are 15,000 others it takes a tenth of a second to define
// 1000 of them, and all that are hot take their time at once, before they are found.
func BatchSites(budget float64) int { return int(min(max(4000*budget, 100), 1000)) }

// newSampler returns a sampler of what a source probes; nil, which does nothing, where there is no budget.
func newSampler(ctx context.Context, l *Live) (m *sampler, err error) {
	if l.opt.Once || l.opt.Budget == 0 && l.plan.Later() == 0 {
		return nil, nil
	}
	share := cmp.Or(l.opt.Budget, unlimited)
	plan, n := l.plan, len(l.plan.Funcs)
	m = &sampler{
		l: l, wake: time.AfterFunc(longPause, l.session.Wake), groups: make(map[string]*group), gone: make(map[int]uint64), pause: firstPause, events: len(plan.Events),
		budget: budget.Budget{Share: share, Funcs: make([]budget.Func, n+1), Times: plan.Mode == uprobe.Latency},
	}
	if m.load, err = newLoad(l); err != nil {
		return nil, err
	}
	m.batch = max(BatchSites(share)*plan.Asked()/max(plan.Probes()+plan.Later(), 1), 1)
	m.ctx, m.cancel = context.WithCancel(ctx)
	m.budget.Counts = plan.Mode != uprobe.Latency || !plan.Filtered() && plan.Asked() > 0
	for i := range plan.Asked() {
		m.budget.Funcs[i].Named = l.opt.Named[i]
	}
	m.budget.Funcs[n].Named, m.budget.Funcs[n].Runtime = true, true
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
	m.exceeded = len(m.placing) > 0
	m.placed = time.Now()
	m.begin()
	m.resume, m.stop = iter.Pull(iter.Seq[error](m.run))
	return m, nil
}

// begin has the window begin now.
func (m *sampler) begin() {
	if m == nil {
		return
	}
	m.cpu, m.looked, m.changes = m.load.clock.Used(), time.Now(), 0
	m.next = m.looked.Add(m.pause)
}

// step goes on with what there is to do.
func (m *sampler) step() error {
	if m == nil {
		return nil
	}
	err, _ := m.resume()
	return err
}

// end waits for the work under way, which it cuts short.
func (m *sampler) end() {
	if m == nil {
		return
	}
	m.cancel()
	s := m.stretch
	if s != nil && s.open {
		_ = m.close(s) // without the clock, which fails then, nothing is counted
	}
	if m.look(); s != nil {
		s.looked = true
	}
	m.stop()
	m.wake.Stop()
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
	if time.Since(m.placed) > haste {
		if err := m.hasten(false); err != nil {
			return err
		}
	}
	if err := m.wait(time.Now()); err != nil || m.failed {
		return err
	}
	for _, fn := range m.budget.Calm() {
		if !slices.Contains(m.again, fn) {
			m.again = append(m.again, fn)
		}
	}
	switch {
	case time.Since(m.placed) < settled:
	case len(m.again) > 0: // they take little, as far as is known
		return m.place(&m.again)
	case len(m.placing) > 0 && (m.budget.Paid() || time.Since(m.placed) > slowest):
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
		m.rest(until)
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
		if !now.Before(until) || m.overspent() {
			return nil
		}
	}
}

// rest has the next read of the stream return by the time that there is something to do. Where a function may become hot it returns the
// sooner, the smaller the budget is: 1% is 10 ms of each second, and functions that are hot may take all of the program's time.
func (m *sampler) rest(until time.Time) {
	rest := longPause
	if len(m.watched) > 0 || m.stretch != nil {
		rest = min(time.Duration(m.budget.Share*float64(longPause)), watchfulRest)
	}
	if m.stretch == nil {
		rest = min(rest, time.Until(m.next))
	}
	if left := time.Until(until); left > 0 {
		rest = min(rest, left)
	}
	m.wake.Reset(max(rest, shortRest))
}

// alarmed tells whether what was read since the last look says that probes take much more than they may.
func (m *sampler) alarmed(now time.Time) bool {
	return now.Sub(m.looked) > firstPause && m.load.costOf(m.l.stream.Events()-m.read) > m.budget.Allowed()/20
}

// overspent tells whether the probes of a stretch have taken what it was saved for: what was quiet may have become hot.
func (m *sampler) overspent() bool {
	s := m.stretch
	return s != nil && s.open && m.load.costOf(m.l.stream.Events()-s.events) > s.Most
}

// beside runs do while the stream is read, and returns when it has ended.
func (m *sampler) beside(do func() error) (err error) {
	done := make(chan struct{})
	var panicked Panicked
	go func() {
		defer m.wake.Reset(0)
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
	m.budget.Funcs[m.load.base].Timed = m.load.costs.Typical.Emulated / 1e9
	spent := m.load.take(profile)
	seconds, cpu := now.Sub(m.looked).Seconds(), (used - m.cpu).Seconds()
	m.budget.Spend(seconds, cpu, min(spent*m.load.dear(), max(cpu, spent))) // a budget is kept even where probes cost more than is usual
	m.read, m.looked, m.cpu = m.l.stream.Events(), now, used
	m.pause = min(2*m.pause, longPause)
	m.next = now.Add(max(m.pause, time.Duration(float64(took)/lookShare)))
	if s := m.stretch; s != nil {
		s.around, s.lasted, s.spent = s.around+cpu, s.lasted+seconds, s.spent+spent
		return
	}
	m.estimates.Pause(m.own(cpu, spent), seconds, cpu)
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
