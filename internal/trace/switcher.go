package trace

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/rate"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/tracefs"
)

const (
	// firstLook is when probes are looked at for the first time, and the least between two looks at
	// how often they are hit; slowLook is the most.
	firstLook = 100 * time.Millisecond
	slowLook  = time.Second
	soonLook  = 50 * time.Millisecond // at what may be too hot again
	dearLook  = 5 * time.Millisecond  // the CPU time from which on a look is dear
	// lookShare is what part of a CPU looks may take: to read the counters of 15,000 sites takes
	// 20 ms. Between them is a glance at the time that the program spends in the kernel.
	lookShare = 0.02
	// alarming is by how many CPUs that must have grown for a look ahead of time.
	alarming = 0.2
	// batchFuncs is how many functions are timed, or counted again, at once: to define their probes
	// takes about a second where there are 15,000 others.
	batchFuncs = 1000
	manyEvents = 150 // end it: at the end each event takes 45 ms to remove
)

// switcher keeps what probes take of the program's time within a budget: functions are timed, or only
// counted, or not probed, and come back. Without a budget it times functions whose calls were only
// counted at first, when they are called.
//
// It is a coroutine of the reading: all but the work on probes happens between two reads of the
// stream, in step.
type switcher struct {
	l      *Live
	ctx    context.Context
	cancel context.CancelFunc
	choice rate.Choice
	load   *load
	probes map[*rate.Group][]tracefs.Event
	out    map[int]uint64 // functions whose Counters are disarmed, since when by the trace clock
	events int            // at first
	began  time.Time
	next   time.Time // when to look, and glance, when to glance
	glance time.Time
	arming bool // some probes are
	inTurn bool // what has to be done meanwhile is
	trying bool // the next look is at what may be too hot again
	bit    bool // probes have taken more than they may
	// resume goes on until the next read, stop for the last time. yield lets the stream be read,
	// and tells whether to go on; its error ends the reading.
	resume func() (error, bool)
	stop   func()
	yield  func(error) bool
}

// newSwitcher announces what is to be done. Where there is no choice it is nil, which does nothing.
func newSwitcher(ctx context.Context, l *Live) (m *switcher, err error) {
	if l.opt.Once || l.opt.Budget == 0 && !l.plan.CountsFirst() {
		return nil, nil
	}
	m = &switcher{l: l, probes: make(map[*rate.Group][]tracefs.Event), out: make(map[int]uint64), events: len(l.plan.Events)}
	if m.load, err = newLoad(l); err != nil {
		return nil, err
	}
	m.ctx, m.cancel = context.WithCancel(ctx)
	eligible := m.choose()
	if l.plan.CountsFirst() {
		how := "; functions that are called are timed, as long as that takes at most half of the program's time (--budget sets another share, --max-rate a rate for each)"
		switch {
		case l.opt.MaxRate > 0:
			how = fmt.Sprintf(", and timed where a function is called up to %.0f times a second", l.opt.MaxRate)
		case l.opt.Budget > 0:
			how = fmt.Sprintf("; functions that are called are timed, as long as probes take at most %s of the program's time (--budget)", percent(l.opt.Budget))
		}
		l.opt.Say("calls of %s are counted at first%s", units.Plural(eligible, "function"), how)
	}
	m.began = l.from.At
	m.next = time.Now().Add(firstLook)
	m.glance = m.next
	m.start(m.run)
	return m, nil
}

func (m *switcher) start(run iter.Seq[error]) { m.resume, m.stop = iter.Pull(run) }

// step goes on with what there is to do.
func (m *switcher) step() error {
	if m == nil {
		return nil
	}
	err, _ := m.resume()
	return err
}

// end waits for the work under way, which it cuts short.
func (m *switcher) end() {
	if m != nil {
		m.cancel()
		m.stop()
	}
}

// now is the time in seconds since the window began.
func (m *switcher) now() float64 { return time.Since(m.began).Seconds() }

// run looks again and again.
func (m *switcher) run(yield func(error) bool) {
	m.yield = yield
	for yield(nil) {
		if err := m.turn(); err != nil {
			yield(err)
		}
	}
}

