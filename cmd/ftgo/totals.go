package main

import (
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// totals are the functions' numbers and the summary, as of a moment that the stream has come
// to.
func (t *tracing) totals(at tracefs.Mark) ([]stats.Function, stats.Summary, error) {
	books := t.stream.Books()
	sum := stats.Summary{
		Unparsed: t.stream.Unparsed() + books.Unplaced,
		Probes:   t.plan.Probes(), Functions: len(t.plan.Funcs),
		Seconds:         at.At.Sub(t.from.At).Seconds(),
		Pass:            max(t.from.Width, at.Width),
		LatencyMeasured: t.plan.Mode == uprobe.Latency,
		Streamed:        t.plan.Mode != uprobe.Count,
		CountFirst:      t.plan.CountsFirst(), MaxRate: t.opt.maxRate.perSecond,
		Clock: t.tally.base.Clock,
	}
	if t.vanished != nil { // it is no recording
		sum.Vanished = t.vanished.processes()
	}
	var err error
	if sum.Kernel, err = t.kernel.books(t); err != nil {
		return nil, sum, err
	}
	sum.Skipped = append(sum.Skipped, t.skipped...)
	for _, s := range t.plan.Skipped {
		sum.Skipped = append(sum.Skipped, stats.Skipped{Function: s.Func.Name, Reason: s.Reason.Error()})
	}
	overruns, err := t.counts.Overruns()
	if err != nil {
		return nil, sum, err
	}
	filtered := t.plan.Filtered()
	own := !t.opt.restricted() && !filtered
	h := sumHits(t.plan, t.from.Hits, at.Hits, books, overruns+sum.Unparsed > 0)
	sum.Hits, sum.Delivered, sum.Counted = h.all, h.delivered, h.counted
	switch {
	case filtered && !t.opt.restricted():
		// What the kernel's filter has dropped is counted with the hits.
		sum.Lost = overruns + sum.Unparsed
		sum.Hits = max(h.kernel, sum.Delivered+sum.Lost)
		sum.Filtered = sum.Hits - sum.Delivered - sum.Lost
	case !own:
		// The kernel has counted the hits of every process; what was lost of ours is
		// told by the ring buffer.
		sum.Lost = overruns
		sum.Hits, sum.Counted = sum.Delivered+sum.Lost, h.countedSeen
	case !t.features.ExactHits && len(t.opt.with) == 0:
		// So many hits there were at least: see tracefs.Features.ExactHits.
		sum.Hits = max(sum.Hits, sum.Delivered+overruns)
	}
	sum.Lost = sum.Hits - sum.Delivered - sum.Filtered
	if own {
		sum.Before = sumCounts(t.from.Hits)
	}
	funcs := t.tally.settle(h, books, own)
	for i := range funcs {
		if b := funcs[i].Bounds; b != nil {
			b.Waiting = t.cpu.waited
		}
	}
	return funcs, sum, nil
}

// final are the totals of the whole window, and what was hit besides.
func (t *tracing) final() ([]stats.Function, stats.Summary, error) {
	profile, err := t.counts.Profile()
	if err != nil {
		return nil, stats.Summary{}, err
	}
	if t.until.Hits == nil {
		t.until.Hits = profile
	}
	funcs, sum, err := t.totals(t.until)
	if all := sumCounts(profile); !t.opt.restricted() {
		sum.After = all - min(all, sum.Before+sum.Hits)
	}
	sum.Probing = t.probing()
	if t.calls > 0 {
		t.tally.onlyEnded(funcs)
	}
	return funcs, sum, err
}

func sumCounts(profile [][]uint64) (n uint64) {
	for _, sites := range profile {
		for _, count := range sites {
			n += count
		}
	}
	return n
}
