package trace

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/ftgo/ftgo/internal/rate"
	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/tracefs"
)

const (
	// firstLook is when functions are timed for the first time, and the least between two looks at
	// how often probes are hit; slowLook is the most.
	firstLook = 100 * time.Millisecond
	slowLook  = time.Second
	soonLook  = 50 * time.Millisecond // at what may be too hot
	dearLook  = 5 * time.Millisecond  // the CPU time from which on a look is dear
	// lookShare is what part of a CPU looks may take: to read the counters of 15,000 sites takes
	// 20 ms. Between them are glances at the time that the program spends in the kernel.
	lookShare  = 0.02
	nextGlance = 30 * time.Millisecond
	// leastLook is how soon a look may follow another if there is an alarm: what happens in less time tells
	// no rate.
	leastLook = 20 * time.Millisecond
	// alarming is by how many CPUs that must have grown for a look ahead of time.
	alarming = 0.2
	// batchSites is how many sites, as the plan has them for each function, are placed at once: where there are
	// 15,000 others it takes a tenth of a second or more to define as many.
	batchSites = 1000
	manyEvents = 150 // end it: at the end each event takes 45 ms to remove
)

// switcher keeps what probes take of the program's time within a budget: functions are timed, or only
// counted, or not probed, and come back. Without a budget it times functions whose calls were only
// counted at first, when they are called.
//
// It is a coroutine of the reading: all but the work on probes happens between two reads of the
// stream, in step.
type switcher struct {
	l       *Live
	ctx     context.Context
	cancel  context.CancelFunc
	choice  rate.Choice
	load    *load
	probes  map[*rate.Group][]tracefs.Event
	out     map[int]uint64 // functions whose Counters are disarmed, since when by the trace clock
	events  int            // at first, and sites, how many these have; with those of functions that come later
	sites   int
	changes float64 // how often probes were placed and removed, on each CPU that the program uses
	batch   int     // how many functions are timed, or counted again, at once
	began   time.Time
	next    time.Time // when to look, and glance, when to glance
	glance  time.Time
	looked  time.Time // when that was
	read    int       // events since then
	inTurn  bool      // probes are being armed or disarmed, and what has to be done meanwhile is
	trying  bool      // the next look is at what may be too hot again
	bit     bool      // probes have taken more than they may
	full    bool      // it was said that there is no room for more
	failed  bool      // more can't be armed
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
	m = &switcher{l: l, began: l.from.At, probes: make(map[*rate.Group][]tracefs.Event), out: make(map[int]uint64), events: len(l.plan.Events), sites: l.plan.Probes() + l.plan.Later()}
	if m.load, err = newLoad(l); err != nil {
		return nil, err
	}
	m.batch = max(batchSites*l.plan.Asked()/max(m.sites, 1), 1)
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
	m.next = time.Now().Add(firstLook)
	if l.opt.Budget > 0 {
		m.next = time.Now().Add(soonLook) // what is hot is so from the beginning
	}
	m.glance, m.looked = m.next, time.Now()
	m.start(m.run)
	return m, nil
}

func (m *switcher) start(run iter.Seq[error]) { m.resume, m.stop = iter.Pull(run) }

// step goes on with what there is to do, now that so many more events were read.
func (m *switcher) step(read int) error {
	if m == nil {
		return nil
	}
	m.read += read
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
// while others are armed, or disarmed, does not wait for that.
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
		if !m.inTurn {
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
	if hot := m.choice.Hot(); len(hot) > 0 {
		if err := m.disarm(hot); err != nil {
			return err
		}
		m.next = time.Now() // what was hit meanwhile tells how hot it was
	}
	m.l.opt.Costs.Now() // not before: who arms has whoever disarms wait
	for !m.inTurn && time.Now().Before(m.next) {
		m.fill()
		g := m.choice.Raise(m.batch)
		if g == nil {
			break
		}
		if err := m.arm(g); err != nil {
			return err
		}
		if soon := time.Now().Add(soonLook); (g.Tried || g.First) && soon.Before(m.next) {
			m.next, m.trying = soon, g.Tried
		}
		if g.First {
			break // what is hot of it is found first
		}
	}
	return nil
}

// fill sees whether more groups can be made: armed events take their time at the end, and sites that
// were defined stay until then, among which each new one is compared with all.
func (m *switcher) fill() {
	if m.failed {
		return
	}
	armed, sites := 0, 0
	for g, probes := range m.probes {
		if g.Armed {
			armed += len(probes)
		}
		for i := range probes {
			sites += len(probes[i].Sites)
		}
	}
	m.choice.Full = armed-m.events > manyEvents || sites > 2*m.sites+manySites
	if m.choice.Full && !m.full {
		m.full = true
		m.l.opt.Say("no more functions are timed for now: %d events are enough to remove at the end", armed)
	}
}

// alarmed tells whether what was read since the last look, or the time that the program spends in the kernel,
// says that probes take much more than they may.
func (m *switcher) alarmed(now time.Time) bool {
	if m.choice.Share == 0 || now.Sub(m.looked) < leastLook {
		return false
	}
	if m.choice.Alarming(m.load.costOf(m.read)) {
		return true
	}
	if now.Before(m.glance) {
		return false
	}
	m.glance = now.Add(nextGlance)
	return m.load.cpus.Grown(now) > alarming
}

// price learns what hits cost.
func (m *switcher) price() {
	m.load.price(m.l.opt.Costs)
	m.choice.Change = m.load.cost.Change() / 1e9
	for i := range m.l.plan.Funcs {
		f := &m.choice.Funcs[i]
		f.Cost[rate.Counted], f.Cost[rate.Timed] = m.load.callCosts(i)
	}
}

// look counts calls, and sees what is to be armed or disarmed.
func (m *switcher) look() error {
	profile, took, err := m.load.read(m.l.session)
	if err != nil { // if that stays so, the last reading will tell
		m.next = time.Now().Add(slowLook)
		return nil
	}
	m.price()
	m.load.take(profile)
	now := time.Now() // the counting takes its time
	cpus := m.load.cpus.CPUs(now)
	m.choice.Look(m.now(), cpus, func(i int) (uint64, float64) { return m.load.calls[i], m.load.spent[i] })
	m.load.cpus.Settle(now)
	// Where looks are dear a trial takes two, and there is a pause behind them.
	m.choice.Trials = !m.trying || took < dearLook
	m.trying = false
	m.glance, m.looked, m.read = now.Add(nextGlance+10*took), now, 0
	pause := time.Duration(float64(took) / lookShare)
	if m.l.opt.Budget == 0 {
		pause = now.Sub(m.began) / 8
	}
	if len(m.choice.Hot()) > 0 {
		m.tell()
	}
	m.next = now.Add(min(max(firstLook, pause), slowLook))
	return nil
}
