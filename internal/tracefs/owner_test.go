package tracefs

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestOwnerAlive(t *testing.T) {
	me, err := newOwner()
	fixture.NoError(t, err)
	const container = 4026540000
	for _, c := range []struct {
		name      string
		o         owner
		namespace uint64 // of the caller
		want      bool
	}{
		{"this process", me, me.Namespace, true},
		{"its number, started at another time", owner{PID: me.PID, Started: me.Started + 1, Namespace: me.Namespace}, me.Namespace, false},
		{"no process", owner{PID: 1 << 22, Started: 1, Namespace: me.Namespace}, me.Namespace, false},
		{"this number in a container that is gone", owner{PID: me.PID, Started: me.Started, Namespace: container}, 0, false},
		{"the host's, seen from a container", owner{PID: 1 << 22, Started: 1}, container, true},
		{"another container's, seen from one", owner{PID: 1 << 22, Started: 1, Namespace: container + 1}, container, true},
		{"a container's own", owner{PID: me.PID, Started: me.Started, Namespace: container}, container, true},
		{"a container's own, gone", owner{PID: 1 << 22, Started: 1, Namespace: container}, container, false},
	} {
		if got := c.o.aliveIn(c.namespace); got != c.want {
			t.Errorf("%s: alive is %v", c.name, got)
		}
	}
}

func FuzzOwner(f *testing.F) {
	f.Add("ftgo_1_2_3")
	f.Add("ftgo_1_2_3_ns4026532178")
	f.Fuzz(func(t *testing.T, name string) {
		o, ok := parseOwner(name)
		if ok && (o.String() != name || o.PID <= 0) {
			t.Errorf("%q is read as %+v", name, o)
		}
	})
}

// TestHiddenProcesses checks that an owner in a container counts as alive if /proc hides other users' processes.
func TestHiddenProcesses(t *testing.T) {
	if os.Getenv("FTGO_TEST_HIDDEN") != "" {
		o := owner{PID: 1 << 21, Started: 1, Session: 1, Namespace: 1}
		if !o.runsBelow() {
			t.Error("an owner that can't be seen is taken for dead")
		}
		return
	}
	if (owner{PID: 1 << 21, Started: 1, Session: 1, Namespace: 1}).runsBelow() {
		t.Error("an owner that is not there is taken for alive")
	}
	if os.Geteuid() != 0 || ThisMachine().Older(5, 8) { // older kernels have one procfs for all mounts
		t.Skip("needs root, and a procfs for each mount")
	}
	dir := t.TempDir()
	for _, hide := range []string{"1", "2"} {
		script := `mount -t proc -o hidepid=` + hide + ` none /proc && cp "$0" "$1"/test && chmod 755 "$1" "$1"/test && cd / && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$1"/test -test.run=^TestHiddenProcesses$ -test.v`
		cmd := exec.Command("unshare", "-m", "sh", "-ec", script, os.Args[0], dir)
		cmd.Env = append(os.Environ(), "FTGO_TEST_HIDDEN=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("hidepid=%s: %v\n%s", hide, err, out)
		}
	}
}
