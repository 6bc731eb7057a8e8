package trials

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// peers are the other tracers: paths, "" for those that are missing.
type peers struct {
	bpftrace, perf, traceCmd, dlv string
	versions                      []string // one line for each, or why it is left out
}

func (p *peers) findPeers(b *testing.B) {
	// version is on a line that begins with the name; trace-cmd says it, and exits with 255.
	find := func(name, version, line string, install func() (string, error)) string {
		path, err := install()
		if err != nil {
			p.versions = append(p.versions, fmt.Sprintf("%s: %v", name, err))
			return ""
		}
		o, err := command(b, 10*time.Second, path, version).run()
		if m := regexp.MustCompile(line).FindString(o.stdout); m != "" {
			p.versions = append(p.versions, strings.Replace(m, "Version:", "delve", 1))
			return path
		}
		p.versions = append(p.versions, fmt.Sprintf("%s: left out: %v", name, err))
		return ""
	}
	installed := func(name string) func() (string, error) {
		return func() (string, error) {
			path, err := exec.LookPath(name)
			if err != nil {
				err = fmt.Errorf("not installed, left out")
			}
			return path, err
		}
	}
	p.bpftrace = find("bpftrace", "--version", `\Abpftrace.*`, installed("bpftrace"))
	p.perf = find("perf", "--version", `\Aperf.*`, installed("perf"))
	p.traceCmd = find("trace-cmd", "--version", `\Atrace-cmd.*`, installed("trace-cmd"))
	delve := installed("dlv")
	if !testing.Short() { // there is time to install it
		delve = func() (string, error) { return findDelve(b) }
	}
	p.dlv = find("delve", "version", `Version: \S+`, delve)
}

// findDelve returns the delve that is installed, or installs one.
func findDelve(tb testing.TB) (string, error) {
	if path, err := exec.LookPath("dlv"); err == nil {
		return path, nil
	}
	install := command(tb, 5*time.Minute, "go", "install", "github.com/go-delve/delve/cmd/dlv@latest")
	install.Env = append(install.Environ(), "GOBIN="+fixture.Dir(tb))
	_, err := install.run()
	if err != nil {
		err = fmt.Errorf("left out: %w", err)
	}
	return filepath.Join(fixture.Dir(tb), "dlv"), err
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
	fmt.Fprintf(&w, "Linux %s, %d CPUs (%s), %s.\n", strings.TrimSpace(string(release)), runtime.NumCPU(), model, runtime.Version())
	fmt.Fprintf(&w, "Peers: %s.\n", strings.Join(r.versions, "; "))
	others, _ := filepath.Glob(filepath.Join(fixture.Root(), "docs", "dev", "benchmarks-*.md"))
	for _, other := range others {
		name := filepath.Base(other)
		fmt.Fprintf(&w, "Another run: [%s](%s).\n", name, name)
	}
	if len(r.checks) > 0 {
		fmt.Fprint(&w, "\n| goal | measured | | |\n|---|---|---|---|\n")
	}
	for _, v := range r.checks {
		fmt.Fprint(&w, v)
	}
	return w.String()
}
