package tracefs

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/procfs"
)

// Leftover describes the remains of a session whose process has ended.
type Leftover struct {
	Name     string // the name of the session's group and instance
	PID      int    // the process that started the session
	Events   int    // the number of the session's probe events
	instance bool   // the session's instance exists
}

// Leftovers returns the remains of sessions whose processes have ended. It never includes sessions of living processes,
// or anything that this package has not made.
func (f *FS) Leftovers() ([]Leftover, error) {
	instances, err := f.files.List(f.path("instances"))
	if err != nil && !isNotExist(err) {
		return nil, err
	}
	groups, err := f.files.List(f.path("events"))
	if err != nil && !isNotExist(err) {
		return nil, err
	}
	var all []Leftover
	names := slices.Sorted(slices.Values(slices.Concat(instances, groups)))
	for _, name := range slices.Compact(names) {
		o, ok := parseOwner(name)
		if !ok || o.alive() {
			continue
		}
		events, err := f.groupEvents(name)
		if err != nil {
			return nil, err
		}
		all = append(all, Leftover{name, o.PID, len(events), slices.Contains(instances, name)})
	}
	return all, nil
}

// Sweep removes leftovers, and returns the removed ones. Of a leftover whose instance is busy, it removes the probes, and
// leaves the disabled instance for [FS.RemoveHeld].
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

// sweep removes a leftover. held is true if the disabled instance stays, because it is busy.
func (f *FS) sweep(l Leftover) (held bool, err error) {
	if f.exists("events", l.Name, rcuExpedited) {
		return false, f.unsetExpedited(l.Name)
	}
	if l.Events >= minExpedited {
		defer f.ExpediteGracePeriods()()
	}
	if l.instance {
		if held, err = f.removeInstance(l.Name); err != nil {
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

// Neighbour returns another process with a session that probes the same file, or 0. Each hit in that file runs the probes of
// both sessions. Processes in other pid namespaces are left out.
func (s *Session) Neighbour() (pid int) {
	looked := make(map[owner]bool)
	for d := range s.foreign() { // an unreadable file counts as empty
		if d.owner.PID == 0 || looked[d.owner] || d.owner.PID == os.Getpid() || d.owner.Namespace != procfs.PIDNamespace() {
			continue
		}
		looked[d.owner] = true // all events of a session are of one file
		if procfs.SameFile(d.path, s.target.Path) {
			return d.owner.PID
		}
	}
	return 0
}

// definition is a line of uprobe_events.
type definition struct {
	event  string // GROUP/EVENT
	owner  owner  // of the group; zero if this package has not made it
	path   string // the path of the file for this process, "" if it is not known
	offset uint64
}

// foreign yields the probes that other groups define. The error comes last.
func (s *Session) foreign() iter.Seq2[definition, error] {
	return func(yield func(definition, error) bool) {
		b, err := s.fs.files.Read(s.fs.path("uprobe_events"))
		for line := range strings.Lines(string(b)) {
			// The line is "p:GROUP/EVENT PATH:0xOFFSET VALUE...", and "r:..." for a return probe. The path has no blank.
			// "(0xREFCTR)" may follow the offset.
			d := definition{event: eventOf(line)}
			group, _, _ := strings.Cut(d.event, "/")
			_, place, _ := strings.Cut(line, " ")
			place, _, _ = strings.Cut(strings.TrimSpace(place), " ")
			at := strings.LastIndex(place, ":0x")
			if group == s.Name || at < 0 {
				continue
			}
			offset, _, _ := strings.Cut(place[at+len(":0x"):], "(")
			d.offset, _ = strconv.ParseUint(offset, 16, 64)
			if o, ok := parseOwner(group); ok {
				d.owner = o
			}
			if d.path = place[:at]; strings.HasPrefix(d.path, "/proc/self/") {
				d.path = ""
				if pid := d.owner.PID; pid != 0 && d.owner.Namespace == procfs.PIDNamespace() {
					d.path = procfs.SelfPath(pid, strings.TrimPrefix(place[:at], "/proc/self/"))
				}
			}
			if !yield(d, nil) {
				return
			}
		}
		if err != nil {
			yield(definition{}, err)
		}
	}
}
