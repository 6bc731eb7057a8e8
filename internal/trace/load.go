package trace

import (
	"runtime"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/budget"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// load is what probes take of the CPU time of what is traced, by the kernel's count of hits. They are
// those of all processes that run the file, because the kernel probes all of them.
type load struct {
	plan    *uprobe.Plan
	base    int // index of what stands for runtime probes, behind the functions
	costs   pairing.HitCosts
	last    [][]uint64      // the counters at the last look
	stream  *pairing.Stream // of which the faults of hits are known
	faulted uint64          // how many of them were seen before the last look
	// calls and spent are of each function: the number of its hits where calls begin, and what its probes have
	// cost, in seconds, between the last two looks. Those of an event, by its name, are in events.
	calls  []float64
	spent  []float64
	events map[string]float64

	clock *procfs.CPUTimes
}

func newLoad(l *Live) (w *load, err error) {
	n, link := len(l.plan.Funcs), l.plan.Binary.File().Link()
	w = &load{plan: l.plan, base: n, clock: l.look.cpu, last: l.from.Hits, stream: l.stream, calls: make([]float64, n+1), spent: make([]float64, n+1)}
	w.costs = pairing.HitCosts{Least: pairing.UsualCost.Times(0.5), Typical: pairing.UsualCost, Most: pairing.UsualCost.Times(2)}
	if slices.ContainsFunc(l.opt.PIDs, func(pid int) bool { return procfs.SameFile(link, procfs.Exe(pid)) }) {
		w.clock = procfs.NewCPUTimes(nil, link) // else the file is a library
	}
	if w.last == nil {
		w.last, err = l.session.Profile()
	}
	return w, err
}

// price learns what hits cost.
func (w *load) price(costs Costs) {
	if !costs.Ready() {
		return
	}
	if known := costs.Take(); known != nil && known.Typical.Emulated > 0 {
		w.costs = *known
	}
}

// dear is how many times as much as typically hits cost at most.
func (w *load) dear() float64 { return w.costs.Most.Emulated / max(w.costs.Typical.Emulated, 1) }

// contention is how many times as much a hit costs at most where several threads hit the same probe at once: they wait for each other's
// cache lines (measured: twice as much for two threads, Linux 6.18).
const contention = 2

// bounds are those of a cost that was reckoned by what hits cost typically.
func (w *load) bounds(cost float64, cpus float64) budget.Range {
	t := max(w.costs.Typical.Emulated, 1)
	r := budget.Range{Low: cost * w.costs.Least.Emulated / t, Typical: cost, High: cost * w.costs.Most.Emulated / t}
	if cpus > 1.1 {
		r.High *= contention
	}
	return r
}

// callCosts are what hits of a function cost that has a call counted, and timed, in seconds.
func (w *load) callCosts(fn int) (counted, timed float64) {
	f, cost := &w.plan.Funcs[fn], &w.costs.Typical
	var entry pairing.Hits
	add(&entry, f.Stepped)
	counted = cost.Of(entry) / 1e9
	if w.plan.Mode == uprobe.Latency && f.Returns {
		add(&entry, w.stepsReturns())
	}
	if f.Values.Entry != nil {
		entry.Words += uint64(f.Values.Entry.Words)
	}
	if f.Values.Return != nil {
		entry.Words += uint64(f.Values.Return.Words)
	}
	return counted, (cost.Of(entry) + cost.Fault*w.stream.FaultsPerCall(fn)) / 1e9
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
func (w *load) costOf(events uint64) float64 {
	hits := pairing.Hits{Emulated: events, Faults: w.stream.Faults() - w.faulted}
	if w.stepsReturns() && w.plan.Mode == uprobe.Latency {
		hits.Stepped = hits.Emulated / 2
		hits.Emulated = hits.Stepped
	}
	return w.costs.Typical.Of(hits) / 1e9
}

// read reads the kernel's counters, and tells what CPU time that took.
func (w *load) read(s *tracefs.Session) (profile [][]uint64, took time.Duration, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := procfs.ThreadTime()
	profile, err = s.Profile()
	return profile, procfs.ThreadTime() - before, err
}

// take takes the kernel's counters, and tells what all probes have cost since the last look, in seconds.
func (w *load) take(now [][]uint64) (spent float64) {
	clear(w.spent)
	clear(w.calls)
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
			if site.Kind.IsEntry() || site.Kind.Counts() && site.Kind != uprobe.CheckFailed || site.Func < 0 {
				w.calls[fn] += float64(hits)
			}
			cost := w.costs.Typical.Emulated
			switch {
			case site.Shared:
				cost = 0
			case site.Stepped:
				cost = w.costs.Typical.Stepped
			}
			cost = (cost + w.costs.Typical.Word*float64(ev.Words) + w.costs.Typical.Fault*w.stream.FaultsPerHit(i, k)) * float64(hits) / 1e9
			w.spent[fn] += cost
			spent += cost
			w.events[ev.Name] += cost
		}
	}
	w.last, w.faulted = now, w.stream.Faults()
	return spent
}
