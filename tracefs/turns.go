package tracefs

import "path/filepath"

// turns lets one process at a time do what can lock two that trace at once for good, and
// everybody else out of tracing until the machine is started anew.
//
// From Linux 4.13 to 5.4.6, and for longer in kernels made of these, options/record-tgid is written
// under trace_types_lock and then event_mutex, while instances and events come and go under
// event_mutex and then trace_types_lock; some have both the other way round (kernel/trace/trace.c,
// trace_options_core_write, and trace_events.c, trace_event_enable_tgid_record and
// trace_add_event_call; commit 3a53acf1d9be, "tracing: Fix lock inversion in
// trace_event_enable_tgid_record()"). Four runs that start at once are enough on RHEL 8's 4.18.
// What is not ftgo takes no turns, but each of these takes a moment only.
type turns struct {
	files
	dir string // what is locked
}

// inTurns are the files of a tracefs, in turns where the running kernel needs that.
func inTurns(dir string) files {
	if KernelOlder(5, 5) {
		return turns{osFiles{}, filepath.Join(dir, "instances")}
	}
	return osFiles{}
}

func (t turns) Write(path, text string) error {
	if filepath.Base(path) == "record-tgid" {
		defer lock(t.dir)()
	}
	return t.files.Write(path, text)
}

func (t turns) Append(path, text string) error {
	defer lock(t.dir)()
	return t.files.Append(path, text)
}

func (t turns) Mkdir(path string) error {
	defer lock(t.dir)()
	return t.files.Mkdir(path)
}

func (t turns) Rmdir(path string) error {
	defer lock(t.dir)()
	return t.files.Rmdir(path)
}
