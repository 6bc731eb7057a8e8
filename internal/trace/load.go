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

// load measures the CPU time that probes take from the traced processes. It computes this time from the kernel's hit
// counters. If all processes of the file have the probes, it divides the hits among them by their CPU time.
type load struct {
	plan         *uprobe.Plan
	runtimeIndex int // index of the runtime probes in calls and spent, behind all functions
	costs        pairing.HitCosts
	last         [][]uint64      // counters of the last update
	stream       *pairing.Stream // counts the page faults of hits
	faultsBefore uint64          // number of faults at the last update
	// calls[i] is the number of hits between the last two updates where calls of function i begin. spent[i] is the cost
	// of all its hits in that time, in seconds. events is the same cost by the names of events.
	calls  []float64
	spent  []float64
	events map[string]float64

	cpuTimes     *procfs.CPUTimes // of the traced processes
	all          *procfs.CPUTimes // of all processes of the file, nil for a library
	alone        bool             // only the traced processes have probes that only count
	cpu          time.Duration    // the program's CPU time at the last measurement
	eventsRead   uint64           // number of events read at the last measurement
	measuredAt   time.Time        // when the cost was last measured
	measureNext  time.Time        // when it is measured next
	measurePause time.Duration    // between two measurements
	longestPause time.Duration    // limits measurePause
}

func newLoad(l *Live) (w *load, err error) {
	n, link := len(l.plan.Funcs), l.plan.Binary.File().Link()
	w = &load{measurePause: minPause, longestPause: maxPause, plan: l.plan, runtimeIndex: n, cpuTimes: l.cpu, last: l.from.Hits, alone: l.tally != nil, stream: l.stream, calls: make([]float64, n+1), spent: make([]float64, n+1)}
	w.costs = pairing.HitCosts{Least: pairing.UsualCost.Times(0.5), Typical: pairing.UsualCost, Most: pairing.UsualCost.Times(2)}
	if slices.ContainsFunc(l.opt.PIDs, func(pid int) bool { return procfs.SameFile(link, procfs.Exe(pid)) }) { // else a library
		if w.all = procfs.NewCPUTimes(nil, link); l.opt.Fork || l.opt.Among != nil {
			w.cpuTimes = w.all
		}
	}
	if w.last == nil {
		w.last, err = l.session.Profile()
	}
	return w, err
}

// cpuTime returns the CPU time of the processes, without the time before they were found.
func (w *load) cpuTime() time.Duration {
	_, known := w.cpuTimes.Used(false)
	return known
}

// maxCostRatio returns the highest cost of a hit relative to the typical cost.
func (w *load) maxCostRatio() float64 {
	return w.costs.Most.Emulated / max(w.costs.Typical.Emulated, 1)
}

// contention is the factor by which a hit costs more if several threads hit the same probe at the same time. The threads
// then wait for each other's cache lines. For two threads, 2 was measured on Linux 6.18.
const contention = 2

// bounds returns the bounds of a cost in seconds that was computed with the typical cost of hits. cpus is the number of
// CPUs that the program keeps busy.
func (w *load) bounds(cost float64, cpus float64) budget.Range {
	t := max(w.costs.Typical.Emulated, 1)
	r := budget.Range{Low: cost * w.costs.Least.Emulated / t, Typical: cost, High: cost * w.costs.Most.Emulated / t}
	if cpus > 1.1 {
		r.High *= contention
	}
	return r
}

// callCosts returns the cost of the probes of one call in seconds: counted if the call is only counted, timed if it is
// timed.
func (w *load) callCosts(fn int) (counted, timed float64) {
	f, words := &w.plan.Funcs[fn], 0
	if f.Values.Entry != nil {
		words += f.Values.Entry.Words
	}
	if f.Values.Return != nil {
		words += f.Values.Return.Words
	}
	counted = w.hitCost(f.Stepped)
	timed = counted + w.costs.Typical.Word*float64(words) + w.costs.Typical.Fault*w.stream.FaultsPerCall(fn)
	if w.plan.Mode == uprobe.Latency && f.Returns {
		timed += w.hitCost(w.stepsReturns())
	}
	return counted / 1e9, timed / 1e9
}

// hitCost returns the typical cost of a hit without values, in nanoseconds.
func (w *load) hitCost(stepped bool) float64 {
	if stepped {
		return w.costs.Typical.Stepped
	}
	return w.costs.Typical.Emulated
}

// stepsReturns reports whether the kernel single-steps return instructions.
func (w *load) stepsReturns() bool { return w.plan.Processor.Machine().SteppedReturn }

// costOf estimates the cost of a number of events in seconds. It assumes that half of them end calls. It counts the
// faults since the last update.
func (w *load) costOf(events uint64) float64 {
	hits := pairing.Hits{Emulated: events, Faults: w.stream.Faults() - w.faultsBefore}
	if w.stepsReturns() && w.plan.Mode == uprobe.Latency {
		hits.Stepped = hits.Emulated / 2
		hits.Emulated = hits.Stepped
	}
	return w.costs.Typical.Of(hits) / 1e9
}

// readCounters reads the kernel's counters. It returns the CPU time that reading took.
func (w *load) readCounters(s *tracefs.Session) (profile [][]uint64, took time.Duration, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := procfs.ThreadTime()
	profile, err = s.Profile()
	return profile, procfs.ThreadTime() - before, err
}

// update takes new values of the kernel's counters. It returns the cost of all probes since the last update in seconds.
func (w *load) update(now [][]uint64) (spent float64) {
	clear(w.spent)
	clear(w.calls)
	w.events = make(map[string]float64)
	share := 1.0
	if w.all != nil {
		_, all := w.all.Used(false)
		share = min(float64(w.cpuTime())/max(float64(all), 1), 1)
	}
	for i := range now {
		ev, share := &w.plan.Events[i], share
		if w.alone && ev.ArmsAlone() {
			share = 1
		}
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
				fn = w.runtimeIndex
			}
			if site.Kind.IsEntry() || site.Kind.Counts() || site.Func < 0 {
				w.calls[fn] += share * float64(hits)
			}
			cost := w.hitCost(site.Stepped)
			if site.Shared {
				cost = 0
			}
			cost = (cost + w.costs.Typical.Word*float64(ev.Words) + w.costs.Typical.Fault*w.stream.FaultsPerHit(i, k)) * share * float64(hits) / 1e9
			w.spent[fn] += cost
			spent += cost
			w.events[ev.Name] += cost
		}
	}
	w.last, w.faultsBefore = now, w.stream.Faults()
	return spent
}
