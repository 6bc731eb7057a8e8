package trace

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/budget"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// sampler keeps the CPU time of probes within a budget. It removes the probes of hot functions, which cost too much,
// and watches these functions together, in short stretches of time. Package budget decides when.
//
// It is a coroutine of [Live.Read]: it runs between two reads of the stream. Only the work in the kernel runs in another
// goroutine.
type sampler struct {
	l         *Live
	ctx       context.Context
	cancel    context.CancelFunc
	budget    budget.Budget
	estimates budget.Estimates
	load      *load
	groups    map[string]*group            // by groupKey
	watched   []*group                     // groups with probes that are always in place
	toPlace   []int                        // functions that have had no probes yet, in the order of the plan
	toRestore []int                        // functions that get their probes back
	hot       []int                        // functions that the last measurement found to be hot
	stretch   *stretch                     // the present stretch, until its calls are counted
	changes   float64                      // number of probes placed and removed, times the number of CPUs that the program uses
	batchSize int                          // number of functions that get their probes at once
	counted   struct{ calls, cpu float64 } // calls, and CPU time in seconds, in all stretches of kind Count
	exceeded  bool                         // the budget was exceeded, so that some calls are estimated
	failed    bool                         // no more probes can be placed

	placedAt time.Time // when probes were last placed
	changing bool      // disarmHot or runStretch is running: wait does not call disarmHot

	wake   *time.Timer          // wakes the next read
	resume func() (error, bool) // runs the coroutine until the next read
	stop   func()
	yield  func(error) bool // ends a step of the coroutine; false ends the coroutine
}

const (
	// The cost of probes is measured every minPause at first. The pause doubles up to maxPause.
	minPause = 3 * time.Millisecond
	maxPause = 100 * time.Millisecond
	// A read that finds no events waits at least minRest. While a watched function may become hot, it waits at most
	// maxWatchRest.
	minRest      = 2 * time.Millisecond
	maxWatchRest = 10 * time.Millisecond
	// measureShare is the share of one CPU that measurements may take: reading 15,000 counters takes 20 ms.
	measureShare = 0.02
	// maxPlaceDelay limits how long the next functions wait for their first probes while the budget is exceeded.
	maxPlaceDelay = time.Second
	// placePause is the time between placing two batches of functions. Placing holds a kernel lock that removing
	// hot probes needs.
	placePause = 30 * time.Millisecond
	// hurryTime is the time after placing probes in which some of them probably prove hot and are removed.
	hurryTime = 3 * time.Second
	// maxEvents limits the number of events, because each takes 45 ms to remove at the end.
	maxEvents = 300
)

// unlimited is the budget that the sampler uses if Options.Budget is 0. It is never exceeded, so the sampler only places the
// probes of deferred functions.
const unlimited = 1000

// BatchSites returns the number of sites that are placed at once under a budget. If 15,000 sites exist, defining 1,000 more
// takes 0.1 s, because the kernel compares each probe with all others. The hot sites among the new ones slow the program down
// until the sampler finds and removes them. The first batch is placed before the first numbers are shown.
func BatchSites(budget float64) int { return int(min(max(4000*budget, 100), 1000)) }

