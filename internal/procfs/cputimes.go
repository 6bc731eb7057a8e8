package procfs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CPUTimes measure the CPU time of some processes, or of all that execute a file, and how long their threads wait for a CPU.
type CPUTimes struct {
	find  func() []int // nil for some processes
	pids  []int
	until time.Time // when find is called again

	used  time.Duration
	last  map[int]time.Duration // the times at the last call of Used
	since map[int]time.Duration // the times at the last call of Since
	first map[int]waited        // by the thread's number
}

// waited is how long a thread has run, and how long it has waited for a CPU.
type waited struct{ ran, waited uint64 }

// NewCPUTimes begins to measure some processes, or all that execute a file.
func NewCPUTimes(pids []int, binary string) *CPUTimes {
	c := &CPUTimes{pids: pids}
	if len(pids) == 0 {
		c.find = func() []int { return Running(binary) }
	}
	c.begin()
	return c
}

func (c *CPUTimes) begin() {
	c.since = c.times()
	c.last = c.since
	c.first = c.threads()
}

// Finding processes takes a hundredth of the time, or more if new ones would be found too late.
const (
	findShare = 0.01
	findAgain = 500 * time.Millisecond
)

// recent returns the processes, and finds them again if that is due.
func (c *CPUTimes) recent() []int {
	if before := time.Now(); c.find != nil && !before.Before(c.until) {
		c.pids = c.find()
		took := time.Since(before)
		c.until = before.Add(min(time.Duration(float64(took)/findShare), findAgain))
	}
	return c.pids
}

// times returns the CPU times of the processes. They lack what running processes have used since the kernel's last tick.
func (c *CPUTimes) times() map[int]time.Duration {
	now := make(map[int]time.Duration)
	for _, pid := range c.recent() {
		if used, ok := cpuTime(pid); ok { // else it has just ended
			now[pid] = used
		}
	}
	return now
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

// Used returns the CPU time that the processes have used since the beginning. It misses the time that a process uses before
// it is found, and between the last call of Used and its end.
func (c *CPUTimes) Used() time.Duration {
	now := c.times()
	for pid, used := range now {
		if before, known := c.last[pid]; known {
			c.used += used - before
		}
	}
	c.last = now
	return c.used
}

// Since returns the CPU time that the processes have used since its last call, also before they were found. It finds them again.
func (c *CPUTimes) Since() (used time.Duration) {
	c.until = time.Time{}
	now := c.times()
	for pid, t := range now {
		used += t - c.since[pid]
	}
	c.since = now
	return used
}

// Waited returns the share of their runnable time that threads have waited for a CPU since the
// beginning, 0 if that is not known.
func (c *CPUTimes) Waited() float64 {
	var sum waited
	for thread, now := range c.threads() {
		sum.ran += now.ran - c.first[thread].ran
		sum.waited += now.waited - c.first[thread].waited
	}
	return float64(sum.waited) / float64(max(sum.ran+sum.waited, 1))
}

// threads reads /proc/PID/task/TID/schedstat (Documentation/scheduler/sched-stats.rst), which
// kernels without CONFIG_SCHED_INFO don't have.
func (c *CPUTimes) threads() map[int]waited {
	threads := make(map[int]waited)
	for _, pid := range c.recent() {
		tids, _ := Threads(pid) // empty for a process that has just ended
		for _, tid := range tids {
			text, _ := os.ReadFile(fmt.Sprintf("%s/task/%d/schedstat", folder(pid), tid))
			ran, rest, _ := strings.Cut(string(text), " ")
			lacked, _, _ := strings.Cut(rest, " ")
			r, rerr := strconv.ParseUint(ran, 10, 64)
			if w, werr := strconv.ParseUint(lacked, 10, 64); rerr == nil && werr == nil {
				threads[tid] = waited{r, w}
			}
		}
	}
	return threads
}

// ThreadTime returns the CPU time of the calling thread, 0 if that is not known.
func ThreadTime() time.Duration {
	var ran int64
	text, _ := os.ReadFile("/proc/thread-self/schedstat")
	_, _ = fmt.Sscan(string(text), &ran)
	return time.Duration(ran)
}
