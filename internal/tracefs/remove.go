package tracefs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// busyTimeout is how long an instance may stay busy, because a process has one of its files open. The instance of a session
// is busy for a moment after the session has closed its files, which is long if 100 processes compete for CPUs.
const busyTimeout = time.Second

// rmdir removes an instance, with all events that are enabled in it. While the instance is busy, it tries again until
// busyTimeout has passed. It gives up soon if another session of this process keeps the instance busy.
func (f *FS) rmdir(instance string) error {
	until := time.Now().Add(busyTimeout)
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		err := f.files.Rmdir(f.path("instances", instance))
		switch {
		case err == nil || isGone(err):
			return nil
		case !isBusy(err) || time.Now().After(until) || wait > 16*time.Millisecond && f.pipes.Load() > 0:
			return fmt.Errorf("remove instance: %w", err)
		}
		time.Sleep(wait)
	}
}

// removeGroup deletes all events of a group, after checkDisabled.
func (f *FS) removeGroup(group string) error {
	if err := f.checkDisabled(group); err != nil {
		return err
	}
	events, err := f.groupEvents(group)
	for _, ev := range events {
		// Two sweepers may remove the same leftover. An error is ignored if the event no longer exists.
		refused := f.files.Append(f.path("uprobe_events"), "-:"+ev+"\n")
		if refused != nil && err == nil && f.exists("events", ev) {
			err = fmt.Errorf("remove probe event %s: %w", ev, refused)
		}
	}
	return err
}

// removeEvent deletes an event GROUP/EVENT, after checkDisabled.
func (f *FS) removeEvent(event string) error {
	err := f.checkDisabled(event)
	if err == nil {
		err = f.files.Append(f.path("uprobe_events"), "-:"+event+"\n")
	}
	return err
}

// checkDisabled returns an error unless the events of a group, or one event GROUP/EVENT, are disabled at the top level and in
// every instance.
//
// DANGER: deleting an event of several sites ("-:") while it is enabled anywhere crashes the kernel. The kernel frees
// all sites but the last without removing their breakpoints, because unregister_trace_uprobe in
// kernel/trace/trace_uprobe.c skips the check for a busy event while the event has other sites (since Linux 5.4). The
// EBUSY that the write then returns comes too late: the next hit of a freed site is a use after free in
// uprobe_dispatcher (seen on 5.4, 5.10, 6.1, 6.12 and 7.2). So no event is deleted before all its enable files have
// been read. EBUSY must never be the guard.
//
// Instances and groups of other processes may disappear during the check. Then it is repeated.
func (f *FS) checkDisabled(group string) (err error) {
	for try := range 60 {
		var removing bool
		if removing, err = f.readDisabled(group); !removing {
			break
		}
		time.Sleep(time.Duration(try) * 100 * time.Microsecond)
	}
	return err
}

// readDisabled is one try of checkDisabled. removing is true if another process was removing a group or instance.
//
// DANGER: it reads enable, and must not read trigger: that can crash the kernel while the instance is being removed
// (seen on 6.1.192, a page fault in trigger_start of kernel/trace/trace_events_trigger.c).
func (f *FS) readDisabled(group string) (removing bool, err error) {
	names, err := f.files.List(f.path("instances"))
	if err != nil && f.exists("instances") {
		return false, fmt.Errorf("list instances: %w", err)
	}
	dirs := []string{""}
	for _, n := range names {
		dirs = append(dirs, "instances/"+n)
	}
	for _, dir := range dirs {
		file := f.path(dir, "events", group, "enable")
		now, err := f.readTrimmed(dir, "events", group, "enable")
		switch {
		case isNotExist(err):
			// The instance was removed after the listing, or the group has no events.
		case err != nil:
			return isGone(err), fmt.Errorf("read %s: %w", file, err)
		case now != "0":
			// "?" means that the last event of the group is being removed.
			return now == "?", fmt.Errorf("remove probes of %s: %s reads %q: enabled, not touched", group, file, now)
		}
	}
	return false, nil
}

// groupEvents returns the events of a group, as "GROUP/EVENT". It lists the group's directory, because uprobe_events is
// read page by page and skips an event if another process removes a probe in between.
func (f *FS) groupEvents(group string) (events []string, err error) {
	names, err := f.files.List(f.path("events", group))
	// Listing a directory of events while it is removed fails with EINVAL (fs/tracefs/event_inode.c,
	// eventfs_iterate, since Linux 6.6). If the directory still exists, the error has another cause: try again.
	for try := 0; errors.Is(err, unix.EINVAL) && f.exists("events", group) && try < 20; try++ {
		time.Sleep(time.Millisecond)
		names, err = f.files.List(f.path("events", group))
	}
	if isGone(err) || errors.Is(err, unix.EINVAL) && !f.exists("events", group) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if n != "enable" && n != "filter" { // files of the group; events of this package have longer names
			events = append(events, group+"/"+n)
		}
	}
	return events, nil
}

// removeInstance removes an instance. If the instance stays busy, it disables all events of the instance, shrinks its
// buffers, leaves the rest to RemoveHeld, and returns held = true.
//
// From Linux 4.4 to 5.4.0, one open trace_pipe, of any instance or of the top level, keeps every instance from being
// removed: the kernel counts the pipe at the tracer, which all instances share (kernel/trace/trace.c: tracing_open_pipe
// increments current_trace->ref, and instance_rmdir fails if it is not 0). Other versions count per instance. So
// sessions close their own pipe before the rmdir.
func (f *FS) removeInstance(instance string) (held bool, err error) {
	if err := f.rmdir(instance); !isBusy(err) {
		return false, err
	}
	for _, set := range []setting{{"events/enable", "0"}, {"buffer_size_kb", "1"}} {
		if err := f.files.Write(f.path("instances", instance, set.file), set.value); err != nil && !isGone(err) {
			return true, err
		}
	}
	heldInstances.Lock()
	defer heldInstances.Unlock()
	heldInstances.instances[f.dir] = append(heldInstances.instances[f.dir], instance)
	return true, nil
}

// heldInstances are the instances that this process could not remove yet, by the directory of their tracefs.
var heldInstances = struct {
	sync.Mutex
	instances map[string][]string
}{instances: make(map[string][]string)}

// RemoveHeld removes the instances that Close and Sweep had to leave because of an open trace_pipe. If the pipe belongs
// to another session of this process, call RemoveHeld again after that session's Close. It returns an error if other
// processes keep instances busy; [FS.Sweep] removes these after this process has ended.
func (f *FS) RemoveHeld() error {
	heldInstances.Lock()
	defer heldInstances.Unlock()
	left := slices.DeleteFunc(heldInstances.instances[f.dir], func(instance string) bool {
		return f.rmdir(instance) == nil
	})
	heldInstances.instances[f.dir] = left
	if len(left) == 0 || f.pipes.Load() > 0 {
		return nil
	}
	return fmt.Errorf("instances %s stay, with nothing on in them, until no process has a trace_pipe open", strings.Join(left, ", "))
}
