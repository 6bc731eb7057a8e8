package tracefs

import (
	"errors"
	"fmt"
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
// A run that sets the switch resets it. It marks this by an event that is never enabled, in a group with a session's name.
// The mark outlives a killed run, and [FS.Sweep] then resets the switch. If two runs overlap, the second one may have to
// remove its probes in long grace periods.

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

// setExpedited defines a mark and sets the switch, unless it is on. The mark is defined before the switch is set, and
// removed after it is reset: a mark alone is harmless.
func (f *FS) setExpedited() error {
	if now, err := f.expedited(); err != nil || now != "0" {
		return err
	}
	o, err := newOwner()
	if err != nil {
		return err
	}
	mark := o.String()
	if err := f.files.Append(f.path("uprobe_events"), fmt.Sprintf("p:%s/%s /proc/self/exe:0x0\n", mark, rcuExpedited)); err != nil {
		return err
	}
	if err := f.files.Write(f.rcu(rcuExpedited), "1"); err != nil {
		return errors.Join(err, f.removeGroup(mark))
	}
	f.mark = mark
	return nil
}

// unsetExpedited resets the switch and removes the mark of the run that has set it.
func (f *FS) unsetExpedited(mark string) error {
	if err := f.files.Write(f.rcu(rcuExpedited), "0"); err != nil {
		return err
	}
	return f.removeGroup(mark)
}
