package target

import (
	"os/exec"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestLiveScope checks that a process that has ended counts as in the group if it was seen there, and that Missed reports
// a process that was not seen.
func TestLiveScope(t *testing.T) {
	groups, err := procfs.Cgroups(procfs.Self)
	if err != nil || len(groups) == 0 {
		t.Skipf("no control groups: %v", err)
	}
	start := func() *exec.Cmd {
		t.Helper()
		cmd := exec.Command("sleep", "1000")
		fixture.NoError(t, cmd.Start())
		t.Cleanup(func() { cmd.Process.Kill() })
		return cmd
	}
	end := func(cmd *exec.Cmd) (pid int) {
		cmd.Process.Kill()
		cmd.Wait()
		return cmd.Process.Pid
	}
	quiet := func(string, ...any) {}
	l, none := NewLiveScope(&Scope{Cgroup: groups[0].Path}), NewLiveScope(&Scope{Cgroup: "/no/such/group"})
	seen := start()
	if l.Has(seen.Process.Pid) {
		t.Error("it has a process before anybody has looked")
	}
	for range 2 { // the second time, only the Look before the last saw it
		for _, of := range []*LiveScope{l, none} {
			if _, err := of.Look(quiet); err != nil {
				t.Fatal(err)
			}
		}
		if pid := end(seen); !l.Has(pid) || none.Has(pid) || l.Missed() || none.Missed() {
			t.Error("what has ended is not known")
		}
	}
	zombie := start()
	for range 3 { // at the second and third Look it has ended, but its parent has not waited for it
		for _, of := range []*LiveScope{l, none} {
			if _, err := of.Look(quiet); err != nil {
				t.Fatal(err)
			}
		}
		zombie.Process.Kill()
		for procfs.Alive(zombie.Process.Pid) {
			time.Sleep(time.Millisecond)
		}
	}
	if pid := end(zombie); !l.Has(pid) || none.Has(pid) || l.Missed() || none.Missed() {
		t.Error("what looks have seen when it had ended is not known")
	}
	later := start()
	if !l.Has(later.Process.Pid) || none.Has(later.Process.Pid) {
		t.Error("what came after the look is not known")
	}
	if pid := end(later); !l.Has(pid) || none.Has(pid) || l.Missed() || none.Missed() {
		t.Error("what was told of it is not known when it has ended")
	}
	if pid := end(start()); l.Has(pid) || !l.Missed() || none.Has(pid) || !none.Missed() {
		t.Error("nothing was missed")
	}
	// Its first thread has ended, as at the start of a process's end: hierarchies of version 1 then have it in the root.
	ending := exec.Command(fixture.Build(t, "family"), "leave", "stdin")
	out, err := ending.StdoutPipe()
	fixture.NoError(t, err)
	in, err := ending.StdinPipe()
	fixture.NoError(t, err)
	fixture.NoError(t, ending.Start())
	defer ending.Wait()
	defer in.Close()
	if _, err := out.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Look(quiet); err != nil {
		t.Fatal(err)
	}
	l.has = none.has
	if pid := ending.Process.Pid; !l.Has(pid) || none.Has(pid) {
		t.Error("what has been seen is not known when it ends")
	}
}
