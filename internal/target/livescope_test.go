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
	l, none := NewLiveScope(&Processes{Cgroup: groups[0].Path}), NewLiveScope(&Processes{Cgroup: "/no/such/group"})
	look := func() {
		t.Helper()
		for _, of := range []*LiveScope{l, none} {
			_, err := of.Look(func(string, ...any) {})
			fixture.NoError(t, err)
		}
	}
	check := func(pid int, missed bool) {
		t.Helper()
		if l.Has(pid) == missed || none.Has(pid) || l.Missed() != missed || none.Missed() != missed {
			t.Errorf("process %d: %v, missed %v", pid, l.Has(pid), l.Missed())
		}
	}
	seen := start()
	if l.Has(seen.Process.Pid) {
		t.Error("it has a process before anybody has looked")
	}
	look()
	check(end(seen), false)
	look() // now only the Look before the last saw it
	check(seen.Process.Pid, false)
	zombie := start()
	for range 3 { // at the second and third Look it has ended, but its parent has not waited for it
		look()
		zombie.Process.Kill()
		for procfs.Alive(zombie.Process.Pid) {
			time.Sleep(time.Millisecond)
		}
	}
	check(end(zombie), false)
	later := start() // after the last Look
	check(later.Process.Pid, false)
	check(end(later), false)
	check(end(start()), true)
	// Its first thread has ended, as at the start of a process's end: hierarchies of version 1 then have it in the root.
	ending := exec.Command(fixture.Build(t, "family"), "leave", "stdin")
	out, err := ending.StdoutPipe()
	fixture.NoError(t, err)
	in, err := ending.StdinPipe()
	fixture.NoError(t, err)
	fixture.NoError(t, ending.Start())
	defer ending.Wait()
	defer in.Close()
	_, err = out.Read(make([]byte, 100))
	fixture.NoError(t, err)
	look()
	l.has = none.has
	if pid := ending.Process.Pid; !l.Has(pid) || none.Has(pid) {
		t.Error("what has been seen is not known when it ends")
	}
}
