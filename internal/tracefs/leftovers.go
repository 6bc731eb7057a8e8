package tracefs

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Leftover is what a session of a process that is no more has left in the kernel.
type Leftover struct {
	Name     string // the session's group and instance
	PID      int    // the process that made it
	Events   int    // its probe events
	instance bool   // its instance is there
}

// Leftovers finds what killed runs have left. Sessions of processes that live, and
// everything that was not made by this package, are never among them.
func (f *FS) Leftovers() ([]Leftover, error) {
	// Each name is looked at once: an owner that dies in between would seem to have left its probes
	// and no instance. It has nil if that lives.
	found := make(map[string]*Leftover)
	for _, kind := range []string{"instances", "events"} {
		names, err := f.files.List(f.path(kind))
		if err != nil && !isNotExist(err) {
			return nil, err
		}
		for _, name := range names {
			l, known := found[name]
			if o, ok := parseOwner(name); !known && ok && !o.alive() {
				l = &Leftover{Name: name, PID: o.PID}
			}
			switch found[name] = l; {
			case l == nil:
			case kind == "instances":
				l.instance = true
			case kind == "events":
				events, err := f.groupEvents(name)
				if err != nil {
					return nil, err
				}
				l.Events = len(events)
			}
		}
	}
	var all []Leftover
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if l := found[name]; l != nil {
			all = append(all, *l)
		}
	}
	return all, nil
}

// Sweep removes leftovers and returns those that are gone. One in use, as where its owner lives in
// another pid namespace and holds its pipe open, stays whole. Of one that a pipe of others holds the
// probes go, and the instance is left empty for [FS.RemoveHeld].
func (f *FS) Sweep() (gone []Leftover, err error) {
	all, err := f.Leftovers()
	if err != nil {
		return nil, err
	}
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
	if l.Events >= leastHurry {
		defer f.Hurry()()
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
