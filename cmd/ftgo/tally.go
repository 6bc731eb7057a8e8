package main

import (
	"github.com/ftgo/ftgo/cmd/ftgo/internal/stats"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// tally adds up the calls of each function, and squares them with the kernel's
// count of hits.
type tally struct {
	plan  *uprobe.Plan
	base  tracefs.Timebase
	funcs []stats.Function // as in plan.Funcs
	ended uint64
	// costs of nested calls' probes are taken off latencies.
	costs *measuring // nil if they are to stay
	// net: some were.
	net bool
	// within are the latencies of calls, for those that they were nested in.
	within nestedSums
}

// errors: what is fetched where calls return is whether that is an error.
func newTally(plan *uprobe.Plan, errors bool) *tally {
	t := &tally{plan: plan, within: make(nestedSums), funcs: make([]stats.Function, len(plan.Funcs))}
	for i := range plan.Funcs {
		f := &t.funcs[i]
		f.Name = plan.Funcs[i].Name
		if plan.Mode != uprobe.Latency {
			continue
		}
		f.Latency = &stats.Histogram{}
		f.ReturnsErrors = errors && plan.Funcs[i].Values.Return != nil
		if !plan.Funcs[i].Returns {
			f.Note = "has no return: only its calls are counted"
		}
		if plan.Funcs[i].Point {
			f.Note = "is one instruction: how often it is executed is counted"
		}
		switch {
		case plan.Funcs[i].Point && plan.Funcs[i].Sites.Restarts:
			f.Note = "is one instruction, before the stack check: it is executed again when the stack grows"
		case plan.Funcs[i].Sites.Restarts:
			f.Note = "loops back to its start: calls may be counted high"
		}
	}
	return t
}

// add takes a call that has ended.
func (t *tally) add(c *parse.Call) {
	f := &t.funcs[c.Func]
	t.ended++
	switch c.Outcome {
	case parse.Returned:
		f.Completed++
		if f.ReturnsErrors && len(c.Results) > 0 && c.Results[0] != 0 {
			f.Errors++
		}
		f.Latency.Record(t.latency(c, t.base.Duration(c.Start, c.End).Nanoseconds()))
	case parse.Unwound:
		f.Unwound++
		t.within.take(keyOfGoroutine(c), c.Depth)
	case parse.Open:
		f.Open++
	}
}

// latency is how long a call took that was seen to take ns, net of what probes cost: its own, and those of calls
// nested in it. Costs are averages, so that it may be a little off; it is not less than
// what the nested calls took.
func (t *tally) latency(c *parse.Call, ns int64) int64 {
	if t.costs == nil {
		return ns
	}
	costs := t.costs.take()
	if costs == (hitCosts{}) {
		return ns
	}
	own := costs.emulated
	if t.plan.Funcs[c.Func].Stepped {
		own = costs.stepped
	}
	net := ns - int64(own.within+float64(c.Nested)*costs.emulated.call+float64(c.NestedStepped)*costs.stepped.call)
	t.net = true
	key := keyOfGoroutine(c)
	net = max(net, t.within.take(key, c.Depth), 0)
	t.within.add(key, c.Depth, net)
	return net
}

// hits is the kernel's count of a plan's probes, and what of it was delivered.
type hits struct {
	all, delivered uint64
	// entries, entriesSeen, ends and endsSeen are per function of the plan.
	entries, entriesSeen, ends, endsSeen []uint64
}

func sumHits(plan *uprobe.Plan, profile [][]uint64, books *parse.Books) hits {
	n := len(plan.Funcs)
	h := hits{entries: make([]uint64, n), entriesSeen: make([]uint64, n), ends: make([]uint64, n), endsSeen: make([]uint64, n)}
	for i := range plan.Events {
		ev := &plan.Events[i]
		for site, count := range profile[i] {
			seen := books.Delivered[i][site]
			h.all += count
			h.delivered += seen
			fn := ev.Func(site)
			switch {
			case fn < 0:
			case ev.Kind.IsEntry():
				h.entries[fn] += count
				h.entriesSeen[fn] += seen
			default:
				h.ends[fn] += count
				h.endsSeen[fn] += seen
			}
		}
	}
	return h
}

// settle completes the functions' numbers from the kernel's: calls are counted by
// it, so that they are right whatever the stream has lost; and calls taken for
// unwound or open may only lack a return that was lost.
//
// own says that the kernel's counts are of the wanted processes alone.
func (t *tally) settle(h hits, books *parse.Books, own bool) []stats.Function {
	out := make([]stats.Function, len(t.funcs))
	for i := range t.funcs {
		f := t.funcs[i]
		if !own {
			f.Calls = books.Entries[i]
		} else {
			f.Calls = h.entries[i] - min(books.NoCalls[i], h.entries[i])
			missing := h.ends[i] - min(h.endsSeen[i], h.ends[i])
			unwound := min(missing, f.Unwound)
			f.Unwound -= unwound
			f.Open -= min(missing-unwound, f.Open)
		}
		if t.plan.Mode == uprobe.Latency && !t.plan.Funcs[i].Point {
			seen := f.Completed + f.Unwound + f.Open
			f.Lost = f.Calls - min(seen, f.Calls)
		}
		out[i] = f
	}
	return out
}
