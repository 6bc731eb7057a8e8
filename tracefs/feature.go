package tracefs

import (
	"strings"
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
}

// Features asks the kernel. What can be tried without leaving a trace is tried by
// looking for the file; the rest is told by the README that tracefs carries.
func (f *FS) Features() Features {
	readme, _ := f.ops.Read(f.path("README"))
	appends := strings.Contains(lineWith(string(readme), "uprobe_events"), "append")
	return Features{
		// kernel/trace/trace.c since 5.4: "Create/append/remove/show"; before:
		// "Add/remove/show", or no README at all (3.10, 4.4).
		Append: appends,
		// Nothing tells of it, but it came with the same versions.
		PushEmulated: appends,
		Arrays:       strings.Contains(string(readme), "<array-size>"),
		RecordTGID:   f.exists("options", "record-tgid"),
		EventFork:    f.exists("options", "event-fork"),
		EventPID:     f.exists("set_event_pid"),
	}
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
