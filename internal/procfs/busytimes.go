package procfs

import (
	"os"
	"time"
)

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
		stat, err := ReadStat(pid)
		if err != nil {
			continue // it has just ended
		}
		now[pid] = stat.CPU
		used += stat.CPU - b.last[pid]
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
