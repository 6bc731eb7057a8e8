package procfs

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// BusyTimes follow the CPU time of processes.
type BusyTimes struct {
	processes func() []int
	last      map[int]time.Duration
}

// NewBusyTimes follows some processes, or all that execute a file.
func NewBusyTimes(pids []int, binary string) *BusyTimes {
	b := &BusyTimes{processes: func() []int { return pids }}
	if file, err := os.Stat(binary); err == nil && len(pids) == 0 {
		b.processes = func() []int { return Running(file) }
	}
	b.Since()
	return b
}

// Since is the CPU time that the processes have used since it was asked last, up to a Tick
// less for each of them. processes is how many were found: none may execute a library.
func (b *BusyTimes) Since() (used time.Duration, processes int) {
	now := make(map[int]time.Duration)
	for _, pid := range b.processes() {
		if stat, err := ReadStat(pid); err == nil { // else it has just ended
			now[pid] = stat.CPU
			used += stat.CPU - b.last[pid]
		}
	}
	b.last = now
	return used, len(now)
}

// waited is how long a thread has run, and how long it could have, but had no CPU.
type waited struct{ ran, waited uint64 }

// Waiting follows how long the threads of processes wait for a CPU.
type Waiting struct {
	busy  *BusyTimes
	first map[string]waited // by the thread's directory
}

// NewWaiting follows the processes that busy does.
func NewWaiting(busy *BusyTimes) *Waiting {
	return &Waiting{busy: busy, first: busy.threads()}
}

// Share is the share of the time since the beginning that threads could have run in and
// waited for a CPU, 0 if that is not known.
func (w *Waiting) Share() float64 {
	var sum waited
	for thread, now := range w.busy.threads() {
		sum.ran += now.ran - w.first[thread].ran
		sum.waited += now.waited - w.first[thread].waited
	}
	return float64(sum.waited) / float64(max(sum.ran+sum.waited, 1))
}

// threads reads /proc/PID/task/TID/schedstat (Documentation/scheduler/sched-stats.rst), which
// kernels without CONFIG_SCHED_INFO don't have.
func (b *BusyTimes) threads() map[string]waited {
	threads := make(map[string]waited)
	for _, pid := range b.processes() {
		files, _ := filepath.Glob(folder(pid) + "/task/*/schedstat")
		for _, file := range files {
			text, _ := os.ReadFile(file) // none of one that has just ended
			var t waited
			if _, err := fmt.Sscan(string(text), &t.ran, &t.waited); err == nil {
				threads[file] = t
			}
		}
	}
	return threads
}
