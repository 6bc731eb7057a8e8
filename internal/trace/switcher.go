package trace

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/rate"
	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/tracefs"
)

const (
	// firstLook is when functions are timed for the first time, and the least between two
	// looks at how often they are called; slowLook is the most: a function that turns hot
	// hurts the program for as long.
	firstLook = 100 * time.Millisecond
	slowLook  = time.Second
	slowBatch = 5 * time.Second // the most between two batches of functions that are timed
	// batchFuncs is how many functions are timed at once: to define their probes takes
	// about a second where there are 15,000 others.
	batchFuncs = 1000
	manyEvents = 150 // end it: at the end each event takes 45 ms to remove
)

// switcher times functions whose calls were only counted at first, when they are called, and
// leaves to counting those that are called too often.
//
// It is a coroutine of the reading: all but the work on probes happens between two reads of the
// stream, in step.
type switcher struct {
	l      *Live
	ctx    context.Context
	cancel context.CancelFunc
	choice rate.Choice
	busy   *procfs.BusyTimes
	began  time.Time
	looked time.Time
	// next is when to look, grow when to time more functions.
	next, grow time.Time
	batches    []*batch
	rates      []float64 // that functions are left to counting for
	// resume goes on until the next read, stop for the last time. yield lets the stream be read,
	// and tells whether to go on; its error ends the reading.
	resume func() (error, bool)
	stop   func()
	yield  func(error) bool
}

// batch is some functions that are timed at once, with the events that do.
type batch struct {
	funcs  []int
	probes []tracefs.Event
}

