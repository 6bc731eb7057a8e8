package procfs

import (
	"fmt"
	"os"
	"path/filepath"
)

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
	if sum.waited == 0 {
		return 0
	}
	return float64(sum.waited) / float64(sum.ran+sum.waited)
}

// threads reads /proc/PID/task/TID/schedstat (Documentation/scheduler/sched-stats.rst), which
// kernels without CONFIG_SCHED_INFO don't have.
func (b *BusyTimes) threads() map[string]waited {
	threads := make(map[string]waited)
	for _, pid := range b.processes() {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue // it has just ended
			}
			var t waited
			if _, err := fmt.Sscan(string(text), &t.ran, &t.waited); err == nil {
				threads[file] = t
			}
		}
	}
	return threads
}
