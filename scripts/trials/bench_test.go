package trials

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// sections each measure one thing and write of it. They are in an order that keeps this process
// small for the first: what a child of it is said to have used of memory is at least what this
// process has.
var sections = []struct {
	name, title string
	measure     func(*bench)
}{
	{"plan", "Planning", (*bench).planning},
	{"cost", "What a call costs the program", (*bench).costs},
	{"filter", "A filter that lets through one call in 10,000", (*bench).filters},
	{"arm", "Arming and disarming", (*bench).arming},
	{"split", "Arming by the number of sites", (*bench).splits},
	{"read", "Reading", (*bench).reading},
	{"parse", "Parsing", (*bench).parsing},
}

// Benchmark measures what limits a tracer: what a hit costs the program, how long arming and
// disarming take, how many events a second reach the user, how big a binary can be. It runs ftgo and
// its peers on the same programs, in turn, several rounds (-benchtime), and writes a page with medians
// and ratios. -short is less of everything, within two minutes: to see that it works. scripts/bench
// runs it.
func Benchmark(b *testing.B) {
	if *page == "" {
		b.Skip("scripts/bench runs it")
	}
	b.Setenv("BPFTRACE_MAX_PROBES", "100000")
	r := &report{fs: tracetest.Kernel(b), ftgo: fixture.Command(b, "cmd/ftgo"), hot: fixture.Build(b, "hot")}
	r.bpftrace = r.findPeer(b, "bpftrace", "--version", `\Abpftrace.*`)
	r.perf = r.findPeer(b, "perf", "--version", `\Aperf.*`)
	r.dlv = r.findPeer(b, "dlv", "version", `Version: \S+`)
	for _, s := range sections {
		ok := b.Run(s.name, func(b *testing.B) {
			fmt.Fprintf(&r.body, "\n## %s\n\n", s.title)
			s.measure(&bench{b, r})
			r.rounds = b.N
		})
		if !ok {
			return
		}
	}
	text := strings.ReplaceAll(r.preface()+r.body.String(), fixture.Dir(b)+"/", "")
	check(b, os.WriteFile(rooted(*page), []byte(text), 0o644))
}

// report is what was measured so far, and what all sections need.
type report struct {
	fs                  *tracefs.FS
	ftgo, hot           string
	bpftrace, perf, dlv string   // paths of the other tracers, "" for those that are missing
	peers               []string // a version for each, or why it is left out
	rounds              int
	goals, body         bytes.Buffer
}

// bench is one section.
type bench struct {
	*testing.B
	*report
}

// findPeer returns the path of another tracer, and notes its version.
func (r *report) findPeer(b *testing.B, name, version, line string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		r.peers = append(r.peers, name+": not installed, left out")
		return ""
	}
	o, err := command(b, 10*time.Second, path, version).run()
	m := regexp.MustCompile(line).FindString(o.stdout)
	if m == "" {
		b.Fatalf("no version of %s: %v", name, err)
	}
	r.peers = append(r.peers, strings.Replace(m, "Version:", "delve", 1))
	return path
}

// preface returns the beginning of the page: the machine, the tools, and the goals with their results.
func (r *report) preface() string {
	var w strings.Builder
	fmt.Fprintf(&w, "# Benchmarks\n\n`scripts/bench` wrote this page. The figures are medians of %d rounds. In each round the tools ran one after the other on the\n"+
		"same programs. Jobs of minutes ran once. The numbers in parentheses are multiples of ftgo's figure. The cost of a hit depends on the\n"+
		"machine, especially if it is virtual: compare the figures, but don't quote them. Times in seconds depend on the machine as much as on ftgo.\n\n", r.rounds)
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	cpus, _ := os.ReadFile("/proc/cpuinfo")
	model := "unknown"
	if m := regexp.MustCompile(`(?m)^model name\s*: (.*)$`).FindSubmatch(cpus); m != nil {
		model = string(m[1])
	}
	fmt.Fprintf(&w, "Linux %s, %d CPUs (%s), %s.\nPeers: %s.\n", strings.TrimSpace(string(release)), runtime.NumCPU(), model, runtime.Version(), strings.Join(r.peers, "; "))
	fmt.Fprint(&w, "Another run: [benchmarks-faster-machine.md](benchmarks-faster-machine.md).\n\n| goal | measured | | |\n|---|---|---|---|\n", r.goals.String())
	return w.String()
}

// run runs a program to its end.
func (b *bench) run(name string, args ...string) (outcome, error) {
	return command(b, childLimit, name, args...).run()
}

// path is where something is written meanwhile.
func (b *bench) path(name string) string { return filepath.Join(fixture.Dir(b), name) }

// pick is full, or less of it in a quick run.
func pick[T any](full, quick T) T {
	if testing.Short() {
		return quick
	}
	return full
}

// task measures once, and adds what it finds to a grid.
type task struct {
	row, col string
	ours     bool // must not fail
	once     bool // in the first round only: it takes too long
	run      func() error
}

// turns has all tasks have their turn, each round. Where one fails, the grid tells why instead.
func (b *bench) turns(g *grid, tasks []task) {
	for round := 0; b.Loop(); round++ {
		for _, t := range tasks {
			if g.refused[g.at(t.row, t.col)] != "" || t.once && round > 0 {
				continue
			}
			err := t.run()
			check(b, interrupted.Err())
			switch {
			case err != nil && t.ours:
				b.Fatal(err)
			case err != nil:
				g.refuse(t.row, t.col, err)
			}
		}
	}
}

// atMost writes a row of the table of goals, unless nothing was measured.
func (b *bench) atMost(what string, got, limit float64, format func(float64) string) {
	met := "met"
	if got > limit {
		met = "**missed**"
	}
	fmt.Fprintf(&b.goals, "| %s | %s | at most %s | %s |\n", what, format(got), format(limit), met)
}
