package doctor

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/procfs"
)

// ProcessNumbers is the finding on whether this process knows processes by the numbers
// that the kernel traces them by: those of the first pid namespace, not a container's.
func ProcessNumbers() Finding { return thisHost().pidNamespace() }

func (h *host) pidNamespace() Finding {
	found := Finding{Check: "pid namespace", State: OK, Text: "the initial one"}
	switch h.namespace(procfs.Self, "pid") {
	case procfs.InitialPIDs:
	case 0:
		found.State, found.Text = Unknown, "/proc does not tell"
	default:
		found.State, found.Text = Warning, "a container's: the kernel traces by the host's process ids, so that -p, --fork, --comm, --with, --sched and --in-kernel can't be used"
		found.Fix = "docker run --privileged --pid=host ..."
	}
	return found
}

// mountNamespace: paths of definitions are looked up in the writer's.
func (h *host) mountNamespace() Finding {
	found := Finding{Check: "mount namespace", State: OK, Text: "that of process 1"}
	own, first := h.namespace(procfs.Self, "mnt"), h.namespace(1, "mnt")
	switch {
	case own == 0 || first == 0:
		found.State, found.Text = Unknown, "that of process 1 may not be looked at"
	case own != first:
		found.Text = "not that of process 1: BINARY is a file of this one; -p finds a process's file wherever it is"
	}
	return found
}

// memory compares the ring buffers of a session with what there is.
func (h *host) memory(bufferKB int) Finding {
	found := Finding{Check: "memory", State: OK}
	available, cpus, ok := h.AvailableMemory()
	if !ok {
		found.State, found.Text = Unknown, "/proc and /sys do not tell"
		return found
	}
	if bufferKB == 0 {
		bufferKB = h.BufferKB()
	}
	need := cpus * bufferKB
	found.Text = fmt.Sprintf("ring buffers take %d MB on %d CPUs, %d MB are available", need>>10, cpus, available>>10)
	if need > available/2 {
		found.State, found.Text = Warning, found.Text+"; ftgo count needs none"
	}
	return found
}

// threads compares how many there are with how many there can be: a run starts some,
// and so does the program that it probes.
func (h *host) threads() Finding {
	found := Finding{Check: "threads", State: OK}
	pidMax, err1 := strconv.Atoi(h.Read("/proc/sys/kernel/pid_max"))
	most, err2 := strconv.Atoi(h.Read("/proc/sys/kernel/threads-max"))
	// "0.20 0.18 0.12 RUNNING/ALL LAST"
	_, after, _ := strings.Cut(h.Read("/proc/loadavg"), "/")
	all, _, _ := strings.Cut(after, " ")
	n, err3 := strconv.Atoi(all)
	if err1 != nil || err2 != nil || err3 != nil {
		found.State, found.Text = Unknown, "/proc does not tell"
		return found
	}
	most = min(most, pidMax)
	found.Text = fmt.Sprintf("%d of at most %d", n, most)
	if n > most-most/10 {
		found.State, found.Fix = Warning, h.asRoot(fmt.Sprintf("sysctl -w kernel.pid_max=%d kernel.threads-max=%d", 4*pidMax, 4*most))
		found.Text += ": programs may fail to start"
	}
	return found
}
