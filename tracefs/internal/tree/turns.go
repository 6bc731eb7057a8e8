package tree

import (
	"errors"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/machine"
)

// turns lets one process at a time do what can lock two that trace at once for good, and
// everybody else out of tracing until the machine is started anew.
//
// From Linux 4.15 to 4.19.93 and 5.4.8, and in kernels made of these, RHEL 8's 4.18 among them,
// options/record-tgid is written under trace_types_lock and then event_mutex, while instances and
// probe events come and go, and files of a group of events are opened, under event_mutex and then
// trace_types_lock. From 4.14.163 to 4.14.179 it is the other way round (kernel/trace/trace.c,
// trace_options_core_write, and trace_events.c, trace_event_enable_tgid_record,
// trace_add_event_call and subsystem_open; begun by commit 12ecef0cb121, "tracing: Reverse the
// order of trace_types_lock and event_mutex", ended by 3a53acf1d9be, "tracing: Fix lock inversion
// in trace_event_enable_tgid_record()", of Linux 5.5). Four runs that start at once are enough on
// RHEL 8's 4.18. What is not ftgo takes no turns, but each of these takes a moment only.
type turns struct {
	Ops
	dir string // what is locked
}

// InTurns are the files of a tracefs, in turns where the running kernel needs that.
func InTurns(dir string) Ops {
	if machine.This().Older(5, 5) {
		return turns{OS{}, filepath.Join(dir, "instances")}
	}
	return OS{}
}

// ofGroup tells whether a file is a group's own: its events' are opened under no two locks.
func ofGroup(path string) bool {
	return filepath.Base(filepath.Dir(filepath.Dir(path))) == "events"
}

func (t turns) Read(path string) ([]byte, error) {
	if ofGroup(path) {
		defer Lock(t.dir)()
	}
	return t.Ops.Read(path)
}

func (t turns) Write(path, text string) error {
	if filepath.Base(path) == "record-tgid" || ofGroup(path) {
		defer Lock(t.dir)()
	}
	return t.Ops.Write(path, text)
}

func (t turns) Append(path, text string) error {
	defer Lock(t.dir)()
	return t.Ops.Append(path, text)
}

func (t turns) Mkdir(path string) error {
	defer Lock(t.dir)()
	return t.Ops.Mkdir(path)
}

func (t turns) Rmdir(path string) error {
	defer Lock(t.dir)()
	return t.Ops.Rmdir(path)
}

// Lock keeps others out of what a directory stands for, but waits no more than a second: one who
// holds it may be stopped.
func Lock(dir string) (unlock func()) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return func() {}
	}
	for try := 0; try < 100 && errors.Is(unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK); try++ {
		time.Sleep(10 * time.Millisecond)
	}
	return func() { unix.Close(fd) }
}
