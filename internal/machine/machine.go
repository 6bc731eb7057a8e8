// Package machine tells what tracing depends on of a machine: its kernel's release, its memory,
// its clocks, and where tracefs is mounted.
package machine

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Tracing is where tracefs is mounted since Linux 4.1; kernels before that have it below
// Debugfs only.
const (
	Tracing = "/sys/kernel/tracing"
	Debugfs = "/sys/kernel/debug"
)

// MountPoints are where tracefs is looked for.
var MountPoints = []string{Tracing, Debugfs + "/tracing"}

// Machine is a machine.
type Machine struct {
	// Root is put before every path: "" for this machine.
	Root string
	// Release is the kernel's, "" if it can't be read.
	Release string
}

// This is the machine that this process runs on.
func This() Machine {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return Machine{}
	}
	return Machine{Release: unix.ByteSliceToString(u.Release[:])}
}

// Older tells whether the kernel is older than a version. One whose release can't be read is
// not.
func (m Machine) Older(major, minor int) bool {
	a, b, ok := version(m.Release)
	return ok && (a < major || a == major && b < minor)
}

func version(release string) (major, minor int, ok bool) {
	n, _ := fmt.Sscanf(release, "%d.%d", &major, &minor)
	return major, minor, n == 2
}

// Read returns a file without the white space around it, "" if it can't be read.
func (m Machine) Read(path string) string {
	b, _ := os.ReadFile(m.Root + path)
	return strings.TrimSpace(string(b))
}

// clockSources lists what the kernel can tell the time by. The kernel drops tsc from it when
// it finds the counter unstable or unsynchronised (arch/x86/kernel/tsc.c, mark_tsc_unstable).
const clockSources = "/sys/devices/system/clocksource/clocksource0/available_clocksource"

// ChooseClock is the best trace clock of those offered ("[local] global ..."), and tells
// whether the kernel trusts the cycle counter to run at one rate on all CPUs: then raw cycles are
// best, and else the monotonic clock, which is ordered between CPUs.
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

// A ring buffer is as large as it will ever be before the first event: the kernel stops
// recording while it changes the size (kernel/trace/trace.c, __tracing_resize_ring_buffer),
// and hits meanwhile would be missing. Its memory is taken at once, and given back when
// the session's instance is removed.
const (
	// usualBufferKB holds 0.4 s of the fastest flood there is: 1.7 million records a second
	// of 24 bytes. The reader comes by every 20 ms; the rest is for a machine so busy that
	// it comes late.
	usualBufferKB = 16 << 10
	// bufferShare of the available memory is the most that the buffers of all CPUs take.
	bufferShare = 16
	// LeastBufferKB is worth having where memory is short.
	LeastBufferKB = 64
)

// BufferKB is the size per CPU of ring buffers whose size nobody has chosen.
func (m Machine) BufferKB() int {
	available, cpus, ok := m.AvailableMemory()
	if !ok {
		return usualBufferKB
	}
	return max(min(usualBufferKB, available/bufferShare/cpus), LeastBufferKB)
}

// AvailableMemory is in KB; cpus is how many share it.
func (m Machine) AvailableMemory() (kb, cpus int, ok bool) {
	_, after, _ := strings.Cut(m.Read("/proc/meminfo"), "MemAvailable:")
	n, _ := fmt.Sscan(after, &kb)
	cpus = countList(m.Read("/sys/devices/system/cpu/online"))
	return kb, cpus, n == 1 && cpus > 0
}

// countList is how many numbers a list like "0-3,8" has.
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

// Features is what a kernel's uprobe_events can do, as far as it matters here.
// Fields may be cleared to make a session do without.
type Features struct {
	// Append: a second definition of an event adds a site. Before 5.4 it silently
	// replaces the first.
	Append bool
	// PushEmulated: a probed push of a register is emulated, not single-stepped
	// (x86, since 5.4 as far as it was tried; arch/x86/kernel/uprobes.c,
	// push_setup_xol_ops).
	PushEmulated bool
	// Arrays: memory is fetched as TYPE[N] (since 4.20).
	Arrays bool
	// RecordTGID: lines carry the process (since 4.14).
	RecordTGID bool
	// EventFork: set_event_pid follows new threads (since 4.9).
	EventFork bool
	// EventPID: set_event_pid exists (since 4.4).
	EventPID bool
	// Memory: an event fetches from memory; before 3.14 from registers alone.
	Memory bool
	// Instances: uprobe events are recorded in instances; before 3.14 they can be enabled
	// there, and their buffers stay empty: only the top level's is filled.
	Instances bool
	// ExactHits: uprobe_profile counts every hit. Before 6.12 a probe has one counter, and
	// hits of two CPUs at once may count as one (commit 10cdb82aa77f, "uprobes: turn
	// trace_uprobe's nhit counter to be per-CPU one"): it says how many hits there were
	// at least.
	ExactHits bool
}

// Features is what the kernel has by its release alone, for who plans on another machine. What is
// asked of later versions is not told. One whose release can't be read has all.
func (m Machine) Features() Features {
	from := func(major, minor int) bool { return !m.Older(major, minor) }
	return Features{
		Append: from(5, 4), PushEmulated: from(5, 4), Arrays: from(4, 20), RecordTGID: from(4, 14),
		EventFork: from(4, 9), EventPID: from(4, 4), Memory: from(3, 14), Instances: from(3, 14),
		ExactHits: from(6, 12),
	}
}

// FeaturesOf is what a release of Linux, as in "5.10.0-28-amd64", has.
func FeaturesOf(release string) (Features, error) {
	if _, _, ok := version(release); !ok {
		return Features{}, fmt.Errorf("parse kernel release %q: no version like 5.10", release)
	}
	return Machine{Release: release}.Features(), nil
}