// newSampler returns the sampler of a source. It returns nil, a valid sampler that does nothing, if Options.Once is
// set, or if the budget is 0, the plan has no deferred function, and there is no tally.
func newSampler(ctx context.Context, l *Live) (m *sampler, err error) {
	if l.opt.Once || l.opt.Budget == 0 && l.plan.DeferredSites() == 0 && l.tally == nil {
		return nil, nil
	}
	share := cmp.Or(l.opt.Budget, unlimited)
	plan, n := l.plan, len(l.plan.Funcs)
	m = &sampler{
		l: l, wake: time.AfterFunc(maxPause, l.session.Wake), groups: make(map[string]*group),
		budget: budget.Budget{Share: share, Funcs: make([]budget.Func, n+1), Times: plan.Mode == uprobe.Latency},
	}
	if m.load, err = newLoad(l); err != nil {
		return nil, err
	}
	if l.tally != nil && !m.budget.Times { // only measurements show calls
		m.load.longestPause = maxPause / 5
	}
	m.batchSize = max(BatchSites(share)*plan.RequestedFuncs()/max(plan.Probes()+plan.DeferredSites(), 1), 1)
	m.ctx, m.cancel = context.WithCancel(ctx)
	m.budget.Counts = plan.Mode != uprobe.Latency || !plan.Filtered() && plan.RequestedFuncs() > 0
	for i := range plan.RequestedFuncs() {
		m.budget.Funcs[i].Named = plan.Funcs[i].Role.Named
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
		}
		m.groups[groupKey(false, w.funcs)] = w
		m.watch(w)
	}
	for i := range plan.RequestedFuncs() {
		if plan.Funcs[i].Deferred {
			m.estimates.Join(i)
			m.toPlace = append(m.toPlace, i)
		}
	}
	m.exceeded = len(m.toPlace) > 0
	m.placedAt = time.Now()
	m.load.cpu, m.load.measuredAt, m.load.measureNext = m.load.cpuTime(), m.placedAt, m.placedAt.Add(m.load.measurePause)
	m.resume, m.stop = iter.Pull(iter.Seq[error](m.run))
	return m, nil
}

// step runs the coroutine until the next read.
func (m *sampler) step() error {
	if m == nil {
		return nil
	}
	err, _ := m.resume()
	return err
}

// end cancels the present work on probes, and waits for it.
func (m *sampler) end() {
	if m == nil {
		return
	}
	m.cancel()
	s := m.stretch
	if s != nil && s.open {
		_ = m.close(s) // if reading the clock fails, the stretch does not count
	}
	if m.measure(); s != nil {
		s.measured = true
	}
	m.stop()
	m.wake.Stop()
}

// errEnded is returned by all work on probes after the window has ended.
var errEnded = errors.New("the window has ended")

// run is the coroutine.
func (m *sampler) run(yield func(error) bool) {
	m.yield = yield
	for {
		switch err := m.runNext(); {
		case errors.Is(err, errEnded):
			return
		case err != nil:
			yield(err)
			return
		}
	}
}

// runNext waits for a read, and then places functions or runs a stretch if one of them is due.
func (m *sampler) runNext() error {
	if time.Since(m.placedAt) > hurryTime {
		if err := m.setHurry(false); err != nil {
			return err
		}
	}
	if err := m.wait(time.Now()); err != nil || m.failed {
		return err
	}
	if t := m.l.tally; t != nil && t.doubt != nil && !t.said {
		return m.recordInstead()
	}
	for _, fn := range m.budget.Quiet() {
		if !slices.Contains(m.toRestore, fn) {
			m.toRestore = append(m.toRestore, fn)
		}
	}
	switch {
	case time.Since(m.placedAt) < placePause:
	case len(m.toRestore) > 0: // cheap by the latest measurements
		return m.place(&m.toRestore)
	case len(m.toPlace) > 0 && (!m.budget.InDebt() || time.Since(m.placedAt) > maxPlaceDelay):
		return m.place(&m.toPlace)
	}
	if p, ok := m.budget.Next(); ok {
		return m.runStretch(p)
	}
	return nil
}

// wait lets the stream be read, at least once, until a time or until the present stretch costs more than planned.
// Meanwhile it measures the costs of probes, and removes the probes of hot functions.
func (m *sampler) wait(until time.Time) error {
	for {
		m.setWake(until)
		if !m.yield(nil) {
			return errEnded
		}
		now := time.Now()
		if m.stretch == nil && (!now.Before(m.load.measureNext) || m.exceedsBudget(now)) {
			m.measure()
		}
		if len(m.hot) > 0 && !m.changing {
			m.changing = true
			err := m.disarmHot()
			m.changing = false
			if err != nil {
				return err
			}
		}
		if !now.Before(until) || m.overspent() {
			return nil
		}
	}
}

