package tracefs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The kernel disarms an event by waiting for a grace period, until no CPU can run the event's handler: 16 to 50 ms
// for each event. With /sys/kernel/rcu_expedited set, it interrupts all CPUs instead of waiting for them
// (Documentation/RCU), which takes a tenth of the time or less.
//
// The switch rcu_expedited is global. So it is set only while many events are disarmed, or while probes may have to be
// removed because they take too much of a program's time. It is not set if the machine's owner has set rcu_normal,
// which overrides it, or has set rcu_expedited permanently.
//
// Each run that sets the switch defines a mark: an event that is never enabled, in a group with a session's name. All
// runs see the marks, a mark outlives a killed run, and [FS.Sweep] removes it. The switch stays on while a living run
// has a mark; the last run resets it. A lock on the tracefs directory serializes these steps.

const (
	rcuExpedited = "rcu_expedited" // the switch, and the name of the event that marks it
	minExpedited = 8               // the least number of grace periods for which the switch is set: they take 1/4 s without it
)

// CanExpedite reports whether events can be disarmed in a tenth of the usual time: the switch is on, or may be set.
func (f *FS) CanExpedite() bool {
	now, err := f.expedited()
	// Write of no bytes only opens the file, which fails on a read-only file system.
	return err == nil && (now != "0" || f.Expedite && f.files.Write(f.rcu(rcuExpedited), "") == nil)
}

func (f *FS) rcu(name string) string { return f.rcuDir + "/" + name }

// expedited returns the value of the switch. It returns an error if rcu_normal overrides the switch.
func (f *FS) expedited() (string, error) {
	// rcu_normal exists since Linux 4.4, rcu_expedited since 3.6.
	if b, err := f.files.Read(f.rcu("rcu_normal")); err == nil && strings.TrimSpace(string(b)) != "0" {
		return "", errors.New("rcu_normal is set") // the machine's owner forbids expedited grace periods
	}
	b, err := f.files.Read(f.rcu(rcuExpedited))
	return strings.TrimSpace(string(b)), err
}

// ExpediteGracePeriods makes grace periods short until end is called, if f.Expedite allows it. It ignores
// failures, because probes are also removed in long grace periods, only more slowly. ExpediteGracePeriods takes some
// milliseconds: a caller that may have to remove probes quickly calls it in advance.
func (f *FS) ExpediteGracePeriods() (end func()) {
	f.switchLock.Lock()
	defer f.switchLock.Unlock()
	if !f.Expedite {
		return func() {}
	}
	if f.switchUsers++; f.switchUsers == 1 {
		_ = f.setExpedited()
	}
	return func() {
		f.switchLock.Lock()
		defer f.switchLock.Unlock()
		if f.switchUsers--; f.switchUsers > 0 || f.mark == "" {
			return
		}
		_ = f.unsetExpedited(f.mark) // after an error, the next run or Sweep tries again
		f.mark = ""
	}
}

// setExpedited defines a mark and sets the switch. If the switch is on and no mark exists, it does neither, because
// another program has set the switch.
func (f *FS) setExpedited() error {
	o, err := newOwner()
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
	marks, err := f.expediteMarks()
	if err != nil || now != "0" && len(marks) == 0 {
		return err
	}
	// The mark is defined before the switch is set, and removed after it is reset: a mark alone is harmless.
	mark := o.String()
	if err := f.files.Append(f.path("uprobe_events"), fmt.Sprintf("p:%s/%s /proc/self/exe:0x0\n", mark, rcuExpedited)); err != nil {
		return fmt.Errorf("mark that %s is set: %w", f.rcu(rcuExpedited), err)
	}
	if err := f.files.Write(f.rcu(rcuExpedited), "1"); err != nil {
		return errors.Join(err, f.removeGroup(mark))
	}
	f.mark = mark
	return nil
}

// unsetExpedited resets the switch, unless other living runs have marks, and then removes mark.
func (f *FS) unsetExpedited(mark string) error {
	unlock, err := lock(f.dir)
	if err != nil {
		return err
	}
	defer unlock()
	marks, err := f.expediteMarks()
	if err != nil {
		return err
	}
	used := slices.ContainsFunc(marks, func(other string) bool {
		o, ok := parseOwner(other)
		return other != mark && ok && o.alive()
	})
	if !used {
		if err := f.files.Write(f.rcu(rcuExpedited), "0"); err != nil {
			return err
		}
	}
	return f.removeGroup(mark)
}

// expediteMarks returns the groups of all marks.
func (f *FS) expediteMarks() ([]string, error) {
	groups, err := f.files.List(f.path("events"))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(groups, func(group string) bool {
		_, ours := parseOwner(group)
		return !ours || !f.exists("events", group, rcuExpedited)
	}), nil
}
