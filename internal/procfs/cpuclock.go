package procfs

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPUClock tells the CPU time of processes, to the nanosecond but for what those that run now have used since
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

// Used is the CPU time that the processes have used since the clock began. What one uses before it is found, or after it
// was asked last and has ended, is missing.
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

// cpuTime is the CPU time of a process. Its clock's number is made as clock_getcpuclockid(3) does, by MAKE_PROCESS_CPUCLOCK and
// CPUCLOCK_SCHED of include/linux/posix-timers_types.h (Linux 6.12). Those of another pid namespace have none.
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
