package tracefs

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Tracing is the mount point of tracefs since Linux 4.1. In older kernels, tracefs exists only as a directory of debugfs,
// which is mounted at Debugfs.
const (
	Tracing = "/sys/kernel/tracing"
	Debugfs = "/sys/kernel/debug"
)

// MountPoints lists the directories to search for tracefs, in order.
var MountPoints = []string{Tracing, Debugfs + "/tracing"}

// Machine is this machine, or in tests a directory with files of another one.
type Machine struct {
	// Root is prepended to every path. It is "" for this machine.
	Root string
	// Release is the kernel's release, "" if it can't be read.
	Release string
}

// ThisMachine returns the machine that this process runs on.
func ThisMachine() Machine {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return Machine{}
	}
	return Machine{Release: unix.ByteSliceToString(u.Release[:])}
}

// Older reports whether the kernel is older than a version. It returns false if the release can't be read.
func (m Machine) Older(major, minor int) bool {
	a, b, ok := version(m.Release)
	return ok && (a < major || a == major && b < minor)
}

func version(release string) (major, minor int, ok bool) {
	n, _ := fmt.Sscanf(release, "%d.%d", &major, &minor)
	return major, minor, n == 2
}

// Read returns the content of a file without the white space around it, or "" if it can't be read.
func (m Machine) Read(path string) string {
	b, _ := os.ReadFile(m.Root + path)
	return strings.TrimSpace(string(b))
}

// clockSources is the file that lists the kernel's usable clocks. The kernel removes tsc from it when it finds the
// counter unstable or unsynchronized (arch/x86/kernel/tsc.c, mark_tsc_unstable).
const clockSources = "/sys/devices/system/clocksource/clocksource0/available_clocksource"

// ChooseClock returns the trace clock to use. offered lists the clocks that tracefs offers, like "[local] global ...".
// ChooseClock tries the clocks in this order: [Counter], [Monotonic], "global", "local". It returns the first clock
// that is offered. It skips Counter if the kernel does not trust the cycle counter to run at one rate on all CPUs.
//
// counterTrusted reports whether the kernel trusts the cycle counter. It does not depend on offered.
func (m Machine) ChooseClock(offered string) (clock string, counterTrusted bool) {
	counterTrusted = slices.Contains(strings.Fields(m.Read(clockSources)), "tsc")
	have := strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(offered))
	for _, clock := range []string{Counter, Monotonic, "global"} {
		if slices.Contains(have, clock) && (clock != Counter || counterTrusted) {
			return clock, counterTrusted
		}
	}
	return "local", counterTrusted
}

// A session sets the size of its ring buffers before the first event and never changes it: the kernel stops
// recording during a change (kernel/trace/trace.c, __tracing_resize_ring_buffer), so hits would be lost. The
// kernel allocates the memory at once and frees it when the session's instance is removed.
const (
	// usualBufferKB holds the records of 0.4 s at the highest rate measured: 1.7 million records of 24 bytes a
	// second. ftgo reads every 20 ms. The buffer holds more than 20 ms, because ftgo reads late on a busy machine.
	usualBufferKB = 16 << 10
	// The buffers of all CPUs together take at most 1/bufferShare of the available memory.
	bufferShare = 16
	// leastBufferKB is the smallest default size. It applies if memory is short.
	leastBufferKB = 64
)

// BufferKB returns the default size of ring buffers in KB per CPU.
func (m Machine) BufferKB() int {
	available, cpus, ok := m.AvailableMemory()
	if !ok {
		return usualBufferKB
	}
	return max(min(usualBufferKB, available/bufferShare/cpus), leastBufferKB)
}

// AvailableMemory returns the available memory in KB and the number of CPUs that are online.
func (m Machine) AvailableMemory() (kb, cpus int, ok bool) {
	_, after, _ := strings.Cut(m.Read("/proc/meminfo"), "MemAvailable:")
	n, _ := fmt.Sscan(after, &kb)
	cpus = countList(m.Read("/sys/devices/system/cpu/online"))
	return kb, cpus, n == 1 && cpus > 0
}

// countList returns how many numbers a list like "0-3,8" contains, 0 if it can't be parsed.
func countList(list string) (n int) {
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, err1 := strconv.Atoi(first)
		b, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || b < a {
			return 0
		}
		n += b - a + 1
	}
	return n
}
