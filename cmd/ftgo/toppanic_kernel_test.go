package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/top"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelTopPanicked: a panic, of a run behind the screen or of what is painted there, is told on a terminal
// that is as it was before, and leaves nothing.
func TestKernelTopPanicked(t *testing.T) {
	f := tracetest.Kernel(t)
	const again = "FTGO_TEST_PANICS"
	switch pid := os.Getenv(again); pid {
	case "":
	case "painting":
		_ = top.Show(context.Background(), func(func(*top.Model) top.Wish) bool { panic("broken") }, nil)
	default:
		e := newEnv(os.Stdout, os.Stderr)
		e.Adjust = func(tracefs.Features) tracefs.Features { panic("broken") }
		runCommand(context.Background(), e, []string{"top", "-p", pid})
	}
	target := server(t, fixture.Build(t, "server"))
	for _, what := range []string{"painting", fmt.Sprint(target.Process.Pid)} {
		m := newTmux(t)
		before := m.modes()
		m.run(fmt.Sprintf("sh -c 'echo pid $$; %s=%s exec %s -test.run=^%s$'; echo ended $?", again, what, os.Args[0], t.Name()))
		shown := m.wait("ended 2\nhere$")
		pids := regexp.MustCompile(`(?m)^pid (\d+)`).FindStringSubmatch(m.do("capture-pane", "-p", "-S", "-"))
		if pids == nil {
			t.Fatalf("no process in\n%s", shown)
		}
		pid, _ := strconv.Atoi(pids[1])
		nothingOf(t, f, pid)
		if all := m.do("capture-pane", "-p", "-S", "-"); !strings.Contains(all, "panic: broken") {
			t.Errorf("no panic in\n%s", all)
		}
		if now := m.modes(); now != before {
			t.Errorf("%s: the terminal was %q and is %q", what, before, now)
		}
	}
	target.unharmed(t)
}
