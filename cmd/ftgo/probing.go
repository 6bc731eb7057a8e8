package main

import (
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/parse"
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
func (t *tracing) probing(counts *parse.Counts) *stats.Probing {
	costs := t.tally.hitCosts()
	if costs == (hitCosts{}) {
		return nil
	}
	p := &stats.Probing{
		Emulated: costs.typical.emulated, Stepped: costs.typical.stepped,
		NS: costs.typical.of(counts.Ours), Low: costs.least.of(counts.Ours), High: costs.most.of(counts.Ours),
		Others: costs.typical.of(counts.Others), CPU: float64(t.cpu.used),
	}
	for i := range counts.Funcs {
		p.Add(t.plan.Funcs[i].Name, costs.typical.of(counts.Funcs[i].Hits))
	}
	return p
}
