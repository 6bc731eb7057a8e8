package main

import (
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// totals are the functions' numbers and the summary, as of a moment that the stream has come
// to; final: that is the window's end.
func (t *tracing) totals(at tracefs.Mark, final bool) ([]stats.Function, stats.Summary, error) {
	sum := stats.Summary{
		Unparsed: t.stream.Unparsed(),
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
	restricted := t.opt.restricted()
	counts := t.stream.Counts(parse.Counters{
		From: t.from.Hits, At: at.Hits, Overruns: overruns, Own: !restricted, Inexact: !t.features.ExactHits && len(t.opt.with) == 0,
	})
	sum.Hits, sum.Delivered, sum.Filtered, sum.Lost, sum.Counted = counts.Hits, counts.Delivered, counts.Filtered, counts.Lost, counts.CountedOnly
	if !restricted && !t.plan.Filtered() {
		sum.Before = sumCounts(t.from.Hits)
	}
	if final {
		sum.Probing = t.probing(counts)
	}
	funcs := t.tally.settle(counts.Funcs)
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
	funcs, sum, err := t.totals(t.until, true)
	if all := sumCounts(profile); !t.opt.restricted() {
		sum.After = all - min(all, sum.Before+sum.Hits)
	}
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
