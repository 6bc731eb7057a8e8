package procfs

import (
	"slices"
	"time"
)

// Load is how many CPUs processes keep busy, from one look to the next.
type Load struct {
	busy   *BusyTimes
	used   []usage // the last ones, of half a second or more
	kernel systemTime
	system float64 // how many CPUs are usually kept busy in the kernel
}

// NewLoad is that of processes that are followed, from now on.
func NewLoad(of *BusyTimes, now time.Time) *Load {
	w := &Load{busy: of, used: []usage{{at: now, found: len(of.found())}}}
	w.inKernel(now)
	return w
}

// usage is what CPU time was used until a moment.
type usage struct {
	at    time.Time
	used  time.Duration
	found int // the number of processes
}

// systemTime is how long processes have been in the kernel until a moment.
type systemTime struct {
	at  time.Time
	sum time.Duration
}

// steady is how far back the CPU time is looked at: it is known in steps of 10 ms for each process, of what is
// spent in the kernel and of the rest. coarse is what these may add up to.
const steady, coarse = 500 * time.Millisecond, 20 * time.Millisecond

// CPUs is how many CPUs the processes have kept busy lately, and not less than since it was asked last: they may
// have had nothing to do before. It is not less than one if some came or went, as they take with them what they have used.
func (w *Load) CPUs(now time.Time) float64 {
	used, n := w.busy.Since()
	last := w.used[len(w.used)-1]
	w.used = append(w.used, usage{now, last.used + used, n})
	for len(w.used) > 2 && now.Sub(w.used[1].at) >= steady {
		w.used = w.used[1:]
	}
	first := w.used[0]
	share := float64(last.used+used-first.used) / float64(now.Sub(first.at))
	share = max(share, float64(used-coarse)/float64(now.Sub(last.at)))
	if slices.ContainsFunc(w.used, func(u usage) bool { return u.found == 0 || u.found != n }) {
		return max(share, 1)
	}
	return share
}

// Settle takes how much the processes are in the kernel for what is usual.
func (w *Load) Settle(now time.Time) { w.system = w.inKernel(now) }

// Grown is by how many CPUs more than usual they are there.
func (w *Load) Grown(now time.Time) float64 { return w.inKernel(now) - w.system }

// inKernel is how many CPUs the processes have kept busy in the kernel since it was asked last: a hit
// is time there.
func (w *Load) inKernel(now time.Time) float64 {
	var sum time.Duration
	for _, pid := range w.busy.found() {
		if stat, err := ReadStat(pid); err == nil {
			sum += stat.System
		}
	}
	before := w.kernel
	if w.kernel = (systemTime{now, sum}); before.at.IsZero() {
		return 0
	}
	return float64(sum-before.sum) / float64(now.Sub(before.at))
}
