package trace

import (
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
)

// cpuTimes follow the CPU time of what is traced while probes are armed.
type cpuTimes struct {
	program Program // nil if none was started
	busy    *procfs.BusyTimes
	waiting *procfs.Waiting
	used    time.Duration
	// waited is the share of its time that it waited for a CPU.
	waited float64
}

func newCPUTimes(pids []int, binary string) *cpuTimes {
	busy := procfs.NewBusyTimes(pids, binary)
	return &cpuTimes{busy: busy, waiting: procfs.NewWaiting(busy)}
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
		if cpu, ended := c.program.Used(); ended {
			c.used = cpu // the probes were there first
			return
		}
	}
	c.used, _ = c.busy.Since()
}
