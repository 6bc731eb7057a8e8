package procfs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestEnded checks that a process that has ended does not live, even before its parent has waited for it.
func TestEnded(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	pid := cmd.Process.Pid
	if stat, alive := LiveStat(pid); !alive || stat.Parent != os.Getpid() {
		t.Errorf("%+v, alive %v", stat, alive)
	}
	fixture.NoError(t, cmd.Process.Signal(syscall.SIGKILL))
	for deadline := time.Now().Add(10 * time.Second); Alive(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it has ended, and lives")
		}
	}
	cmd.Wait()
	if Alive(pid) {
		t.Error("it is gone, and lives")
	}
}

// TestRunningPrograms checks that a list of running programs can be searched after a process has ended.
func TestRunningPrograms(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	all, pid := RunningPrograms(), cmd.Process.Pid
	fixture.NoError(t, errors.Join(cmd.Process.Kill(), cmd.Process.Release()))
	_, _ = syscall.Wait4(pid, nil, 0, nil)
	path := ""
	for _, p := range all {
		if p.PID == pid {
			path = p.Path
		}
	}
	among := func(other int) bool { return other == pid }
	if named := all.Named(filepath.Base(path), among); !slices.Equal(named, []int{pid}) || !slices.Contains(all.Running(path), pid) {
		t.Errorf("process %d runs %q: named %v, running %v", pid, path, named, all.Running(path))
	}
	if now := Running(path); slices.Contains(now, pid) {
		t.Errorf("process %d is gone, and runs", pid)
	}
}

// TestFindSeldom checks that calls that follow each other soon share a search for processes.
func TestFindSeldom(t *testing.T) {
	searches := 0
	began, c := time.Now(), &CPUTimes{find: func() []int {
		searches++
		time.Sleep(10 * time.Millisecond) // the next search is due in half a second
		return []int{os.Getpid()}
	}}
	for range 100 {
		c.Waited()
		c.Used(false)
	}
	if most := 1 + int(time.Since(began)/findAgain); searches > most {
		t.Errorf("%d searches, want at most %d", searches, most)
	}
	before := searches
	if used, _ := c.Used(true); searches != before+1 || used < 0 {
		t.Errorf("the last look: %d more searches, %v", searches-before, used)
	}
}

// TestFoundLate checks that only the first result of Used includes the time of a process before it was found, and that Used
// forgets ended processes, because other processes get their numbers.
func TestFoundLate(t *testing.T) {
	var found []int
	c := &CPUTimes{find: func() []int { return found }}
	c.Used(true)
	found = []int{os.Getpid()}
	all, known := c.Used(true)
	if own := ownTime(); known != 0 || len(c.last) != 1 || all <= 0 || all > own+tick {
		t.Errorf("%v and %v of a process that was just found and has used %v, known %v", all, known, own, c.last)
	}
	found = nil
	if c.Used(true); len(c.last) != 0 {
		t.Errorf("known of no process: %v", c.last)
	}
}

// ownTime returns the CPU time of this process.
func ownTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestCPUTimes(t *testing.T) {
	for name, c := range map[string]*CPUTimes{"by number": NewCPUTimes([]int{os.Getpid()}, ""), "by file": NewCPUTimes(nil, Exe(os.Getpid()))} {
		for first, now := ownTime(), time.Duration(0); now < first+5*tick; now = ownTime() {
		}
		if all, known := c.Used(true); all < tick || known < tick {
			t.Errorf("%s: used %v, %v", name, all, known)
		}
	}
	if all, known := NewCPUTimes(nil, "/none").Used(true); all != 0 || known != 0 {
		t.Error("processes of no file have used something")
	}
	short := exec.Command("sleep", "1000")
	fixture.NoError(t, short.Start())
	c := NewCPUTimes([]int{os.Getpid(), short.Process.Pid}, "")
	for _, want := range []bool{false, true} {
		if c.Used(true); c.Ended != want {
			t.Errorf("ended: %v, want %v", c.Ended, want)
		}
		_ = short.Process.Kill() // fails the second time
		_ = short.Wait()         // always fails: it was killed
	}
}

// TestWaiting checks the times of threads and the share that they wait for a CPU.
func TestWaiting(t *testing.T) {
	if share := NewCPUTimes(nil, "/none").Waited(); share != 0 {
		t.Errorf("of no file: %v", share)
	}
	c := NewCPUTimes([]int{os.Getpid()}, "")
	ran := uint64(0)
	for _, times := range c.threads() {
		ran += times[0]
	}
	c.first = nil
	if share := c.Waited(); ran == 0 || share < 0 || share >= 1 {
		t.Errorf("threads %v, of which a share of %v waited", c.threads(), share)
	}
}
