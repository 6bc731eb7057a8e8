package tracefs

import (
	"fmt"
	"strings"

	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/internal/owner"
)

// Features is what this kernel's uprobe_events can do, as far as it matters here.
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

// Modern is what a modern kernel can do, for who plans without one, or for one that is not known.
var Modern = Features{
	Append: true, PushEmulated: true, Arrays: true, RecordTGID: true, EventFork: true, EventPID: true,
	Memory: true, Instances: true, ExactHits: true,
}

// Features asks the kernel. What can be tried without leaving a trace is tried; the rest is
// told by the files that are there, and by the README that tracefs carries.
func (f *FS) Features() Features {
	readme, _ := f.tree.Ops.Read(f.tree.Path("README"))
	appends := strings.Contains(lineWith(string(readme), "uprobe_events"), "append")
	// Event triggers came with 3.14, as did recording in instances, of which nothing else
	// tells but a hit (kernel/trace/trace_uprobe.c; later kernels may have no event
	// sched_switch for us to see, but have set_event_pid).
	since314 := f.tree.Exists("set_event_pid") || f.tree.Exists("events", "sched", "sched_switch", "trigger")
	return Features{
		// kernel/trace/trace.c since 5.4: "Create/append/remove/show"; before:
		// "Add/remove/show", or no README at all (3.10, 4.4).
		Append: appends,
		// Nothing tells of it, but it came with the same versions.
		PushEmulated: appends,
		Arrays:       strings.Contains(string(readme), "<array-size>"),
		RecordTGID:   f.tree.Exists("options", "record-tgid"),
		EventFork:    f.tree.Exists("options", "event-fork"),
		EventPID:     f.tree.Exists("set_event_pid"),
		Memory:       appends || f.fetchesMemory(since314),
		Instances:    since314,
		ExactHits:    !KernelOlder(6, 12), // nothing tells of it
	}
}

// fetchesMemory tries it, once: RHEL 7's 3.10 fetches from memory, and has nothing else of 3.14.
// Who may not define events is told what is likely.
func (f *FS) fetchesMemory(likely bool) bool {
	f.memory.once.Do(func() {
		switch {
		case f.takes("+0(%sp):u64"):
			f.memory.known, f.memory.fetched = true, true
		case f.takes("%sp:u64"):
			f.memory.known = true
		}
	})
	return f.memory.fetched || !f.memory.known && likely
}

// takes tells whether the kernel takes an event that fetches this. It is taken back, and never
// enabled.
func (f *FS) takes(fetch string) bool {
	who, err := owner.Momentary()
	if err != nil {
		return false
	}
	err = f.tree.Ops.Append(f.tree.Path("uprobe_events"), fmt.Sprintf("p:%s/trial /proc/self/exe:0x0 v=%s\n", who, fetch))
	return err == nil && f.tree.RemoveGroup(who.String()) == nil
}

// lineWith is the first line of text that contains word.
func lineWith(text, word string) string {
	for l := range strings.SplitSeq(text, "\n") {
		if strings.Contains(l, word) {
			return l
		}
	}
	return ""
}

// FeaturesOf is what a release of Linux, as in "5.10.0-28-amd64", has by its version alone,
// for who plans on another machine. What is asked of later versions is not told.
func FeaturesOf(release string) (Features, error) {
	var major, minor int
	if n, _ := fmt.Sscanf(release, "%d.%d", &major, &minor); n != 2 {
		return Features{}, fmt.Errorf("parse kernel release %q: no version like 5.10", release)
	}
	from := func(a, b int) bool { return major > a || major == a && minor >= b }
	return Features{
		Append: from(5, 4), PushEmulated: from(5, 4), Arrays: from(4, 20), RecordTGID: from(4, 14),
		EventFork: from(4, 9), EventPID: from(4, 4), Memory: from(3, 14), Instances: from(3, 14),
		ExactHits: from(6, 12),
	}, nil
}

// KernelOlder tells whether the running kernel is older than a version. One whose
// release can't be read is not.
func KernelOlder(major, minor int) bool { return machine.This().Older(major, minor) }
