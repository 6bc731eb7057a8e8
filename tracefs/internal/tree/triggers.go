package tree

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/tracefs/internal/files"
	"github.com/ftgo/ftgo/tracefs/internal/histtext"
)

// triggered is a trigger that is set.
type triggered struct{ file, line string }

// sessionTriggers lists the triggers of a session's events in its instance.
func (t *Tree) sessionTriggers(session string) ([]triggered, error) {
	if !t.Exists("instances", session) {
		return nil, nil
	}
	events, err := t.Events(session)
	if err != nil {
		return nil, err
	}
	var set []triggered
	for _, ev := range append(events, "synthetic/"+session) {
		file := t.Path("instances", session, "events", ev, "trigger")
		lines, err := t.triggers(file)
		if err != nil {
			return nil, err
		}
		for _, line := range lines {
			set = append(set, triggered{file, line})
		}
	}
	return set, nil
}

// RemoveTriggers removes the triggers of a session's events in its instance. While one is
// set, its event is armed: nothing may be deleted.
//
// A trigger whose variables another one uses can't go before that one (EBUSY), and another
// process may remove the same (ENOENT): what is refused is tried again as long as there
// are fewer each time.
func (t *Tree) RemoveTriggers(session string) error {
	set, err := t.sessionTriggers(session)
	for err == nil && len(set) > 0 {
		var refusal error
		for _, one := range set {
			if err := t.Ops.Write(one.file, "!"+one.line); err != nil {
				refusal = fmt.Errorf("remove trigger %q of %s: %w", one.line, one.file, err)
			}
		}
		before := len(set)
		set, err = t.sessionTriggers(session)
		if err == nil && len(set) >= before {
			if refusal == nil {
				refusal = fmt.Errorf("remove trigger %q of %s: it stays", set[0].line, set[0].file)
			}
			return refusal
		}
	}
	return err
}

// triggers lists what is set in a trigger file.
func (t *Tree) triggers(file string) ([]string, error) {
	b, err := t.Ops.Read(file)
	if files.IsGone(err) {
		return nil, nil // the event is not there, or kernels without triggers
	}
	if err != nil {
		return nil, files.Refused("read", file, err)
	}
	return histtext.Set(string(b)), nil
}

// Synthetics lists the names of synthetic events.
func (t *Tree) Synthetics() ([]string, error) {
	b, err := t.Ops.Read(t.Path("synthetic_events"))
	if files.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, files.Refused("read", t.Path("synthetic_events"), err)
	}
	return histtext.Synthetics(string(b)), nil
}

// RemoveSynthetic removes a synthetic event, if it is there.
func (t *Tree) RemoveSynthetic(name string) error {
	names, err := t.Synthetics()
	if err != nil || !slices.Contains(names, name) {
		return err
	}
	err = t.Ops.Append(t.Path("synthetic_events"), "!"+name+"\n")
	if err == nil {
		return nil
	}
	// Another sweeper may have been faster.
	if names, rerr := t.Synthetics(); rerr != nil || slices.Contains(names, name) {
		return fmt.Errorf("remove synthetic event %s: %w", name, err)
	}
	return nil
}

// SweepTriggers is removeTriggers for an instance whose owner is no more, as far as that can
// be seen: whoever holds its pipe open still uses it (which kernels before 6.1 do not tell).
//
// The pipe is held open here, too, as long as triggers are read: that keeps the instance. To
// read a trigger file while somebody else removes it crashes Linux 6.1.192 (trigger_start in
// kernel/trace/trace_events_trigger.c follows the freed event).
func (t *Tree) SweepTriggers(session string) error {
	file := t.Path("instances", session, "trace_pipe")
	for until := time.Now().Add(PatienceWithOthers); ; time.Sleep(10 * time.Millisecond) {
		fd, err := t.Ops.Pipe(file)
		switch {
		case err == nil:
			err = t.RemoveTriggers(session)
			if cerr := unix.Close(fd); cerr != nil {
				err = errors.Join(err, files.Refused("close", file, cerr))
			}
			return err
		case files.IsGone(err):
			return nil // another sweeper was faster
		case !files.IsBusy(err) || time.Now().After(until):
			return files.Refused("open", file, err)
		}
	}
}