// newSwitcher announces what is to be done. Without functions to be counted first it is nil,
// which does nothing.
func newSwitcher(ctx context.Context, l *Live) *switcher {
	if !l.plan.CountsFirst() {
		return nil
	}
	m := &switcher{l: l, rates: make([]float64, len(l.plan.Funcs))}
	m.ctx, m.cancel = context.WithCancel(ctx)
	m.choice = rate.Choice{Limit: l.opt.MaxRate, Funcs: make([]rate.Func, len(l.plan.Funcs))}
	eligible := 0
	for i := range l.plan.Funcs {
		if l.plan.Funcs[i].CountFirst && l.plan.Funcs[i].Returns {
			m.choice.Funcs[i].Eligible = true
			eligible++
		}
	}
	how := "; functions that are called are timed, as long as that takes at most half of the program's time (--max-rate sets a rate for each, 0 times all)"
	if m.choice.Limit > 0 {
		how = fmt.Sprintf(", and timed where a function is called up to %.0f times a second", m.choice.Limit)
	}
	l.opt.Say("calls of %s are counted at first%s", units.Plural(eligible, "function"), how)
	m.busy = procfs.NewBusyTimes(l.opt.PIDs, l.plan.Binary.File().Link())
	m.began = time.Now()
	m.looked, m.next = m.began, m.began.Add(firstLook)
	m.start(m.run)
	return m
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

// run looks again and again.
func (m *switcher) run(yield func(error) bool) {
	m.yield = yield
	for yield(nil) {
		if time.Now().Before(m.next) {
			continue
		}
		if m.choice.Funcs[0].Cost == 0 {
			m.price()
		}
		if err := m.look(); err != nil {
			yield(err)
		}
	}
}

// errEnded: the window has ended before the work on probes.
var errEnded = errors.New("the window has ended")

// beside does something while the stream is read, and returns between two reads.
func (m *switcher) beside(do func() error) (err error) {
	done := make(chan struct{})
	var panicked Panicked
	go func() {
		defer close(done)
		defer panicked.Catch()
		err = do()
	}()
	for m.yield(nil) {
		select {
		case <-done:
			panicked.Raise()
			return err
		default:
		}
	}
	<-done
	panicked.Raise()
	return errEnded
}

// unknownCost is what the probes of a call are taken to cost where it can't be measured:
// the entry and the RET single-stepped in a virtual machine.
const unknownCost = 20 * time.Microsecond

// price learns what the probes of timed calls cost the program, in seconds, which is known a
// moment after they were armed, and says which rate it makes.
func (m *switcher) price() {
	costs := m.l.opt.Costs.Take()
	cost := func(hits pairing.Hits) float64 {
		if costs != nil && costs.Typical.Of(hits) > 0 {
			return costs.Typical.Of(hits) / 1e9
		}
		return unknownCost.Seconds()
	}
	emulated, stepped := cost(pairing.Hits{Emulated: 1, Stepped: 1}), cost(pairing.Hits{Stepped: 2}) // a RET is stepped
	for i := range m.choice.Funcs {
		if m.choice.Funcs[i].Cost = emulated; m.l.plan.Funcs[i].Stepped {
			m.choice.Funcs[i].Cost = stepped
		}
	}
	if m.choice.Limit == 0 {
		m.l.opt.Say("half of its time is %.0f timed calls a second on one CPU, of all functions together", 0.5/emulated)
	}
}

// look counts calls, and begins to time functions, or ceases to.
func (m *switcher) look() error {
	if err := m.count(); err != nil {
		return err
	}
	now := time.Now() // the counting takes its time
	m.choice.Seconds = now.Sub(m.looked).Seconds()
	used, processes := m.busy.Since()
	used += time.Duration(processes) * procfs.Tick
	if m.choice.CPUs = used.Seconds() / m.choice.Seconds; processes == 0 {
		m.choice.CPUs = 1
	}
	m.looked = now
	m.next = now.Add(min(max(firstLook, now.Sub(m.began)/8), slowLook))
	hot := m.choice.TooHot()
	if len(hot) > 0 {
		return m.retire(hot)
	}
	if m.choice.Full || now.Before(m.grow) {
		return nil
	}
	funcs, more := m.choice.Pick(batchFuncs)
	for i := range m.choice.Funcs {
		m.rates[i] = m.choice.Funcs[i].TooOften
	}
	if len(funcs) == 0 {
		return nil
	}
	if m.grow = now.Add(min(max(firstLook, now.Sub(m.began)/4), slowBatch)); more {
		m.next, m.grow = now.Add(firstLook), now
	}
	if len(m.l.plan.Events) > manyEvents {
		m.choice.Full = true
		m.l.opt.Say("no more functions are timed: %d events are enough to remove at the end", len(m.l.plan.Events))
		return nil
	}
	return m.time(funcs)
}

// count takes the number of calls of each function.
func (m *switcher) count() error {
	l := m.l
	now := pairing.Counters{From: l.from.Hits, Own: l.opt.All(), Behind: true}
	if now.Own {
		var err error
		if now.At, err = l.session.Profile(); err != nil {
			return err
		}
	}
	counts := l.stream.Counts(now)
	for i := range m.choice.Funcs {
		if l.plan.Funcs[i].CountFirst {
			m.choice.Funcs[i].Saw(counts.Funcs[i].Calls)
		}
	}
	return nil
}

// time begins to time functions.
func (m *switcher) time(funcs []int) error {
	l := m.l
	events, err := l.plan.Timing(l.opt.Features, funcs)
	if err != nil {
		return err
	}
	b := &batch{funcs, uprobe.TraceEvents(events)}
	if err := m.beside(func() error { return l.session.Extend(m.ctx, b.probes) }); err != nil {
		return m.cannot(err)
	}
	l.plan.Events = slices.Concat(l.plan.Events, events)
	l.session.Join(b.probes)
	if err := l.stream.Extend(); err != nil {
		return err
	}
	err = m.beside(func() error { return l.session.Arm(m.ctx, b.probes) })
	switch {
	case errors.Is(err, errEnded):
		return err
	case err != nil:
		return errors.Join(m.cannot(err), m.disarm(b))
	}
	m.batches = append(m.batches, b)
	for _, i := range funcs {
		m.choice.Funcs[i].Timed = true
	}
	// What came meanwhile came at other rates.
	m.next = time.Now().Add(firstLook)
	return nil
}

// cannot ends the timing of more functions: what is timed so far stays.
func (m *switcher) cannot(err error) error {
	m.choice.Full = true
	if m.ctx.Err() != nil {
		return nil
	}
	m.l.opt.Say("no more functions are timed: %v", err)
	return nil
}

// retire ceases to time the hottest function, and those of the same batch with it: of
// these the ones that are not too hot will be timed again.
func (m *switcher) retire(hot []int) error {
	n := slices.IndexFunc(m.batches, func(b *batch) bool { return slices.Contains(b.funcs, hot[0]) })
	b := m.batches[n]
	m.batches = slices.Delete(m.batches, n, n+1)
	for _, i := range hot {
		if slices.Contains(b.funcs, i) {
			m.choice.Leave(i)
		}
	}
	return m.disarm(b)
}

// disarm takes the probes of a batch out.
func (m *switcher) disarm(b *batch) error {
	from, err := m.l.session.Mark(false)
	if err != nil {
		return err
	}
	m.l.stream.Retire(b.funcs, from.Ticks, math.MaxUint64)
	if err := m.beside(func() error { return m.l.session.Disarm(b.probes) }); err != nil {
		return fmt.Errorf("leave functions to counting: %w", err)
	}
	until, err := m.l.session.Mark(false)
	if err != nil {
		return err
	}
	m.l.stream.Retire(b.funcs, from.Ticks, until.Ticks)
	for _, i := range b.funcs {
		m.choice.Funcs[i].Timed = false
		m.rates[i] = m.choice.Funcs[i].TooOften
	}
	m.next, m.grow = time.Now(), time.Now()
	return nil
}
