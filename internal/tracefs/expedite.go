package tracefs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// To disarm an event the kernel waits until no CPU can be in its handler any more, a grace
// period, some 16 to 50 ms, for each event alone. With /sys/kernel/rcu_expedited set it
// interrupts all CPUs instead of waiting for them (Documentation/RCU), and is done in a tenth of
// the time or less. That is one switch for the whole machine. So it is set only while many
// events are disarmed, or while some that take too much of a program's time may have to be, and not where the machine's owner has decided
// otherwise: by rcu_normal, which overrides it, or by setting it for good.
//
// Who has set it is marked by an event that is never armed, in a group of a session's name: all
// runs see it, it outlives a run that is killed, and it is swept as all is that such a run
// leaves. While a mark of a living run is there the switch stays on; the last puts it back. What
// several do at once is kept apart by a lock on the directory of tracefs.

const (
	hurryMark  = "rcu_expedited" // the name of the event
	leastHurry = 8               // how many grace periods are worth it: a quarter of a second
)

// hurrying is what this process does about it.
type hurrying struct {
	sync.Mutex
	users int
	mark  string // the group of the mark, "" if the switch is not ours
}

// CanExpedite tells whether events are disarmed in a tenth of the usual time.
func (f *FS) CanExpedite() bool {
	now, err := f.expedited()
	// Nothing is written: it is opened, which a file system that is read-only does not allow.
	return err == nil && (now != "0" || f.Expedite && f.files.Write(f.rcu(hurryMark), "") == nil)
}

func (f *FS) rcu(name string) string { return f.rcuDir + "/" + name }

// expedited reads the switch.
func (f *FS) expedited() (string, error) {
	// rcu_normal came with Linux 4.4, and the other one with 3.6.
	if b, err := f.files.Read(f.rcu("rcu_normal")); err == nil && strings.TrimSpace(string(b)) != "0" {
		return "", errors.New("rcu_normal is set") // the machine's owner wants no expedited ones
	}
	b, err := f.files.Read(f.rcu(hurryMark))
	return strings.TrimSpace(string(b)), err
}

// Hurry makes grace periods short until end is called, if it is allowed. That it can't is no failure: all takes longer. To ask for
// it takes some milliseconds: whoever knows that probes will have to go at once asks before.
func (f *FS) Hurry() (end func()) {
	h := &f.hurrying
	h.Lock()
	defer h.Unlock()
	if !f.Expedite {
		return func() {}
	}
	if h.users++; h.users == 1 {
		_ = f.setExpedited()
	}
	return func() {
		h.Lock()
		defer h.Unlock()
		if h.users--; h.users > 0 || h.mark == "" {
			return
		}
		_ = f.unsetExpedited(h.mark) // the next run, or a clean-up, tries again
		h.mark = ""
	}
}

// setExpedited sets the switch and marks that, unless somebody else has set it.
func (f *FS) setExpedited() error {
	who, err := newOwner()
	if err != nil {
		return err
	}
	unlock, err := lock(f.dir)
	if err != nil {
		return err
	}
	defer unlock()
	now, err := f.expedited()
	if err != nil {
		return err
	}
	marks, err := f.hurryMarks()
	if err != nil || now != "0" && len(marks) == 0 {
		return err
	}
	// The mark comes first, and goes last: one alone does no harm.
	mark := who.String()
	if err := f.files.Append(f.path("uprobe_events"), fmt.Sprintf("p:%s/%s /proc/self/exe:0x0\n", mark, hurryMark)); err != nil {
		return fmt.Errorf("mark that %s is set: %w", f.rcu(hurryMark), err)
	}
	if err := f.files.Write(f.rcu(hurryMark), "1"); err != nil {
		return errors.Join(err, f.removeGroup(mark))
	}
	f.hurrying.mark = mark
	return nil
}

// unsetExpedited puts the switch back, unless marks of others who live are there, and removes a mark.
func (f *FS) unsetExpedited(mark string) error {
	unlock, err := lock(f.dir)
	if err != nil {
		return err
	}
	defer unlock()
	marks, err := f.hurryMarks()
	if err != nil {
		return err
	}
	used := slices.ContainsFunc(marks, func(other string) bool {
		o, ok := parseOwner(other)
		return other != mark && ok && o.alive()
	})
	if !used {
		if err := f.files.Write(f.rcu(hurryMark), "0"); err != nil {
			return err
		}
	}
	return f.removeGroup(mark)
}

// hurryMarks are the groups of all marks.
func (f *FS) hurryMarks() ([]string, error) {
	groups, err := f.files.List(f.path("events"))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(groups, func(group string) bool {
		_, ours := parseOwner(group)
		return !ours || !f.exists("events", group, hurryMark)
	}), nil
}
