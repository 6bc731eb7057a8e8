package tracefs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// newExpediting returns a fake with the kernel's switch for expedited grace periods.
func newExpediting(t *testing.T) (*FS, *fakeFiles) {
	f, fake := newFake(t)
	fake.put("rcu_expedited", "0\n")
	fake.put("rcu_normal", "0\n")
	f.Expedite = true
	return f, fake
}

// alone are n events of one site each.
func alone(n int) []Event {
	var events []Event
	for i := range n {
		events = append(events, Event{Name: fmt.Sprintf("e%d_0123456789", i), Sites: []uint64{uint64(i + 1)}})
	}
	return events
}

// expediteSteps returns the logged changes of the switch and its marks, and whether events were disabled.
func (f *fakeFiles) expediteSteps() (steps []string) {
	for _, l := range f.log {
		switch {
		case strings.HasPrefix(l, "append") && strings.Contains(l, rcuExpedited):
			steps = append(steps, map[bool]string{true: "mark", false: "unmark"}[strings.Contains(l, " p:")])
		case strings.HasPrefix(l, "write rcu"):
			steps = append(steps, strings.TrimPrefix(l, "write rcu_expedited "))
		case strings.HasSuffix(l, "enable 0") && !slices.Contains(steps, "disarm"):
			steps = append(steps, "disarm")
		}
	}
	return steps
}

// TestExpedite checks that grace periods are expedited only while many events are disarmed, and only if this is
// allowed.
func TestExpedite(t *testing.T) {
	for _, c := range []struct {
		name   string
		events int
		set    func(*FS, *fakeFiles)
		want   string
	}{
		{"many events", minExpedited, nil, "mark 1 disarm 0 unmark"},
		{"few events", minExpedited - 1, nil, "disarm"},
		{"not allowed", minExpedited, func(f *FS, _ *fakeFiles) { f.Expedite = false }, "disarm"},
		{"rcu_normal", minExpedited, func(_ *FS, fake *fakeFiles) { fake.put("rcu_normal", "1\n") }, "disarm"},
		{"set by somebody", minExpedited, func(_ *FS, fake *fakeFiles) { fake.put("rcu_expedited", "1\n") }, "disarm"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, fake := newExpediting(t)
			if c.set != nil {
				c.set(f, fake)
			}
			s, err := Start(t.Context(), f, Target{Path: "/bin/true"}, alone(c.events), Options{})
			fixture.NoError(t, err)
			before, _ := f.readTrimmed("rcu_expedited")
			s.Stop()
			fixture.Receive(t, s.stopped)
			fixture.NoError(t, s.Close())
			if got := strings.Join(fake.expediteSteps(), " "); got != c.want {
				t.Errorf("did %q, want %q", got, c.want)
			}
			if now, _ := f.readTrimmed("rcu_expedited"); now != before {
				t.Errorf("the switch is %q, and was %q", now, before)
			}
			if left := fake.left(); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}
}

// TestExpediteCounted checks that of several users in a process, the last one resets the switch.
func TestExpediteCounted(t *testing.T) {
	f, fake := newExpediting(t)
	first := f.ExpediteGracePeriods()
	second := f.ExpediteGracePeriods()
	for i, end := range []func(){first, second} {
		if now, _ := f.readTrimmed("rcu_expedited"); now != "1" {
			t.Errorf("the switch is %q before end %d", now, i)
		}
		end()
	}
	if now, _ := f.readTrimmed("rcu_expedited"); now != "0" || len(fake.left()) > 0 {
		t.Errorf("at the end the switch is %q, and left is %q", now, fake.left())
	}
}

// TestExpediteSwept checks that Sweep resets the switch that a killed run has set.
func TestExpediteSwept(t *testing.T) {
	f, fake := newExpediting(t)
	fake.put("rcu_expedited", "1\n")
	fixture.NoError(t, f.files.Append(f.path("uprobe_events"), "p:"+dead(1)+"/"+rcuExpedited+" /proc/self/exe:0x0\n"))
	if gone, err := f.Sweep(); err != nil || len(gone) != 1 {
		t.Errorf("swept %+v, %v", gone, err)
	}
	if now, _ := f.readTrimmed("rcu_expedited"); now != "0" || len(fake.left()) > 0 {
		t.Errorf("the switch is %q, left %q", now, fake.left())
	}
}

// TestExpediteFails checks that a switch that can't be set is no error, and that a switch that can't be reset keeps
// its mark for Sweep.
func TestExpediteFails(t *testing.T) {
	f, fake := newExpediting(t)
	fake.hook = readOnly
	if f.CanExpedite() {
		t.Error("a switch that can't be written is taken for one")
	}
	f.ExpediteGracePeriods()()
	if len(fake.left()) > 0 {
		t.Errorf("left %q", fake.left())
	}
	fake.hook = nil
	if !f.CanExpedite() {
		t.Error("a switch that can be written is taken for none")
	}
	end := f.ExpediteGracePeriods()
	fake.hook = readOnly
	end()
	if len(fake.left()) != 1 {
		t.Errorf("left %q, want the mark", fake.left())
	}
}

// readOnly is a hook of a fake. It makes writes to the switches fail.
func readOnly(op, name, _ string) error {
	if op == "write" && strings.HasPrefix(name, "rcu_") {
		return unix.EROFS
	}
	return nil
}

// TestLockWaitsNotForGood checks that lock fails after a while, because the process that has the lock may be stopped.
func TestLockWaitsNotForGood(t *testing.T) {
	t.Parallel()
	f, _ := newFake(t)
	unlock, err := lock(f.dir)
	fixture.NoError(t, err)
	defer unlock()
	done := make(chan error, 1)
	go func() { _, err := lock(f.dir); done <- err }()
	select {
	case err := <-done:
		if err == nil {
			t.Error("two have the lock")
		}
	case <-time.After(time.Minute):
		t.Error("the lock is waited for without end")
	}
}
