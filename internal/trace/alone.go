package trace

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// tally turns the kernel's counters into calls, for probes that are armed in single processes (tracefs.Options.Alone).
//
// The counters are exact as long as no other program probes the same instructions. So each time that it reads them, it
// then looks for such programs. The calls since the last full search, which found none, may be of other processes.
//
// Where calls are timed, only the stretches that count sampled functions have such probes. No other probe of the session is
// then at their instructions: a sampled function has no others, two functions never have the same address, and CountAlone
// leaves out the functions with runtime probes.
type tally struct {
	armed   map[string]bool // the events that are armed in single processes, by name
	last    [][]uint64      // the counters when they were last read
	doubt   error           // why the counters may be wrong, nil if they are exact
	unsure  map[int]uint64  // the calls of each function since the last full search
	said    bool            // doubt was printed, and the probes were replaced
	ended   bool            // all hits of the window were counted
	visited time.Time       // when the memory of other processes was last read
}

// Explain prints with Verbose why all processes get the probes. It prints nothing if err is nil.
func (o *Options) Explain(err error) {
	if o.Verbose && err != nil {
		o.Say("each call is recorded, and other processes of the program have the probes, too: %v", err)
	}
}

// newTally returns the tally of a source whose probes are armed, or nil if none is armed in single processes.
func newTally(l *Live) *tally {
	alone, err := l.session.Alone()
	l.opt.Explain(err)
	switch {
	case !alone:
		return nil
	case l.opt.Verbose:
		l.opt.Say("only the processes of -p have probes; the kernel counts their calls and records none")
	}
	t := &tally{armed: make(map[string]bool), last: l.from.Hits, unsure: make(map[int]uint64)}
	for i := range l.plan.Events {
		ev := &l.plan.Events[i]
		t.armed[ev.Name] = ev.ArmsAlone()
	}
	return t
}

// counting notes that probes were armed, or are about to be disarmed. Hits outside of this time are not calls.
func (l *Live) counting(events []tracefs.Event, on bool) error {
	if l.tally == nil || !slices.ContainsFunc(events, func(ev tracefs.Event) bool { return ev.ArmsAlone() }) {
		return nil
	}
	profile, err := l.session.Profile()
	l.count(profile)
	alone, _ := l.session.Alone()
	for i := range events {
		l.tally.armed[events[i].Name] = on && alone && events[i].ArmsAlone()
	}
	return err
}

// count adds the hits since the last time as calls. profile are the kernel's counters now, nil if they can't be read.
func (l *Live) count(profile [][]uint64) {
	t := l.tally
	if t == nil || profile == nil || t.ended {
		return
	}
	all := false
	if t.ended = l.stopped; t.doubt == nil {
		all, t.doubt = l.findDoubt()
	}
	for i := range profile {
		ev := &l.plan.Events[i]
		if !t.armed[ev.Name] {
			continue
		}
		for k, n := range profile[i] {
			if i < len(t.last) {
				n -= min(n, t.last[i][k])
			}
			if n == 0 {
				continue
			}
			fn := ev.Sites[k].Func
			l.stream.AddHits(i, k, n)
			l.counted[fn] += n
			t.unsure[fn] += n
		}
	}
	if t.last = profile; all && t.doubt == nil {
		clear(t.unsure)
	}
}

// visitInterval is the time between two searches for breakpoints in the memory of other processes. A search reads all of
// /proc.
const visitInterval = time.Second

// findDoubt returns an error if the counters may contain hits of other processes. full says that the search was a full one.
func (l *Live) findDoubt() (full bool, err error) {
	if err := l.session.Others(); err != nil {
		return false, err
	}
	if n := l.session.Forked(); n > 0 {
		return false, fmt.Errorf("child processes (%d) have copies of the breakpoints", n)
	}
	if full = time.Since(l.tally.visited) >= visitInterval || l.stopped; full {
		l.tally.visited, err = time.Now(), l.findBreakpoints()
	}
	return full, err
}

