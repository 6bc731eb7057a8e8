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
	cost HitCost
	last [][]uint64 // the counters at the last look
	// calls and spent are of each function: the number of its calls so far, and what its probes have
	// cost between the last two looks, in seconds.
	calls []uint64
	spent []float64

	cpus *procfs.Load
}

// UsualCost is what hits are taken to cost where that can't be measured: where the kernel
// single-steps in a virtual machine it is as much.
var UsualCost = HitCost{Emulated: 1000, Stepped: 10_000, Word: 100}

// Dearest is what a hit of an event costs at most, in nanoseconds.
func (c HitCost) Dearest(ev *uprobe.Event) float64 {
	hit := pairing.Hits{Words: uint64(ev.Words)}
	if slices.ContainsFunc(ev.Sites, func(s uprobe.Site) bool { return s.Stepped }) {
		hit.Stepped = 1
	} else {
		hit.Emulated = 1
	}
	return c.Of(hit)
}

func newLoad(l *Live) (w *load, err error) {
	n, link, pids := len(l.plan.Funcs), l.plan.Binary.File().Link(), l.opt.PIDs
	w = &load{plan: l.plan, base: n, cost: UsualCost, last: l.from.Hits, calls: make([]uint64, n+1), spent: make([]float64, n+1)}
	if running := procfs.Running(link); slices.ContainsFunc(pids, func(pid int) bool { return slices.Contains(running, pid) }) {
		pids = nil // else the file is a library
	}
	w.cpus = procfs.NewLoad(procfs.NewBusyTimes(pids, link), time.Now())
	if w.last == nil {
		w.last, err = l.session.Profile()
	}
	return w, err
}

// price learns what hits cost by now.
func (w *load) price(costs Costs) {
	if !costs.Ready() {
		return
	}
	if known := costs.Take(); known != nil && known.Typical.Emulated > 0 {
		w.cost = known.Typical
	}
}

// callCosts are what hits of a function cost that has a call counted, and timed, in seconds.
func (w *load) callCosts(fn int) (counted, timed float64) {
	f := &w.plan.Funcs[fn]
	entry := pairing.Hits{Emulated: 1}
	if f.Stepped {
		entry = pairing.Hits{Stepped: 1}
	}
	counted = w.cost.Of(entry) / 1e9
	if entry.Stepped++; f.Values.Entry != nil { // a RET is stepped
		entry.Words += uint64(f.Values.Entry.Words)
	}
	if f.Values.Return != nil {
		entry.Words += uint64(f.Values.Return.Words)
	}
	if w.plan.Mode != uprobe.Latency {
		entry.Stepped--
		return w.cost.Of(entry) / 1e9, 0
	}
	return counted, w.cost.Of(entry) / 1e9
}

// costOf is what so many events have cost about, in seconds: half of them are of calls that end, where the kernel
// single-steps.
func (w *load) costOf(events int) float64 {
	return float64(events) * (w.cost.Emulated + w.cost.Stepped) / 2 / 1e9
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
			if site.Kind.IsEntry() && !site.Beside || site.Kind.Counts() || site.Func < 0 {
				w.calls[fn] += hits
			}
			if !site.Beside {
				w.spent[fn] += w.cost.Emulated * float64(hits) / 1e9
				if site.Stepped {
					w.spent[fn] += (w.cost.Stepped - w.cost.Emulated) * float64(hits) / 1e9
				}
			}
			w.spent[fn] += w.cost.Word * float64(ev.Words) * float64(hits) / 1e9
		}
	}
	w.last = now
}
