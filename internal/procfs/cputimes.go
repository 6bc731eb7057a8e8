package procfs

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// CPUTimes measures the CPU time of processes, and how long their threads wait for a CPU.
type CPUTimes struct {
	find  func() []int // finds the processes; nil if they are fixed
	pids  []int
	until time.Time // when to call find again

	all, known time.Duration         // the results of the last call of Used
	last       map[int]time.Duration // the CPU time of each process at the last call of Used
	first      map[int][2]uint64     // the result of threads at the beginning
	// Ended is set by Used if a process has ended since the call before: Used does not know its time since then.
	Ended bool
}

// NewCPUTimes starts to measure processes. If pids is empty, it measures all processes that execute a file.
func NewCPUTimes(pids []int, binary string) *CPUTimes {
	c := &CPUTimes{pids: pids}
	if len(pids) == 0 {
		c.find = func() []int { return Running(binary) }
	}
	c.last, c.first = c.times(), c.threads()
	return c
}

// Searches for processes take at most findShare of the time, but one is due at least every findAgain.
const (
	findShare = 0.01
	findAgain = 500 * time.Millisecond
)

// recent returns the processes. It searches for them first if the last search is too old.
func (c *CPUTimes) recent() []int {
	if before := time.Now(); c.find != nil && !before.Before(c.until) {
		c.pids = c.find()
		took := time.Since(before)
		c.until = before.Add(min(time.Duration(float64(took)/findShare), findAgain))
	}
	return c.pids
}

// times returns the CPU time of each process. It excludes the time of running threads since the kernel's last tick.
func (c *CPUTimes) times() map[int]time.Duration {
	now := make(map[int]time.Duration)
	for _, pid := range c.recent() {
		if used, ok := cpuTime(pid); ok { // else the process has just ended
			now[pid] = used
		}
	}
	return now
}

// cpuTime returns the CPU time of a process. It computes the id of the process's clock like clock_getcpuclockid(3),
// from MAKE_PROCESS_CPUCLOCK and CPUCLOCK_SCHED in include/linux/posix-timers_types.h (Linux 6.12). It reads /proc
// instead in other pid namespaces than the initial one.
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

// Used returns the CPU time that the processes have used since NewCPUTimes. all includes a process's time before the process was
// found, and known excludes it. Both exclude a process's time after the last call of Used before it ended. If search is true,
// Used searches for the processes even if the last search is not too old.
func (c *CPUTimes) Used(search bool) (all, known time.Duration) {
	if search {
		c.until = time.Time{}
	}
	now, ended := c.times(), len(c.last)
	for pid, used := range now {
		before, found := c.last[pid]
		c.all += used - before
		if found {
			c.known += used - before
			ended--
		}
	}
	c.last, c.Ended = now, c.Ended || ended > 0
	return c.all, c.known
}

// Waited returns the share of runnable time since NewCPUTimes that threads have waited for a CPU. It returns 0 if the
// kernel does not measure it.
func (c *CPUTimes) Waited() float64 {
	var ran, waited uint64
	for thread, now := range c.threads() {
		ran += now[0] - c.first[thread][0]
		waited += now[1] - c.first[thread][1]
	}
	return float64(waited) / float64(max(ran+waited, 1))
}

// threads returns the times that each thread has run and that it has waited for a CPU, in nanoseconds. It reads
// /proc/PID/task/TID/schedstat (Documentation/scheduler/sched-stats.rst). Kernels without CONFIG_SCHED_INFO do not have it.
func (c *CPUTimes) threads() map[int][2]uint64 {
	threads := make(map[int][2]uint64)
	for _, pid := range c.recent() {
		tids, _ := Threads(pid) // empty for a process that has just ended
		for _, tid := range tids {
			var times [2]uint64
			text, _ := os.ReadFile(fmt.Sprintf("%s/task/%d/schedstat", folder(pid), tid))
			if n, _ := fmt.Sscan(string(text), &times[0], &times[1]); n == 2 {
				threads[tid] = times
			}
		}
	}
	return threads
}

// ThreadTime returns the CPU time of the calling thread, or 0 if the kernel does not measure it.
func ThreadTime() time.Duration {
	var ran int64
	text, _ := os.ReadFile("/proc/thread-self/schedstat")
	_, _ = fmt.Sscan(string(text), &ran)
	return time.Duration(ran)
}
