package trace

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ftgo/ftgo/internal/breakpoints"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/tracefs"
)

// vanished checks whether the processes still have the probes in their memory, a few probes at a
// time, because the kernel does not tell when a process has lost them, and then counts no calls.
type vanished struct {
	sites []uint64 // of the probes that are there from the first to the last moment
	inode uint64
	next  int          // of the sites, to be looked at
	told  map[int]bool // the processes that it was said of
}

const (
	// glance is the number of sites checked per look, inspection that of the check at the end. A
	// site takes a microsecond or two.
	glance, inspection = 16, 512
	// maxGlanced is the number of processes checked per look.
	maxGlanced = 16
)

func newVanished(events []tracefs.Event, inode uint64) *vanished {
	v := &vanished{inode: inode, told: make(map[int]bool)}
	for i := range events {
		v.sites = append(v.sites, events[i].Sites...)
	}
	return v
}

// notice warns of each process, PROGRAM included, that has lost its probes, once.
func (v *vanished) notice(talk Talk, pids []int, p Program, sites int) {
	if p != nil {
		pids = append([]int{p.PID()}, pids...)
	}
	if len(v.sites) == 0 || procfs.ForeignNumbers() {
		return
	}
	some := make([]uint64, min(sites, len(v.sites)))
	for i := range some {
		some[i] = v.sites[(v.next+i)%len(v.sites)]
	}
	v.next += len(some)
	for _, pid := range pids[:min(len(pids), maxGlanced)] {
		// Twice: the process may change its mappings between a look at them and one there.
		if !v.told[pid] && v.missing(pid, some) && v.missing(pid, some) {
			v.told[pid] = true
			talk.Warn(fmt.Sprintf("probes have vanished from process %d, which has changed its code or dropped it: its calls are not all counted", pid))
		}
	}
}

// processes are those whose probes were found to be gone.
func (v *vanished) processes() []int {
	return slices.Sorted(maps.Keys(v.told))
}

func (v *vanished) missing(pid int, sites []uint64) bool {
	return breakpoints.Missing(pid, v.inode, sites) > 0
}