// errEnded: the window has ended before the work on probes.
var errEnded = errors.New("the window has ended")

// beside does something while the stream is read, and returns between two reads. What turns hot
// while others are armed does not wait for that.
func (m *switcher) beside(do func() error) (err error) {
	done := make(chan struct{})
	var panicked Panicked
	go func() {
		defer close(done)
		defer panicked.Catch()
		err = do()
	}()
	var failed error
	for failed == nil && m.yield(nil) {
		select {
		case <-done:
			panicked.Raise()
			return err
		default:
		}
		if m.arming && !m.inTurn {
			m.inTurn = true
			failed = m.turn()
			m.inTurn = false
		}
	}
	<-done
	panicked.Raise()
	if failed != nil {
		return failed
	}
	return errEnded
}

// turn looks if it is time to, and does what is to be done then: first what is too hot is disarmed.
func (m *switcher) turn() error {
	if now := time.Now(); now.Before(m.next) && !m.alarmed(now) {
		return nil
	}
	if err := m.look(); err != nil {
		return err
	}
	for g := m.choice.Hot(); g != nil; g = m.choice.Hot() {
		if err := m.disarm(g); err != nil {
			return err
		}
	}
	for !m.arming && time.Now().Before(m.next) {
		if !m.choice.Full && len(m.l.plan.Events)-m.events > manyEvents {
			m.choice.Full = true
			m.l.opt.Say("no more functions are timed: %d events are enough to remove at the end", len(m.l.plan.Events))
		}
		g := m.choice.Raise(batchFuncs)
		if g == nil {
			break
		}
		m.arming = true
		err := m.arm(g)
		if m.arming = false; err != nil {
			return err
		}
		if soon := time.Now().Add(soonLook); g.Tried && soon.Before(m.next) {
			m.next, m.trying = soon, true
		}
	}
	return nil
}

// alarmed tells whether the program spends much more time in the kernel than at the last look.
func (m *switcher) alarmed(now time.Time) bool {
	if now.Before(m.glance) || m.choice.Share == 0 {
		return false
	}
	m.glance = now.Add(firstLook)
	return m.load.grown(now) > alarming
}

// price learns what hits cost.
func (m *switcher) price() {
	m.load.price(m.l.opt.Costs)
	for i := range m.l.plan.Funcs {
		f := &m.choice.Funcs[i]
		f.Cost[rate.Counted], f.Cost[rate.Timed] = m.load.callCosts(i)
	}
}

// look counts calls, and sees what is to be armed or disarmed.
func (m *switcher) look() error {
	profile, took, err := m.load.read(m.l.session)
	if err != nil {
		return err
	}
	m.price()
	m.load.take(profile)
	now := time.Now() // the counting takes its time
	cpus := m.load.cpus(now)
	m.choice.Look(m.now(), cpus, func(i int) (uint64, float64) { return m.load.calls[i], m.load.spent[i] })
	m.load.settle(now)
	// Where looks are dear a trial takes two, and there is a pause behind them.
	m.choice.Trials = !m.trying || took < dearLook
	m.trying = false
	m.glance = now.Add(firstLook)
	pause := time.Duration(float64(took) / lookShare)
	if m.l.opt.Budget == 0 {
		pause = now.Sub(m.began) / 8
	}
	if m.choice.Hot() != nil {
		pause = 0 // the next one is to tell whether it was enough
		m.tell()
	}
	m.next = now.Add(min(max(firstLook, pause), slowLook))
	return nil
}

// tell says, the first time, that the budget bites.
func (m *switcher) tell() {
	if m.bit || m.l.opt.Budget == 0 || !m.choice.Over() {
		return
	}
	m.bit = true
	var names []string
	lowered := 0
	for i := range m.l.plan.Funcs {
		if m.choice.Funcs[i].TooHot() > 0 {
			if lowered++; lowered <= 3 {
				names = append(names, printable.Text(m.l.plan.Funcs[i].Name))
			}
		}
	}
	if more := lowered - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	m.l.opt.Say("probes take more than %s of the program's CPU time: calls of some functions are counted, or not seen, for some of the time, until they are cooler: %s (--budget 0 sets no limit)",
		percent(m.l.opt.Budget), strings.Join(names, ", "))
}

