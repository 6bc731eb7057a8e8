package tracefs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// groupEvents lists the events of a group, "GROUP/EVENT" each, in order of
// definition.
func (f *FS) groupEvents(group string) ([]string, error) {
	b, err := f.ops.Read(f.path("uprobe_events"))
	if err != nil {
		return nil, refused("read", f.path("uprobe_events"), err)
	}
	var names []string
	seen := make(map[string]bool)
	for l := range strings.SplitSeq(string(b), "\n") {
		name := eventOf(l)
		if strings.HasPrefix(name, group+"/") && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names, nil
}

// Leftover is what a session of a process that is no more has left in the kernel.
type Leftover struct {
	// Name is the session's group and instance.
	Name string
	// PID is the process that made it.
	PID int
	// Events are its probe events, Instance tells whether its instance is there.
	Events   int
	Instance bool
}

// Leftovers finds what killed runs have left. Sessions of processes that live, and
// everything that was not made by this package, are never among them.
func (f *FS) Leftovers() ([]Leftover, error) {
	found := make(map[string]*Leftover)
	at := func(name string) *Leftover {
		o, ok := parseOwner(name)
		if !ok || o.alive() {
			return nil
		}
		if found[name] == nil {
			found[name] = &Leftover{Name: name, PID: o.pid}
		}
		return found[name]
	}
	names, err := f.ops.List(f.path("instances"))
	if err != nil && !isNotExist(err) {
		return nil, refused("list", f.path("instances"), err)
	}
	for _, n := range names {
		if l := at(n); l != nil {
			l.Instance = true
		}
	}
	b, err := f.ops.Read(f.path("uprobe_events"))
	if err != nil && !isNotExist(err) {
		return nil, refused("read", f.path("uprobe_events"), err)
	}
	seen := make(map[string]bool)
	for line := range strings.SplitSeq(string(b), "\n") {
		name := eventOf(line)
		group, _, ok := strings.Cut(name, "/")
		if !ok || seen[name] {
			continue
		}
		seen[name] = true
		if l := at(group); l != nil {
			l.Events++
		}
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
// whole.
func (f *FS) Sweep() ([]Leftover, error) {
	all, err := f.Leftovers()
	if err != nil {
		return nil, err
	}
	var gone []Leftover
	var errs []error
	for _, l := range all {
		if err := f.sweep(l); err != nil {
			errs = append(errs, fmt.Errorf("remove leftover of process %d: %w", l.PID, err))
			continue
		}
		gone = append(gone, l)
	}
	return gone, errors.Join(errs...)
}

func (f *FS) sweep(l Leftover) error {
	if l.Instance {
		if err := f.removeInstance(l.Name); err != nil {
			return err
		}
	}
	return f.removeGroup(l.Name)
}
