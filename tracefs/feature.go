package tracefs

import (
	"fmt"
	"strings"

	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/internal/owner"
)

// Features is what this kernel's uprobe_events can do, as far as it matters here.
type Features = machine.Features

// Features asks the kernel. What can be tried without leaving a trace is tried; the rest is
// told by the files that are there, and by the README that tracefs carries.
func (f *FS) Features() Features {
	readme, _ := f.tree.Read(f.tree.Path("README"))
	appends := false
	for line := range strings.Lines(string(readme)) {
		// kernel/trace/trace.c since 5.4: "Create/append/remove/show"; before:
		// "Add/remove/show", or no README at all (3.10, 4.4).
		if strings.Contains(line, "uprobe_events") {
			appends = strings.Contains(line, "append")
			break
		}
	}
	// Event triggers came with 3.14, as did recording in instances, of which nothing else
	// tells but a hit (kernel/trace/trace_uprobe.c; later kernels may have no event
	// sched_switch for us to see, but have set_event_pid).
	since314 := f.tree.Exists("set_event_pid") || f.tree.Exists("events", "sched", "sched_switch", "trigger")
	return Features{
		Append: appends,
		// Nothing tells of it, but it came with the same versions.
		PushEmulated: appends,
		Arrays:       strings.Contains(string(readme), "<array-size>"),
		RecordTGID:   f.tree.Exists("options", "record-tgid"),
		EventFork:    f.tree.Exists("options", "event-fork"),
		EventPID:     f.tree.Exists("set_event_pid"),
		Memory:       appends || f.fetchesMemory(since314),
		Instances:    since314,
		ExactHits:    machine.This().Features().ExactHits, // nothing tells of it
	}
}

// fetchesMemory tries it, once: RHEL 7's 3.10 fetches from memory, and has nothing else of 3.14.
// Who may not define events is told what is likely.
func (f *FS) fetchesMemory(likely bool) bool {
	f.memory.Do(func() {
		f.memory.fetched = f.takes("+0(%sp):u64")
		f.memory.known = f.memory.fetched || f.takes("%sp:u64")
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
	err = f.tree.Append(f.tree.Path("uprobe_events"), fmt.Sprintf("p:%s/trial /proc/self/exe:0x0 v=%s\n", who, fetch))
	return err == nil && f.tree.RemoveGroup(who.String()) == nil
}
