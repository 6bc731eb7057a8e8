package tracefs

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Instances are busy while somebody has a file of theirs open. Those of others may be in use by a
// process that can't be seen; our own are for a moment, which is long where 100 processes want the CPU.
const (
	patienceWithOwn    = 5 * time.Second
	patienceWithOthers = time.Second
	// looksLater is when to look who keeps one busy, which may be over in a moment.
	looksLater = 16 * time.Millisecond
)

// removeInstance removes an instance, and with it whatever is still enabled in it. There is no
// waiting for pipes elsewhere, which is a heldError.
func (f *FS) removeInstance(name string, patience time.Duration) error {
	until := time.Now().Add(patience)
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		err := f.files.Rmdir(f.path("instances", name))
		switch {
		case err == nil || isGone(err):
			return nil
		case !isBusy(err) || time.Now().After(until):
			return fmt.Errorf("remove instance: %w", err)
		case wait > looksLater && f.heldFromElsewhere(name):
			return heldError{fmt.Errorf("remove instance: %w", err)}
		}
		time.Sleep(wait)
	}
}

// removeGroup deletes all events of a group, once it is proven that none is on.
func (f *FS) removeGroup(group string) error {
	if err := f.mustBeOff(group); err != nil {
		return err
	}
	tell := f.telling("events removed")
	events, err := f.groupEvents(group)
	for i, ev := range events {
		tell(i, len(events))
		// Two sweepers may meet over one leftover: the second is refused, and nothing is wrong.
		refused := f.files.Append(f.path("uprobe_events"), "-:"+ev+"\n")
		if refused != nil && err == nil && f.exists("events", ev) {
			err = fmt.Errorf("remove probe event %s: %w", ev, refused)
		}
	}
	return err
}

// mustBeOff fails unless the group is disabled at the top level and in every instance.
//
// Deleting an event of several sites while it is enabled anywhere frees the sites
// but leaves their breakpoints in place, and the next hit of one crashes the
// kernel; the EBUSY that the write returns comes too late (seen on 5.4 to 7.2).
// So nothing is deleted before this has been read back.
//
// What others have may go while it is looked at, and then it is looked at again.
func (f *FS) mustBeOff(group string) (err error) {
	for try := range 60 {
		var passing bool
		if passing, err = f.isOff(group); !passing {
			break
		}
		time.Sleep(time.Duration(try) * 100 * time.Microsecond)
	}
	return err
}

// isOff is one look of mustBeOff; passing means that something was seen on its way out.
func (f *FS) isOff(group string) (passing bool, err error) {
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
			// An instance may have gone since the listing, and groups without events have no directory.
		case err != nil:
			return isGone(err), fmt.Errorf("read %s: %w", file, err)
		case now != "0":
			// "?" is a group whose last event is just being removed.
			return now == "?", fmt.Errorf("remove probes of %s: %s reads %q: enabled, not touched", group, file, now)
		}
	}
	return false, nil
}

// groupEvents lists the events of a group, "GROUP/EVENT" each, by its directory: uprobe_events, which is
// read page by page, leaves a part out when somebody removes a probe in between.
func (f *FS) groupEvents(group string) (events []string, err error) {
	names, err := f.files.List(f.path("events", group))
	// A directory of events that is removed while it is read is an invalid argument, which one that
	// stays must not be taken for (fs/tracefs/event_inode.c, eventfs_iterate, since Linux 6.6).
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
		if n != "enable" && n != "filter" { // files of the group; our events have longer names
			events = append(events, group+"/"+n)
		}
	}
	return events, nil
}

// Up to Linux 5.4.0 one open trace_pipe, be it of the top level or of an instance, keeps every
// instance from being removed: the kernel counts it on the tracer, which instances share
// (kernel/trace/trace.c: tracing_open_pipe adds to current_trace->ref, instance_rmdir asks for it).
// So nothing may depend on that: an instance that is held is emptied, and removed later.

// heldFromElsewhere tells whether an instance that is busy is so for a pipe that is not its own.
func (f *FS) heldFromElsewhere(instance string) bool {
	if f.pipes.Load() > 0 { // of another session of this process
		return true
	}
	readers := f.files.PipeReaders()
	return len(readers) > 0 && !slices.ContainsFunc(readers, func(r pipeReader) bool {
		return strings.Contains(r.Path, "/instances/"+instance+"/")
	})
}

// heldError is an instance that can't be removed while others read their pipes.
type heldError struct{ error }

func (e heldError) Unwrap() error { return e.error }

// empty takes out of an instance what it is made of, since it can't be removed: its events are
// off, and its buffers small. RemoveHeld tries again.
func (f *FS) empty(instance string) error {
	for _, set := range [][2]string{{"events/enable", "0"}, {"buffer_size_kb", "1"}} {
		if err := f.files.Write(f.path("instances", instance, set[0]), set[1]); err != nil && !isGone(err) {
			return err
		}
	}
	held.Lock()
	defer held.Unlock()
	held.instances[f.dir] = append(held.instances[f.dir], instance)
	return nil
}

// held are instances, by the tracefs that they are in, that this process could not remove yet.
var held = struct {
	sync.Mutex
	instances map[string][]string
}{instances: make(map[string][]string)}

// RemoveHeld removes the instances that Close and Sweep had to leave for an open trace_pipe. Where it
// is another session's of this process, call it again after that. It is an error that others keep
// some, which are for [FS.Sweep] when this process has ended.
func (f *FS) RemoveHeld() error {
	held.Lock()
	defer held.Unlock()
	left := slices.DeleteFunc(held.instances[f.dir], func(instance string) bool {
		return f.removeInstance(instance, patienceWithOthers) == nil
	})
	held.instances[f.dir] = left
	readers := f.files.PipeReaders()
	others := slices.DeleteFunc(slices.Clone(readers), func(r pipeReader) bool { return r.PID == os.Getpid() })
	if len(left) == 0 || len(readers) > 0 && len(others) == 0 {
		return nil
	}
	text := "instance " + left[0] + " stays, with nothing on in it, until "
	if n := len(left); n > 1 {
		text = fmt.Sprintf("%d instances, %s among them, stay, with nothing on in them, until ", n, left[0])
	}
	switch n := len(others); n {
	case 0:
		return errors.New(text + "nobody has a file of tracefs open")
	case 1:
		return errors.New(text + others[0].String())
	default:
		return fmt.Errorf("%s%v, and %d more close theirs", text, others[0], n-1)
	}
}
