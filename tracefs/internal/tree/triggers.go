package tree

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/histtext"
)

// triggered is a trigger that is set.
type triggered struct{ file, line string }

// sessionTriggers lists the triggers of a session's events in its instance.
func (t *Tree) sessionTriggers(session string) (set []triggered, err error) {
	if !t.Exists("instances", session) {
		return nil, nil
	}
	events, err := t.Events(session)
	if err != nil {
		return nil, err
	}
	for _, ev := range append(events, "synthetic/"+session) {
		file := t.Path("instances", session, "events", ev, "trigger")
		text, err := t.Read(file)
		if err != nil && !IsGone(err) { // the event is not there, or kernels without triggers
			return nil, err
		}
		for _, line := range histtext.Set(string(text)) {
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
		refusal := fmt.Errorf("remove trigger %q of %s: it stays", set[0].line, set[0].file)
		for _, one := range set {
			if err := t.Write(one.file, "!"+one.line); err != nil {
				refusal = fmt.Errorf("remove trigger %q of %s: %w", one.line, one.file, err)
			}
		}
		before := len(set)
		if set, err = t.sessionTriggers(session); err == nil && len(set) >= before {
			return refusal
		}
	}
	return err
}

// Synthetics lists the names of synthetic events.
func (t *Tree) Synthetics() ([]string, error) {
	b, err := t.Read(t.Path("synthetic_events"))
	if IsNotExist(err) {
		err = nil
	}
	return histtext.Synthetics(string(b)), err
}

// RemoveSynthetic removes a synthetic event, if it is there.
func (t *Tree) RemoveSynthetic(name string) error {
	names, err := t.Synthetics()
	if err != nil || !slices.Contains(names, name) {
		return err
	}
	if err = t.Append(t.Path("synthetic_events"), "!"+name+"\n"); err == nil {
		return nil
	}
	// Another sweeper may have been faster.
	if names, rerr := t.Synthetics(); rerr != nil || slices.Contains(names, name) {
		return fmt.Errorf("remove synthetic event %s: %w", name, err)
	}
	return nil
}

// SweepTriggers is RemoveTriggers for an instance whose owner is no more, as far as that can
// be seen: whoever holds its pipe open still uses it (which kernels before 6.1 do not tell).
//
// The pipe is held open here, too, as long as triggers are read: that keeps the instance. To
// read a trigger file while somebody else removes it crashes Linux 6.1.192 (trigger_start in
// kernel/trace/trace_events_trigger.c follows the freed event).
func (t *Tree) SweepTriggers(session string) error {
	for until := time.Now().Add(PatienceWithOthers); ; time.Sleep(10 * time.Millisecond) {
		fd, err := t.Pipe(t.Path("instances", session, "trace_pipe"))
		switch {
		case err == nil:
			return errors.Join(t.RemoveTriggers(session), unix.Close(fd))
		case IsGone(err):
			return nil // another sweeper was faster
		case !IsBusy(err) || time.Now().After(until):
			return err
		}
	}
}
