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
	switch h.namespace(procfs.Self, "pid") {
	case procfs.InitialPIDs:
		return OK.of("the initial one")
	case 0:
		return Unknown.of("/proc does not tell")
	}
	return Warning.of("a container's: the kernel traces by the host's process ids, so that -p, --fork, --comm, --with, --sched and --in-kernel can't be used").fixedBy(privileged)
}

// mountNamespace: paths of definitions are looked up in the writer's.
func (h *host) mountNamespace() Finding {
	own, first := h.namespace(procfs.Self, "mnt"), h.namespace(1, "mnt")
	switch {
	case own == 0 || first == 0:
		return Unknown.of("that of process 1 may not be looked at")
	case own != first:
		return OK.of("not that of process 1: BINARY is a file of this one; -p finds a process's file wherever it is")
	}
	return OK.of("that of process 1")
}

// memory compares the ring buffers of a session with what there is.
func (h *host) memory(bufferKB int) Finding {
	available, cpus, ok := h.AvailableMemory()
	if !ok {
		return Unknown.of("/proc and /sys do not tell")
	}
	if bufferKB == 0 {
		bufferKB = h.BufferKB()
	}
	need := cpus * bufferKB
	text := fmt.Sprintf("ring buffers take %d MB on %d CPUs, %d MB are available", need>>10, cpus, available>>10)
	if need > available/2 {
		return Warning.of(text + "; ftgo count needs none")
	}
	return OK.of(text)
}

// threads compares how many there are with how many there can be: a run starts some,
// and so does the program that it probes.
func (h *host) threads() Finding {
	pidMax, err1 := strconv.Atoi(h.Read("/proc/sys/kernel/pid_max"))
	most, err2 := strconv.Atoi(h.Read("/proc/sys/kernel/threads-max"))
	// "0.20 0.18 0.12 RUNNING/ALL LAST"
	_, after, _ := strings.Cut(h.Read("/proc/loadavg"), "/")
	all, _, _ := strings.Cut(after, " ")
	n, err3 := strconv.Atoi(all)
	if err1 != nil || err2 != nil || err3 != nil {
		return Unknown.of("/proc does not tell")
	}
	most = min(most, pidMax)
	text := fmt.Sprintf("%d of at most %d", n, most)
	if n > most-most/10 {
		return Warning.of(text + ": programs may fail to start").
			fixedBy(h.asRoot(fmt.Sprintf("sysctl -w kernel.pid_max=%d kernel.threads-max=%d", 4*pidMax, 4*most)))
	}
	return OK.of(text)
}
