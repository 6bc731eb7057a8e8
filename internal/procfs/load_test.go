package procfs

import (
	"os"
	"testing"
	"time"
)

// TestLoad: what processes that come and go have used is not known: it is taken for one CPU at least.
func TestLoad(t *testing.T) {
	var pids []int
	of := &BusyTimes{processes: func() []int { return pids }}
	of.Since()
	now := time.Now()
	w := NewLoad(of, now)
	at := func(ms int) time.Time { return now.Add(time.Duration(ms) * time.Millisecond) }
	if got := w.CPUs(at(100)); got != 1 {
		t.Errorf("without a process %v CPUs", got)
	}
	pids = []int{os.Getpid()}
	if got := w.CPUs(at(200)); got < 1 {
		t.Errorf("with a new process %v CPUs", got)
	}
	for ms := 300; ms < 900; ms += 100 {
		w.CPUs(at(ms))
	}
	// Long after, it has used next to nothing of that time.
	if got := w.CPUs(at(3_600_000)); got >= 1 {
		t.Errorf("in an hour %v CPUs", got)
	}
	w.Settle(at(3_600_000))
	if got := w.Grown(at(7_200_000)); got > 0.1 {
		t.Errorf("in the kernel %v CPUs more", got)
	}
}
