package tracefs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/procfs"
)

// remains creates the remains of a run in a fake: an instance, a group with an event of two sites, or both.
func remains(t *testing.T, f *FS, name string, instance, group bool) {
	t.Helper()
	if instance {
		fixture.NoError(t, f.files.Mkdir(f.path("instances", name)))
	}
	if group {
		text := fmt.Sprintf("p:%[1]s/e /bin/true:0x1\np:%[1]s/e /bin/true:0x2\n", name)
		fixture.NoError(t, f.files.Append(f.path("uprobe_events"), text))
	}
}

// dead returns the name of a session whose owner can't live, because process numbers are smaller.
func dead(session uint64) string {
	return owner{PID: 1 << 22, Started: 5, Session: session}.String()
}

// namesOfOthers returns names that are similar to those of dead sessions, and the name of a living one.
func namesOfOthers(t *testing.T) []string {
	t.Helper()
	living, err := newOwner()
	fixture.NoError(t, err)
	return []string{
		living.String(), "ftgo", "ftgo_", "ftgo_x", "ftgo_1", "ftgo_1_2", "ftgo_1_2x", "ftgo_1_2x_3", "ftgo_x_1_1", "ftgo_4194304_5", "ftgo_4194304_5_",
		"ftgo_+4194304_5_1", "ftgo_04194304_5_1", "ftgo_-4194304_5_1", "ftgo_0_5_1", "ftgo_4194304_5_1_2", "ftgo_4194304_5_1_ns", "ftgo_4194304_5_1_ns0",
		"ftgo_4194304_5_1_ns07", "ftgo_4194304_5_1_ns7_8", "ftgo_99999999999999999999_5_1", "ftgo_4194304_99999999999999999999_1",
		"FTGO_4194304_5_1", "Ftgo_4194304_5_1", "xftgo_4194304_5_1", "perf_4194304_5_1", "ftgo_4194304_5_1a", "ftgo_4194304__1", "_ftgo_4194304_5_1",
	}
}

func TestLeftovers(t *testing.T) {
	f, fake := newFake(t)
	living, err := newOwner()
	fixture.NoError(t, err)
	reused := owner{PID: living.PID, Started: living.Started + 1, Session: 3, Namespace: living.Namespace}.String()
	want := []Leftover{
		{dead(1), 1 << 22, 1, true},
		{dead(2), 1 << 22, 1, false},
		{dead(3), 1 << 22, 0, true},
		{reused, living.PID, 1, true},
	}
	for _, l := range want {
		remains(t, f, l.Name, l.instance, l.Events > 0)
	}
	for _, file := range []string{"/enable", "/e/enable"} { // enabled in its own instance
		fake.put("instances/"+dead(1)+"/events/"+dead(1)+file, "1\n")
	}
	others := namesOfOthers(t)
	for _, name := range others {
		remains(t, f, name, true, true)
	}
	// An event whose name looks like a session's, in another group.
	fixture.NoError(t, f.files.Append(f.path("uprobe_events"), "p:others/"+dead(1)+" /bin/true:0x1\n"))
	gone, err := f.Sweep()
	fixture.NoError(t, err)
	slices.SortFunc(want, func(a, b Leftover) int { return strings.Compare(a.Name, b.Name) })
	if !slices.Equal(gone, want) {
		t.Errorf("swept %+v\nwant %+v", gone, want)
	}
	b, _ := os.ReadFile(f.path("uprobe_events"))
	for _, name := range others {
		if !f.exists("instances", name) {
			t.Errorf("instance %s is gone", name)
		}
		if strings.Count(string(b), "p:"+name+"/e ") != 2 {
			t.Errorf("probes of %s are gone", name)
		}
	}
	if !strings.Contains(string(b), "p:others/"+dead(1)+" ") {
		t.Error("another group's probe is gone")
	}
	if got, want := len(fake.left()), 1+len(others); got != want {
		t.Errorf("%d things are left, want %d", got, want)
	}
	if again, err := f.Sweep(); err != nil || len(again) > 0 {
		t.Errorf("a second sweep removed %+v, %v", again, err)
	}
}

