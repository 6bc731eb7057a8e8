package trace

import (
	"runtime"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/tracefs"
)

// load is what probes take of the CPU time of what is traced, by the kernel's count of hits. They are
// those of all processes that run the file, because the kernel probes all of them.
type load struct {
	plan *uprobe.Plan
	base int // index of what stands for runtime probes, behind the functions
	cost pairing.HitCost
	last [][]uint64 // the counters at the last look
	// faults are those that were seen, faulted how many of them before the last look.
	faults  *pairing.Faults
	faulted uint64
	// calls and spent are of each function: the number of its calls so far, and what its probes have
	// cost between the last two looks, in seconds. Those of an event, by its name, are in events.
	calls  []uint64
	spent  []float64
	events map[string]float64

	cpus *procfs.Load
}

func newLoad(l *Live) (w *load, err error) {
	n, link, pids := len(l.plan.Funcs), l.plan.Binary.File().Link(), l.opt.PIDs
	w = &load{plan: l.plan, base: n, cost: pairing.UsualCost, last: l.from.Hits, faults: l.stream.Faults(), calls: make([]uint64, n+1), spent: make([]float64, n+1)}
	if running := procfs.Running(link); slices.ContainsFunc(pids, func(pid int) bool { return slices.Contains(running, pid) }) {
		pids = nil // else the file is a library
	}
	w.cpus = procfs.NewLoad(procfs.NewBusyTimes(pids, link), time.Now())
	if w.last == nil {
		w.last, err = l.session.Profile()
	}
	return w, err
}

// price learns what hits cost by now, at most: a budget is kept even where they cost more than is usual.
func (w *load) price(costs Costs) {
	if !costs.Ready() {
		return
	}
	if known := costs.Take(); known != nil && known.Most.Emulated > 0 {
		w.cost = known.Most
	}
}

// callCosts are what hits of a function cost that has a call counted, and timed, in seconds.
func (w *load) callCosts(fn int) (counted, timed float64) {
	f := &w.plan.Funcs[fn]
	var entry pairing.Hits
	add(&entry, f.Stepped)
	counted = w.cost.Of(entry) / 1e9
	paired := w.plan.Mode == uprobe.Latency
	if paired {
		add(&entry, w.stepsReturns())
	}
	if f.Values.Entry != nil {
		entry.Words += uint64(f.Values.Entry.Words)
	}
	if f.Values.Return != nil {
		entry.Words += uint64(f.Values.Return.Words)
	}
	if timed = (w.cost.Of(entry) + w.cost.Fault*w.faults.PerCall(fn)) / 1e9; !paired {
		return timed, 0
	}
	return counted, timed
}

// add adds a hit.
func add(hits *pairing.Hits, stepped bool) {
	if stepped {
		hits.Stepped++
	} else {
		hits.Emulated++
	}
}

// stepsReturns tells whether the kernel single-steps what calls end by.
func (w *load) stepsReturns() bool { return w.plan.Processor.Machine().SteppedReturn }

// costOf is what so many events have cost about, in seconds: half of them are of calls that end. Faults are known
// as they come.
func (w *load) costOf(events int) float64 {
	hits := pairing.Hits{Emulated: uint64(events), Faults: w.faults.All() - w.faulted}
	if w.stepsReturns() {
		hits.Stepped = hits.Emulated / 2
		hits.Emulated = hits.Stepped
	}
	return w.cost.Of(hits) / 1e9
}

// read reads the kernel's counters, and tells what CPU time that took.
func (w *load) read(s *tracefs.Session) (profile [][]uint64, took time.Duration, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := procfs.ThreadTime()
	profile, err = s.Profile()
	return profile, procfs.ThreadTime() - before, err
}

// take takes the kernel's counters.
func (w *load) take(now [][]uint64) {
	clear(w.spent)
	w.events = make(map[string]float64)
	for i := range now {
		ev := &w.plan.Events[i]
		for k, hits := range now[i] {
			if i < len(w.last) {
				hits -= min(hits, w.last[i][k])
			}
			if hits == 0 {
				continue
			}
			site := &ev.Sites[k]
			fn := site.Func
			if fn < 0 {
				fn = w.base
			}
			if site.Kind.IsEntry() && !site.Beside || site.Kind.Counts() && site.Kind != uprobe.CheckFailed || site.Func < 0 {
				w.calls[fn] += hits
			}
			var cost float64
			if !site.Beside {
				if cost = w.cost.Emulated; site.Stepped {
					cost = w.cost.Stepped
				}
			}
			cost = (cost + w.cost.Word*float64(ev.Words) + w.cost.Fault*w.faults.PerHit(i, k)) * float64(hits) / 1e9
			w.spent[fn] += cost
			w.events[ev.Name] += cost
		}
	}
	w.last, w.faulted = now, w.faults.All()
}
