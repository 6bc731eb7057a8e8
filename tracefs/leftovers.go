package tracefs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/tracefs/internal/files"
	"github.com/ftgo/ftgo/tracefs/internal/owner"
)

// groupEvents lists the events of a group, "GROUP/EVENT" each. The directory is asked:
// of uprobe_events, which is read page by page, a part goes unseen when somebody removes a
// probe in between.
func (f *FS) groupEvents(group string) ([]string, error) {
	names, err := f.ops.List(f.path("events", group))
	// A directory of events that is removed while it is read is an invalid argument
	// (fs/tracefs/event_inode.c, eventfs_iterate, since Linux 6.6). One that stays is not
	// to be taken for it.
	for try := 0; errors.Is(err, unix.EINVAL) && f.exists("events", group) && try < 20; try++ {
		time.Sleep(time.Millisecond)
		names, err = f.ops.List(f.path("events", group))
	}
	if files.IsGone(err) || errors.Is(err, unix.EINVAL) && !f.exists("events", group) {
		return nil, nil
	}
	if err != nil {
		return nil, files.Refused("list", f.path("events", group), err)
	}
	var events []string
	for _, n := range names {
		if n != "enable" && n != "filter" { // files of the group; our events have longer names
			events = append(events, group+"/"+n)
		}
	}
	return events, nil
}

// Leftover is what a session of a process that is no more has left in the kernel.
type Leftover struct {
	// Name is the session's group and instance.
	Name string
	// PID is the process that made it.
	PID int
	// Events are its probe events.
	Events   int
	instance bool // its instance is there
}

// Leftovers finds what killed runs have left. Sessions of processes that live, and
// everything that was not made by this package, are never among them.
func (f *FS) Leftovers() ([]Leftover, error) {
	found := make(map[string]*Leftover)
	living := make(map[string]bool)
	// Once for each name: an owner that dies in between would seem to have left its probes
	// and no instance.
	at := func(name string) *Leftover {
		if found[name] != nil || living[name] {
			return found[name]
		}
		o, ok := owner.Parse(name)
		if !ok || o.Alive() {
			living[name] = true
			return nil
		}
		found[name] = &Leftover{Name: name, PID: o.PID}
		return found[name]
	}
	names, err := f.ops.List(f.path("instances"))
	if err != nil && !files.IsNotExist(err) {
		return nil, files.Refused("list", f.path("instances"), err)
	}
	for _, n := range names {
		if l := at(n); l != nil {
			l.instance = true
		}
	}
	groups, err := f.ops.List(f.path("events"))
	if err != nil && !files.IsNotExist(err) {
		return nil, files.Refused("list", f.path("events"), err)
	}
	for _, g := range groups {
		l := at(g)
		if l == nil {
			continue
		}
		events, err := f.groupEvents(g)
		if err != nil {
			return nil, err
		}
		l.Events = len(events)
	}
	synthetics, err := f.synthetics()
	if err != nil {
		return nil, err
	}
	for _, n := range synthetics {
		at(n)
	}
	all := make([]Leftover, 0, len(found))
	for _, l := range found {
		all = append(all, *l)
	}
	slices.SortFunc(all, func(a, b Leftover) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Sweep removes leftovers and returns those that are gone. One that is in use, be it
// that its owner lives in another pid namespace and holds its pipe open, stays
// whole. Of one that a pipe of others holds the probes go, and the instance is left empty for
// [FS.RemoveHeld].
func (f *FS) Sweep() ([]Leftover, error) {
	all, err := f.Leftovers()
	if err != nil {
		return nil, err
	}
	var gone []Leftover
	var errs []error
	for _, l := range all {
		held, err := f.sweep(l)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("remove leftover of process %d: %w", l.PID, err))
		case !held || l.Events > 0:
			gone = append(gone, l)
		}
	}
	return gone, errors.Join(errs...)
}

// sweep removes a leftover, or empties it, where a pipe of others holds it.
func (f *FS) sweep(l Leftover) (held bool, err error) {
	if f.exists("events", l.Name, hurryMark) {
		return false, f.unsetExpedited(l.Name)
	}
	defer f.hurry(l.Events)()
	if l.instance {
		if err := f.sweepTriggers(l.Name); err != nil {
			return false, err
		}
	}
	if err := f.removeSynthetic(l.Name); err != nil {
		return false, err
	}
	if l.instance {
		err := f.removeInstance(l.Name, patienceWithOthers)
		if held = errors.As(err, new(heldError)); held {
			err = f.empty(l.Name)
		}
		if err != nil {
			return held, err
		}
	}
	if !f.Features().Instances {
		if err := f.sweepTopLevel(l.Name); err != nil {
			return false, err
		}
	}
	return held, f.removeGroup(l.Name)
}
