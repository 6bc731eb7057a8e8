//go:build ignore

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// peers are the other tracers: paths, "" for those that are missing.
type peers struct {
	bpftrace, perf, traceCmd, dlv string
	versions                      []string // one line for each, or why it is left out
}

func (b *bench) findPeers() {
	find := func(name string, version ...string) string {
		path, err := exec.LookPath(name)
		if err != nil {
			b.versions = append(b.versions, name+": not installed, left out")
			return ""
		}
		o, err := b.run(10*time.Second, path, version...)
		line, _, _ := strings.Cut(strings.TrimSpace(o.stdout), "\n")
		if !strings.HasPrefix(line, name) { // trace-cmd says it, and exits with 255
			b.versions = append(b.versions, fmt.Sprintf("%s: left out: %v", name, err))
			return ""
		}
		b.versions = append(b.versions, line)
		return path
	}
	b.bpftrace = find("bpftrace", "--version")
	b.perf = find("perf", "--version")
	b.traceCmd = find("trace-cmd", "--version")
	b.findDelve()
}

// findDelve installs delve, unless there is no time for that.
func (b *bench) findDelve() {
	path, err := exec.LookPath("dlv")
	if err != nil && b.quick {
		b.versions = append(b.versions, "delve: not installed, left out")
		return
	}
	if err != nil {
		path = b.path("dlv")
		install := []string{"GOBIN=" + b.dir, "go", "install", "github.com/go-delve/delve/cmd/dlv@latest"}
		if _, err := b.run(5*time.Minute, "env", install...); err != nil {
			b.versions = append(b.versions, fmt.Sprintf("delve: left out: %v", err))
			return
		}
	}
	o, err := b.run(10*time.Second, path, "version")
	if _, rest, ok := strings.Cut(o.stdout, "Version: "); ok && err == nil {
		b.dlv = path
		b.versions = append(b.versions, "delve "+strings.Fields(rest)[0])
	}
}

// preface says where it was measured, and what is to be better.
func (b *bench) preface() []byte {
	var w bytes.Buffer
	fmt.Fprintf(&w, "# Benchmarks\n\nMade by `scripts/bench`: medians of %d rounds, in each of which the tools had their turn one after the\n"+
		"other on the same programs; what takes minutes was done once. In parentheses: how many times ftgo's. Costs of a hit depend on the machine, a\n"+
		"virtual one above all: compare, don't quote. Times in seconds say as much of the machine as of ftgo.\n\n", b.rounds)
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	fmt.Fprintf(&w, "Linux %s, %d CPUs (%s), %s.\n", strings.TrimSpace(string(release)), runtime.NumCPU(), cpuModel(), runtime.Version())
	fmt.Fprintf(&w, "Peers: %s.\n", strings.Join(b.versions, "; "))
	others, _ := filepath.Glob("docs/benchmarks-*.md")
	for _, other := range others {
		name := filepath.Base(other)
		fmt.Fprintf(&w, "Another run: [%s](%s).\n", name, name)
	}
	if len(b.checks) > 0 {
		fmt.Fprint(&w, "\n| goal | measured | | |\n|---|---|---|---|\n")
	}
	for _, c := range b.checks {
		word, verdict := "at most", "met"
		if c.atLeast {
			word = "at least"
		}
		if !c.ok() {
			verdict = "**missed**"
		}
		fmt.Fprintf(&w, "| %s | %s | %s %s | %s |\n", c.what, c.format(c.got), word, c.format(c.limit), verdict)
	}
	return w.Bytes()
}

func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, model, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(model)
		}
	}
	return "unknown"
}

// goTool is the executable that stands for a middling program: 15 MB.
func goTool() string { return filepath.Join(runtime.GOROOT(), "bin", "go") }
