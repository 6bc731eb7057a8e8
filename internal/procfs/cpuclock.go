package procfs

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPUClock measures the CPU time of processes, in nanoseconds, without what running processes have used since
// the last tick of the kernel.
type CPUClock struct {
	of   *Runners
	last map[int]time.Duration
	used time.Duration
}

// NewCPUClock returns the clock of processes. It begins at 0.
func NewCPUClock(of *Runners) *CPUClock {
	c := &CPUClock{of: of}
	c.Used()
	return c
}

// Used returns the CPU time that the processes have used since the clock began. It misses the time that a process uses before
// it is found, and between the last call of Used and its end.
func (c *CPUClock) Used() time.Duration {
	now := make(map[int]time.Duration)
	for _, pid := range c.of.recent() {
		if used, ok := cpuTime(pid); ok {
			now[pid] = used
			if before, known := c.last[pid]; known {
				c.used += used - before
			}
		}
	}
	c.last = now
	return c.used
}

// cpuTime returns the CPU time of a process. The number of its clock is computed as by clock_getcpuclockid(3), from MAKE_PROCESS_CPUCLOCK
// and CPUCLOCK_SCHED of include/linux/posix-timers_types.h (Linux 6.12). Processes of another pid namespace have no such clock.
func cpuTime(pid int) (time.Duration, bool) {
	const sched = 2
	var ts unix.Timespec
	if !ForeignNumbers() {
		if unix.ClockGettime(int32(^pid<<3|sched), &ts) == nil {
			return time.Duration(ts.Nano()), true
		}
		return 0, false
	}
	stat, err := ReadStat(pid)
	return stat.CPU, err == nil
}
