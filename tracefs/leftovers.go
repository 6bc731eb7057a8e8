package tracefs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/owner"
	"github.com/ftgo/ftgo/tracefs/internal/files"
	"github.com/ftgo/ftgo/tracefs/internal/tree"
)

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
	names, err := f.tree.Ops.List(f.tree.Path("instances"))
	if err != nil && !files.IsNotExist(err) {
		return nil, files.Refused("list", f.tree.Path("instances"), err)
	}
	for _, n := range names {
		if l := at(n); l != nil {
			l.instance = true
		}
	}
	groups, err := f.tree.Ops.List(f.tree.Path("events"))
	if err != nil && !files.IsNotExist(err) {
		return nil, files.Refused("list", f.tree.Path("events"), err)
	}
	for _, g := range groups {
		l := at(g)
		if l == nil {
			continue
		}
		events, err := f.tree.Events(g)
		if err != nil {
			return nil, err
		}
		l.Events = len(events)
	}
	synthetics, err := f.tree.Synthetics()
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
	if f.tree.Exists("events", l.Name, hurryMark) {
		return false, f.unsetExpedited(l.Name)
	}
	defer f.hurry(l.Events)()
	if l.instance {
		if err := f.tree.SweepTriggers(l.Name); err != nil {
			return false, err
		}
	}
	if err := f.tree.RemoveSynthetic(l.Name); err != nil {
		return false, err
	}
	if l.instance {
		err := f.tree.RemoveInstance(l.Name, tree.PatienceWithOthers)
		if held = errors.As(err, new(tree.HeldError)); held {
			err = f.tree.Empty(l.Name)
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
	return held, f.tree.RemoveGroup(l.Name)
}

// RemoveHeld removes the instances that Close and Sweep had to leave since somebody's trace_pipe
// was open, be it that of another session of this process, after which it is to be called again.
// It is an error that others keep some, which are for [FS.Sweep] when this process has
// ended.
func (f *FS) RemoveHeld() error { return f.tree.RemoveHeld() }
