package tracefs

import (
	"fmt"
	"strings"
)

// Features are the optional features of tracefs, which old kernels lack. A field is true if a session may use the
// feature.
type Features struct {
	// Append means that a second definition of an event adds a site. Before 5.4, the second definition silently
	// replaces the first.
	Append bool
	// PushEmulated means that the kernel emulates a probed push of a register instead of single-stepping it
	// (x86: arch/x86/kernel/uprobes.c, push_setup_xol_ops). Sessions rely on the emulation from 5.4 on. It was
	// not tested on older kernels.
	PushEmulated bool
	// Arrays means that events fetch memory as TYPE[N] (since 4.20).
	Arrays bool
	// RecordTGID means that the option record-tgid of tracefs exists (since 4.14). With the option, each line of
	// trace_pipe contains the process of the thread that hit the probe.
	RecordTGID bool
	// EventFork means that the option event-fork of tracefs exists (since 4.9). With the option, the kernel adds to
	// set_event_pid the threads and processes that the threads in it start.
	EventFork bool
	// EventPID means that the file set_event_pid of tracefs exists (since 4.4).
	EventPID bool
	// Memory means that events fetch memory. Before 3.14, events fetch registers only.
	Memory bool
	// Instances means that instances record uprobe events. Before 3.14 an event can be enabled in an instance,
	// but only the top level's buffer is filled.
	Instances bool
	// ExactHits means that uprobe_profile counts every hit. Before 6.12 a probe has one counter for all CPUs,
	// and simultaneous hits of two CPUs may count as one (commit 10cdb82aa77f, "uprobes: turn trace_uprobe's
	// nhit counter to be per-CPU one"). The count of such a probe is a lower bound.
	ExactHits bool
}

// Features finds the kernel's abilities by its files, by the text of README, and, for fetching from memory before 3.14, by a trial.
func (f *FS) Features() Features {
	readme, _ := f.files.Read(f.path("README"))
	// kernel/trace/trace.c since 5.4: "Create/append/remove/show"; before:
	// "Add/remove/show", or no README at all (3.10, 4.4).
	_, after, _ := strings.Cut(string(readme), "uprobe_events")
	line, _, _ := strings.Cut(after, "\n")
	appends := strings.Contains(line, "append")
	// No file shows whether instances record hits. Recording in them came with 3.14 (kernel/trace/trace_uprobe.c),
	// as did event triggers. Later kernels may hide the event sched_switch from us, but have set_event_pid.
	since314 := f.exists("set_event_pid") || f.exists("events", "sched", "sched_switch", "trigger")
	return Features{
		Append: appends,
		// No file shows whether the kernel emulates pushes. All tested kernels that append also emulate them.
		PushEmulated: appends,
		Arrays:       strings.Contains(string(readme), "<array-size>"),
		RecordTGID:   f.exists("options", "record-tgid"),
		EventFork:    f.exists("options", "event-fork"),
		EventPID:     f.exists("set_event_pid"),
		Memory:       since314 || f.fetchesMemory(),
		Instances:    since314,
		ExactHits:    ThisMachine().Features().ExactHits, // no file shows this
	}
}

// fetchesMemory reports whether the kernel accepts an event that fetches from memory, as RHEL 7's 3.10 does although it
// has no other ability of 3.14. It tries once. It never enables the event, and removes it.
func (f *FS) fetchesMemory() bool {
	f.trial.Do(func() {
		o, err := newOwner()
		if err == nil {
			err = f.files.Append(f.path("uprobe_events"), fmt.Sprintf("p:%s/trial /proc/self/exe:0x0 v=+0(%%sp):u64\n", o))
		}
		f.memory = err == nil && f.removeGroup(o.String()) == nil
	})
	return f.memory
}

// Features returns the features that a kernel of m.Release has. It decides by the release alone, without asking the
// kernel, so that a plan for another machine can be made here. It returns all features if the release can't be parsed.
func (m Machine) Features() Features {
	from := func(major, minor int) bool { return !m.Older(major, minor) }
	return Features{
		Append: from(5, 4), PushEmulated: from(5, 4), Arrays: from(4, 20), RecordTGID: from(4, 14),
		EventFork: from(4, 9), EventPID: from(4, 4), Memory: from(3, 14), Instances: from(3, 14),
		ExactHits: from(6, 12),
	}
}

// FeaturesOf returns the features of a Linux release such as "5.10.0-28-amd64".
func FeaturesOf(release string) (Features, error) {
	if _, _, ok := version(release); !ok {
		return Features{}, fmt.Errorf("parse kernel release %q: no version like 5.10", release)
	}
	return Machine{Release: release}.Features(), nil
}