// percent is a share as text.
func percent(share float64) string { return fmt.Sprintf("%.4g%%", 100*share) }

// funcs are the functions of a group that are the plan's.
func (m *switcher) funcs(g *rate.Group) []int {
	if m.choice.Base >= 0 && g.Funcs[0] == m.choice.Base {
		return nil
	}
	return g.Funcs
}

// arm puts the probes of a group into place, which it makes if there are none.
func (m *switcher) arm(g *rate.Group) error {
	l := m.l
	probes, made := m.probes[g]
	if !made {
		events, err := l.plan.Again(l.opt.Features, uprobe.More{Funcs: g.Funcs, Counts: g.Level == rate.Counted, Beside: g.Beside})
		if err != nil {
			return err
		}
		probes = uprobe.TraceEvents(events)
		if err := m.beside(func() error { return l.session.Extend(m.ctx, probes) }); err != nil {
			return m.cannot(g, err)
		}
		l.plan.Events = slices.Concat(l.plan.Events, events)
		l.session.Join(probes)
		if err := l.stream.Extend(); err != nil {
			return err
		}
		m.probes[g] = probes
	}
	if err := m.beside(func() error { return l.session.Arm(m.ctx, probes) }); err != nil {
		if errors.Is(err, errEnded) {
			return err
		}
		return errors.Join(m.cannot(g, err), m.beside(func() error { return l.session.Disarm(probes) }))
	}
	if g.Level == rate.Counted && l.plan.Mode == uprobe.Latency {
		now, err := l.session.Mark(false)
		if err != nil {
			return err
		}
		for _, i := range g.Funcs {
			if from, ok := m.out[i]; ok {
				l.stream.Uncount([]int{i}, from, now.Ticks)
				delete(m.out, i)
			}
		}
	}
	m.choice.Done(g, m.now())
	return nil
}

// cannot ends the arming of more functions, unless the run has ended: what is armed so far stays.
func (m *switcher) cannot(g *rate.Group, err error) error {
	if errors.Is(err, errEnded) || m.ctx.Err() != nil {
		return errEnded
	}
	m.choice.Full = true
	m.choice.Drop(g)
	m.l.opt.Say("no more functions are timed: %v", err)
	return nil
}

// disarm takes the probes of a group out.
func (m *switcher) disarm(g *rate.Group) error {
	l, funcs := m.l, m.funcs(g)
	from, err := l.session.Mark(false)
	if err != nil {
		return err
	}
	counters := g.Level == rate.Counted && l.plan.Mode == uprobe.Latency
	if counters {
		l.stream.Uncount(funcs, from.Ticks, math.MaxUint64)
		for _, i := range funcs {
			m.out[i] = from.Ticks
		}
	} else {
		l.stream.Retire(funcs, from.Ticks, math.MaxUint64)
	}
	l.vanished.leave(m.probes[g])
	began := m.now()
	if err := m.beside(func() error { return l.session.Disarm(m.probes[g]) }); err != nil {
		return fmt.Errorf("disarm probes: %w", err)
	}
	if !counters {
		until, err := l.session.Mark(false)
		if err != nil {
			return err
		}
		l.stream.Retire(funcs, from.Ticks, until.Ticks)
	}
	m.choice.Done(g, began)
	return nil
}

// tooHot are the rates for which functions are below what they could be, 0 if they are not.
func (m *switcher) tooHot() []float64 {
	rates := make([]float64, len(m.l.plan.Funcs))
	for i := range rates {
		rates[i] = m.choice.Funcs[i].TooHot()
	}
	return rates
}

// seen is how much of the time until a moment each function was seen in; nil if that was all there was
// to see.
func (m *switcher) seen(at time.Time) []stats.Seen {
	if !m.bit {
		return nil
	}
	out := make([]stats.Seen, m.l.plan.Asked())
	for i := range out {
		out[i] = stats.Seen(m.choice.Funcs[i].Seen(at.Sub(m.began).Seconds()))
	}
	return out
}
