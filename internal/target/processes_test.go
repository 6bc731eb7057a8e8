package target

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestProcesses checks that -p accepts any number, and the name of one process or, with --all, of several; and the messages
// about processes without calls.
func TestProcesses(t *testing.T) {
	cat, err := exec.LookPath("cat")
	fixture.NoError(t, err)
	code, err := os.ReadFile(cat)
	fixture.NoError(t, err)
	name := fmt.Sprintf("ftgo-named-%d", os.Getpid()) // longer than the name that ps shows
	path := filepath.Join(t.TempDir(), name)
	fixture.NoError(t, os.WriteFile(path, code, 0o755))
	start := func() int {
		cmd := exec.Command(path)
		in, err := cmd.StdinPipe()
		fixture.NoError(t, err)
		out, err := cmd.StdoutPipe()
		fixture.NoError(t, err)
		fixture.NoError(t, cmd.Start())
		t.Cleanup(func() { in.Close(); cmd.Wait() })
		io.WriteString(in, "x") // after its answer it executes cat, and no longer this program
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		return cmd.Process.Pid
	}
	var said strings.Builder
	check := func(word string, all bool, want []int, says string) {
		t.Helper()
		said.Reset()
		got, err := (&Processes{All: all}).Named(func(format string, args ...any) { fmt.Fprintf(&said, format, args...) }, word)
		if err != nil {
			said.WriteString(err.Error())
		}
		if !slices.Equal(got, want) || !strings.Contains(said.String(), says) {
			t.Errorf("%s: %v, %q; want %v, %q", word, got, said.String(), want, says)
		}
	}
	check("12", false, []int{12}, "")
	check("0", false, nil, "-p 0: not a process id")
	check(name, false, nil, fmt.Sprintf("-p %q: no such process", name))
	one := start()
	check(name, false, []int{one}, fmt.Sprintf("%s is process %d", name, one))
	both := []int{one, start()}
	slices.Sort(both)
	check(name, false, nil, fmt.Sprintf("means 2 processes (%d, %d): choose one, or --all", both[0], both[1]))
	check(name, true, both, fmt.Sprintf("%s is 2 processes (%d, %d)", name, both[0], both[1]))
	said.Reset()
	fixture.NoError(t, os.Rename(path, path+"x"))
	q := Query{Binary: path + "x"}
	if got := q.Replaced(); got != "" {
		t.Errorf("replaced: %q", got)
	}
	unseen := func(want string) {
		t.Helper()
		if got := q.WhyUnseen("", false); got != want {
			t.Errorf("unseen since %q, want %q", got, want)
		}
	}
	unseen(fmt.Sprintf("2 processes (%d, %d) called none of these functions", both[0], both[1]))
	q.PIDs = both[:1]
	unseen(fmt.Sprintf("process %d called none of these functions", both[0]))
	q.Binary = "/bin/sh"
	unseen(fmt.Sprintf("process %d runs %sx, not /bin/sh", both[0], path))
	q = Query{Binary: path + "x"}
	fixture.NoError(t, os.Remove(path+"x"))
	want := fmt.Sprintf("an older %sx, which was removed, runs in 2 processes (%d, %d): -p %d shows that", path, both[0], both[1], both[0])
	if got := q.Replaced(); got != want {
		t.Errorf("removed: %q, want %q", got, want)
	}
	fixture.NoError(t, os.WriteFile(path+"x", code, 0o755))
	want = strings.Replace(want, "removed", "replaced", 1)
	if got := q.Replaced(); got != want {
		t.Errorf("replaced: %q, want %q", got, want)
	}
	unseen(want)
	if _, err := new(Processes).Named(nil, name+"x"); !errors.Is(err, ErrUsage) {
		t.Errorf("%v is no usage error", err)
	}
}
