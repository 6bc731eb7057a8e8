package machine

import "fmt"

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
