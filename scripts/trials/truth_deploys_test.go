package trials

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

const (
	deployRuns   = 5
	deployedFor  = 3 * time.Second
	betweenTicks = 5 * time.Millisecond
	longestGap   = 2 * time.Second
	deployedAt   = "127.0.0.1:8705"
)

// deploys replaces a server again and again, by renaming another file and by writing over its own, each time with
// one whose functions are elsewhere. Calls that export has not counted were made in gaps.
func deploys(t *testing.T) {
	builds := []string{fixture.Build(t, "server"), fixture.Build(t, "server", "-gcflags=-N -l")}
	path := filepath.Join(t.TempDir(), "server")
	ftgo := command(t, time.Hour, fixture.Command(t, "cmd/ftgo"), "export", "--listen", deployedAt, path, "main.tick", "main.main")
	check(t, ftgo.start())
	deployed := 0
	put := func(to string) {
		b, err := os.ReadFile(builds[deployed%2])
		check(t, err)
		check(t, os.WriteFile(to, b, 0o755))
		deployed++
	}
	put(path)
	awaited(t, func() bool { return exported("ftgo_probes") > 0 })
	counted := 0.0
	serve := func(how string, whileRunning, restart func()) {
		s := launched(t, path)
		time.Sleep(deployedFor)
		whileRunning()
		own := s.calls(t)
		restart()
		var got float64
		for range 30 { // what was recorded is read by then
			got = exported(`ftgo_function_calls_total{function="main.tick"}`) - counted
			if got == own {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		gap, verdict := time.Duration((own-got)*float64(betweenTicks)), ""
		if gap > longestGap || got > own {
			verdict = ": too many, or too few"
			t.Errorf("%s: %v of %v calls", how, got, own)
		}
		fmt.Printf("%-28s %4.0f of %4.0f calls, %v missed%s\n", how, got, own, gap, verdict)
		counted += got
	}
	serve("started", func() {}, func() {})
	for range cmp.Or(*runs, deployRuns) {
		serve("until another was renamed", func() {
			put(path + ".new")
			check(t, os.Rename(path+".new", path))
			time.Sleep(time.Second) // it goes on for so long
		}, func() {})
		serve("after that", func() {}, func() { put(path) })
		serve("after it was written over", func() {}, func() {})
	}
	if groups := groupsOf(t, ftgo.Process.Pid); len(groups) > 2 { // one of the server, one of what measures costs
		t.Errorf("probes of old files are there: %v", groups)
	}
	mains := exported(`ftgo_function_calls_total{function="main.main"}`)
	fmt.Printf("%d files, main.main was called %v times, probes are in %v places\n", deployed, mains, exported("ftgo_probes"))
	check(t, ftgo.signal(syscall.SIGTERM))
	if o, err := ftgo.wait(); err != nil {
		t.Errorf("%v: %s", err, o.stderr)
	}
	if groups := groupsOf(t, ftgo.Process.Pid); len(groups) > 0 {
		t.Errorf("left: %v", groups)
	}
}

// groupsOf are the groups of a process's probes.
func groupsOf(t *testing.T, pid int) map[string]int {
	events, err := os.ReadFile(tracetest.Kernel(t).Dir() + "/uprobe_events")
	check(t, err)
	groups := make(map[string]int)
	for line := range strings.Lines(string(events)) {
		if group, _, _ := strings.Cut(strings.TrimPrefix(line, "p:"), "/"); strings.HasPrefix(group, fmt.Sprintf("ftgo_%d_", pid)) {
			groups[group]++
		}
	}
	return groups
}

// served is a testdata/server.
type served struct {
	*child
	lines *bufio.Reader
}

func launched(t *testing.T, path string) *served {
	s := &served{child: command(t, time.Hour, path, "-every", betweenTicks.String())}
	s.Stdout = nil
	out, err := s.StdoutPipe()
	check(t, err)
	check(t, s.start())
	s.lines = bufio.NewReader(out)
	_, err = s.lines.ReadString('\n') // it is ready
	check(t, err)
	return s
}

// calls ends the server, and tells how many calls it has made.
func (s *served) calls(t *testing.T) float64 {
	check(t, s.signal(syscall.SIGTERM))
	line, err := s.lines.ReadString('\n')
	check(t, err)
	var books struct {
		Functions map[string]struct{ Calls float64 }
	}
	check(t, json.Unmarshal([]byte(line), &books))
	_, err = s.wait()
	check(t, err)
	return books.Functions["main.tick"].Calls
}

// exported is the value of a metric.
func exported(metric string) float64 {
	for line := range strings.Lines(fetched("http://" + deployedAt + "/metrics")) {
		if text, ok := strings.CutPrefix(line, metric+" "); ok {
			value, _ := strconv.ParseFloat(strings.TrimSpace(text), 64)
			return value
		}
	}
	return 0
}