// setWake limits how long the next read waits for events. The limit falls with the budget while a watched function may
// become hot: hot functions may take all CPU time until they are found, and a budget of 1% is only 10 ms of each second.
func (m *sampler) setWake(until time.Time) {
	rest := maxPause
	if len(m.watched) > 0 || m.stretch != nil {
		rest = min(time.Duration(m.budget.Share*float64(maxPause)), maxWatchRest)
	}
	if m.stretch == nil {
		rest = min(rest, time.Until(m.load.measureNext))
	}
	if left := time.Until(until); left > 0 {
		rest = min(rest, left)
	}
	m.wake.Reset(max(rest, minRest))
}

// exceedsBudget reports whether the events that were read since the last measurement cost more CPU time than the budget
// allows in 50 ms.
func (m *sampler) exceedsBudget(now time.Time) bool {
	return now.Sub(m.load.measuredAt) > minPause && m.load.costOf(m.l.stream.Events()-m.load.eventsRead) > m.budget.Allowed()/20
}

// overspent reports whether the probes of the present stretch cost more than planned: a function may have become hot.
func (m *sampler) overspent() bool {
	s := m.stretch
	if s != nil && s.open && s.Kind != budget.Time && m.l.tally != nil && m.l.plan.Probes() <= uprobe.MaxGroupSize {
		profile, _ := m.l.session.Profile() // the next measurement tries again
		m.l.count(profile)
	}
	return s != nil && s.open && m.load.costOf(m.l.stream.Events()-s.events) > s.Most
}

// runBackground calls do in another goroutine while the stream is read. It returns when do has returned and the read has
// ended.
func (m *sampler) runBackground(do func() error) (err error) {
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

// measure updates the costs since the last measurement. Outside of stretches, it also finds hot functions.
func (m *sampler) measure() {
	profile, took, err := m.load.readCounters(m.l.session)
	m.l.count(profile)
	now, used := time.Now(), m.load.cpuTime()
	m.load.measureNext = now.Add(maxPause)
	if err != nil { // if the counters stay unreadable, the last Reading returns the error
		return
	}
	if known := m.l.opt.Costs.Take(); known != nil && known.Typical.Emulated > 0 {
		m.load.costs = *known
	}
	for i := range m.l.plan.Funcs {
		f := &m.budget.Funcs[i]
		f.Counted, f.Timed = m.load.callCosts(i)
	}
	m.budget.Funcs[m.load.runtimeIndex].Timed = m.load.costs.Typical.Emulated / 1e9
	spent := m.load.update(profile)
	seconds, cpu := now.Sub(m.load.measuredAt).Seconds(), (used - m.load.cpu).Seconds()
	// The highest cost of a hit keeps the budget where probes cost more than usual.
	m.budget.Spend(seconds, cpu, min(spent*m.load.maxCostRatio(), max(cpu, spent)))
	m.load.eventsRead, m.load.measuredAt, m.load.cpu = m.l.stream.Events(), now, used
	m.load.measurePause = min(2*m.load.measurePause, m.load.longestPause)
	m.load.measureNext = now.Add(max(m.load.measurePause, time.Duration(float64(took)/measureShare)))
	if m.load.cpuTimes.Ended { // it may have used all CPUs since the last measurement
		m.load.cpuTimes.Ended = false
		m.estimates.AddUnwatched(budget.Range{High: seconds * float64(runtime.NumCPU())}, 0, 0)
	}
	if s := m.stretch; s != nil {
		s.cpuAround, s.secondsAround, s.spentAround = s.cpuAround+cpu, s.secondsAround+seconds, s.spentAround+spent
		return
	}
	m.estimates.AddUnwatched(m.ownTime(cpu, spent), seconds, cpu)
	m.hot = append(m.hot, m.budget.SampleHot(seconds, cpu, m.load.calls, m.load.spent)...)
}

// ownTime returns the part of a CPU time that the program itself used. cpu is the whole CPU time, and spent is the estimated
// part that probes took. All times are in seconds.
func (m *sampler) ownTime(cpu, spent float64) budget.Range {
	cost := m.load.bounds(spent, m.budget.CPUs())
	if cost.High > cpu/2 { // hits under load may cost more than single measured hits
		cost.High = cpu
	}
	return budget.Less(cpu, cost)
}
