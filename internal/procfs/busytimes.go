package procfs

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

// Tick is the unit of times in /proc/PID/stat: USER_HZ is 100 on x86-64, whatever the
// kernel's own clock.
const Tick = 10 * time.Millisecond

// BusyTimes follow the CPU time of processes.
type BusyTimes struct {
	pids   []int       // of -p; none is all that execute the file
	binary os.FileInfo // nil if it can't be told
	last   map[int]time.Duration
}

// NewBusyTimes follows some processes, or all that execute a file.
func NewBusyTimes(pids []int, binary string) *BusyTimes {
	b := &BusyTimes{pids: pids}
	if info, err := os.Stat(binary); err == nil {
		b.binary = info
	}
	b.Since()
	return b
}

// Since is the CPU time that the processes have used since it was asked last, up to a Tick
// less for each of them. processes is how many were found: none may execute a library.
func (b *BusyTimes) Since() (used time.Duration, processes int) {
	now := make(map[int]time.Duration)
	for _, pid := range b.processes() {
		t, err := cpuTime(pid)
		if err != nil {
			continue // it has just ended
		}
		now[pid] = t
		used += t - b.last[pid]
	}
	b.last = now
	return used, len(now)
}

func (b *BusyTimes) processes() []int {
	if len(b.pids) > 0 {
		return b.pids
	}
	if b.binary == nil {
		return nil
	}
	return Running(b.binary)
}

// cpuTime is the time a process has used, all of its threads together: utime and stime
// of /proc/PID/stat (proc_pid_stat(5)).
func cpuTime(pid int) (time.Duration, error) {
	fields, err := statFields(pid)
	if err != nil {
		return 0, err
	}
	const utime, stime = 14 - 3, 15 - 3
	if len(fields) <= stime {
		return 0, fmt.Errorf("read /proc/%d/stat: %d fields", pid, len(fields)+2)
	}
	var ticks uint64
	for _, text := range [...]string{fields[utime], fields[stime]} {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read /proc/%d/stat: %w", pid, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * Tick, nil
}
