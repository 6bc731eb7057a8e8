package main

import (
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// cpuTimes follow the CPU time of what is traced while probes are armed.
type cpuTimes struct {
	program *program
	busy    *procfs.BusyTimes
	waiting *procfs.Waiting
	used    time.Duration
	// waited is the share of its time that it waited for a CPU.
	waited float64
}

func newCPUTimes(p *program, o *options) *cpuTimes {
	busy := procfs.NewBusyTimes(o.pids, o.binary)
	return &cpuTimes{program: p, busy: busy, waiting: procfs.NewWaiting(busy)}
}

// look learns what is gone when processes are.
func (c *cpuTimes) look() {
	if share := c.waiting.Share(); share > 0 {
		c.waited = share
	}
}

// stop ends it.
func (c *cpuTimes) stop() {
	c.look()
	if c.program != nil {
		select {
		case <-c.program.done:
			if state := c.program.cmd.ProcessState; state != nil {
				c.used = state.UserTime() + state.SystemTime() // the probes were there first
			}
			return
		default:
		}
	}
	c.used, _ = c.busy.Since()
}

// probing is what probes have cost what is traced while the window was open, by the kernel's
// count of hits.
func (t *tracing) probing() *stats.Probing {
	costs := t.tally.hitCosts()
	if costs == (hitCosts{}) {
		return nil
	}
	var ours, others parse.Hits
	funcs := make([]parse.Hits, len(t.plan.Funcs))
	books := t.stream.Books()
	for i := range t.plan.Events {
		ev := &t.plan.Events[i]
		for site := range ev.Sites {
			fn := ev.Func(site)
			if fn >= 0 && t.plan.Funcs[fn].CountFirst && ev.Kind(site).IsEntry() {
				continue // its counter is at the same instruction, and has counted it
			}
			seen := books.Delivered[i][site]
			count := countSince(t.from.Hits, t.until.Hits, i, site, seen)
			if !t.opt.restricted() {
				seen = count
			}
			addHits(&ours, seen, ev, site)
			addHits(&others, count-seen, ev, site)
			if fn >= 0 {
				addHits(&funcs[fn], seen, ev, site)
			}
		}
	}
	p := &stats.Probing{
		Emulated: costs.typical.emulated, Stepped: costs.typical.stepped,
		NS: costs.typical.of(ours), Low: costs.least.of(ours), High: costs.most.of(ours),
		Others: costs.typical.of(others), CPU: float64(t.cpu.used),
	}
	for i := range funcs {
		p.Add(t.plan.Funcs[i].Name, costs.typical.of(funcs[i]))
	}
	return p
}

func addHits(to *parse.Hits, n uint64, ev *uprobe.Event, site int) {
	to.Words += n * uint64(ev.Words())
	if ev.Stepped(site) {
		to.Stepped += n
	} else {
		to.Emulated += n
	}
}