// TestSweepEnabledByOthers checks that events are not deleted if another program has enabled them at the top level or
// in its instance, because that would crash the kernel.
func TestSweepEnabledByOthers(t *testing.T) {
	for _, where := range []string{"", "instances/theirs/"} {
		for _, text := range []string{"1\n", "X\n", "0*\n", "?\n"} {
			f, fake := newFake(t)
			if where != "" {
				remains(t, f, "theirs", true, false)
			}
			name := dead(1)
			remains(t, f, name, true, true)
			remains(t, f, dead(2), true, true)
			fake.put(where+"events/"+name+"/enable", text)
			gone, err := f.Sweep()
			if err == nil || !strings.Contains(err.Error(), where+"events/"+name+"/enable") || !strings.Contains(err.Error(), "enabled, not touched") {
				t.Errorf("%s reads %q: error %v", where, text, err)
			}
			if len(gone) != 1 || gone[0].Name != dead(2) {
				t.Errorf("%s reads %q: swept %+v", where, text, gone)
			}
			if !f.exists("events", name, "e") {
				t.Errorf("%s reads %q: removed all the same", where, text)
			}
		}
	}
}

// TestSweepBesideOthers checks that events that another sweep is removing are not taken for enabled ones.
func TestSweepBesideOthers(t *testing.T) {
	for _, c := range []struct {
		name string
		hook func(fake *fakeFiles, op, name string) error
		more bool // the removal never ends
	}{
		{name: "events are removed", hook: func(fake *fakeFiles, op, name string) error {
			if reads := strings.Count(strings.Join(fake.log, "\n"), "/enable"); op != "read" || !strings.HasSuffix(name, "/enable") || reads > 3 {
				return nil
			}
			return unix.ENODEV
		}},
		{name: "a group's last event is removed", hook: func(fake *fakeFiles, op, name string) error {
			if op == "read" && strings.HasSuffix(name, "/enable") {
				text := map[bool]string{true: "?\n", false: "0\n"}[strings.Count(strings.Join(fake.log, "\n"), "/enable") <= 3]
				fake.put(name, text)
			}
			return nil
		}},
		{name: "events are removed for good", more: true, hook: func(_ *fakeFiles, op, name string) error {
			if op == "read" && strings.HasSuffix(name, "/enable") {
				return unix.ENODEV
			}
			return nil
		}},
		{name: "an instance has gone", hook: func(_ *fakeFiles, op, _ string) error {
			if op == "rmdir" {
				return unix.ENODEV
			}
			return nil
		}},
		{name: "a group goes while it is listed", hook: func(fake *fakeFiles, op, name string) error {
			if op != "list" || name != "events/"+dead(1) {
				return nil
			}
			return errors.Join(os.RemoveAll(fake.root+"/"+name), unix.EINVAL)
		}},
	} {
		f, fake := newFake(t)
		remains(t, f, dead(1), true, true)
		fake.log = nil
		fake.hook = func(op, name, _ string) error { return c.hook(fake, op, name) }
		gone, err := f.Sweep()
		if c.more && (err == nil || len(gone) > 0 || !f.exists("events", dead(1), "e")) || !c.more && (err != nil || len(gone) != 1) {
			t.Errorf("%s: swept %+v, %v", c.name, gone, err)
		}
	}
}

// TestOwnerEndsMeanwhile checks an owner that ends after the instances are listed and before the groups are.
func TestOwnerEndsMeanwhile(t *testing.T) {
	f, fake := newFake(t)
	sleeper := exec.Command("sleep", "60")
	fixture.NoError(t, sleeper.Start())
	defer func() { sleeper.Process.Kill(); sleeper.Wait() }()
	stat, err := procfs.ReadStat(sleeper.Process.Pid)
	fixture.NoError(t, err)
	name := owner{PID: sleeper.Process.Pid, Started: stat.Started, Session: 1, Namespace: procfs.PIDNamespace()}.String()
	remains(t, f, name, true, true)
	fake.hook = func(op, name, _ string) error {
		if op == "list" && name == "events" {
			sleeper.Process.Kill()
			sleeper.Wait()
		}
		return nil
	}
	if left, err := f.Leftovers(); err != nil || len(left) != 1 || left[0].Events != 1 || !left[0].instance {
		t.Errorf("left %+v, %v", left, err)
	}
}