// findBreakpoints returns an error if other processes of the file have one of the breakpoints. They have it if a program
// that does not use uprobe_events has placed it, such as bpftrace, or if they are children of a traced process. This process
// maps the code, so that it has the breakpoints of processes that live too shortly to be found.
func (l *Live) findBreakpoints() error {
	file, sites := l.plan.Binary.File(), []uint64(nil)
	for i := range l.plan.Events {
		ev := &l.plan.Events[i]
		if !ev.ArmsAlone() || l.tally != nil && !l.tally.armed[ev.Name] {
			continue
		}
		for k := 0; k < len(ev.Sites) && len(sites) < sitesAtEnd; k++ {
			sites = append(sites, ev.Sites[k].Offset)
		}
	}
	if len(sites) == 0 {
		return nil
	}
	code, err := file.Map()
	if err != nil {
		return fmt.Errorf("map %s to find other tracers: %w", file.Path(), err)
	}
	defer syscall.Munmap(code)
	others := slices.DeleteFunc(procfs.Running(file.Link()), func(pid int) bool { return slices.Contains(l.opt.PIDs, pid) })
	for _, pid := range append(others[:min(len(others), processesPerCheck)], os.Getpid()) {
		if found, _ := procfs.Breakpoints(pid, file.Inode(), sites, l.plan.Processor.Machine().Breakpoints); found > 0 {
			who := map[bool]string{true: "each process", false: fmt.Sprint("process ", pid)}[pid == os.Getpid()]
			return fmt.Errorf("%s of the same program has breakpoints at the same instructions", who)
		}
	}
	return nil
}

// addDoubt adds to a reading how many calls may be of other processes.
func (t *tally) addDoubt(r *Reading, funcs int) {
	if t == nil || t.doubt == nil {
		return
	}
	if r.Estimates == nil {
		r.Estimates = make([]*stats.Estimate, funcs)
	}
	for fn, n := range t.unsure {
		e := r.Estimates[fn]
		if e == nil {
			calls := float64(r.Counts.Funcs[fn].Calls)
			e = &stats.Estimate{Calls: calls, Low: calls, High: calls}
		}
		e.Low = max(e.Low-float64(n), 0)
		r.Estimates[fn] = e
	}
}

// recordInstead replaces the probes that are armed in single processes by probes that are armed in all, and record each
// hit. It arms the new probes before it disarms the old ones, so that no call is missed. Both see the calls of a few
// microseconds, which are among the unsure ones.
func (m *sampler) recordInstead() error {
	l, armed := m.l, m.l.tally.armed
	l.tally.said, m.load.alone = true, false
	l.session.Share()
	maps.DeleteFunc(m.groups, func(_ string, g *group) bool { return slices.Contains(m.watched, g) && l.plan.Mode != uprobe.Latency })
	alone := make(map[int]bool)
	for _, ev := range l.plan.Events {
		for _, s := range ev.Sites {
			alone[s.Func] = alone[s.Func] || armed[ev.Name]
		}
	}
	for _, g := range slices.Clone(m.watched) {
		funcs := slices.DeleteFunc(slices.Clone(g.funcs), func(fn int) bool { return !alone[fn] })
		old := slices.DeleteFunc(slices.Clone(g.events), func(ev tracefs.Event) bool { return !armed[ev.Name] })
		if len(funcs) == 0 {
			continue
		}
		before, err := l.session.Mark(false)
		if err != nil {
			return err
		}
		fresh, err := m.groupOf(funcs, g.countOnly)
		if fresh == nil || err != nil {
			return err
		}
		l.stream.Disarm(funcs, g.countOnly, before.Ticks)
		at, err := m.arm(fresh.events)
		if err != nil || m.failed {
			return err
		}
		l.stream.Arm(funcs, g.countOnly, at.Ticks)
		m.watched = append(m.watched, fresh)
		g.funcs = slices.DeleteFunc(slices.Clone(g.funcs), func(fn int) bool { return alone[fn] })
		g.events = slices.DeleteFunc(slices.Clone(g.events), func(ev tracefs.Event) bool { return armed[ev.Name] })
		if err := m.disarm(old); err != nil {
			return err
		}
	}
	if l.plan.Mode != uprobe.Latency {
		l.opt.Say("%v: from now on each call is recorded", l.tally.doubt)
	}
	return nil
}
