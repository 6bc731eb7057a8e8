//go:build ignore

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/tracefs"
)

// arming measures how long it takes from the launch of a tracer until probes in the go
// tool work, and from its being told to end until it has ended. A process of the go tool
// is there, as the kernel has to write the breakpoints into each.
func arming(b *bench, w *bytes.Buffer) error {
	hold, err := b.holdGoTool()
	if err != nil {
		return err
	}
	defer hold()
	names, all, err := b.functionsOf(goTool())
	if err != nil {
		return err
	}
	const (
		in       = "armed, from launch"
		out      = "disarmed, to the tracer's end"
		everyone = "*"
	)
	g := newGrid("", "", func(_, _ string, v float64) string { return nanoseconds(v) })
	measure := func(row string, run func() (stamp, error)) error {
		if g.refused[[2]string{row, in}] != "" {
			return nil
		}
		s, err := run()
		if err != nil {
			if b.ctx.Err() != nil {
				return b.ctx.Err()
			}
			g.refuse(row, in, fmt.Errorf("%s: %w", row, err))
			return nil
		}
		g.add(row, in, s.arming())
		g.add(row, out, s.disarming())
		return nil
	}
	target := []string{b.path("hot"), "-n", "1"}
	file, unmap, err := b.nops(all)
	if err != nil {
		return err
	}
	defer unmap()
	fs, err := tracefs.Find()
	if err != nil {
		return err
	}
	kernel := fmt.Sprintf("the kernel's part of count: %d sites of a file of NOPs", all)
	goRow := func(tool, command string, n int) string {
		if n == 0 {
			return fmt.Sprintf("%s %s, all %d", tool, command, all)
		}
		return fmt.Sprintf("%s %s, %d", tool, command, n)
	}
	for round := range b.rounds {
		for _, n := range pick(b, []int{1, 200, 2000, 0}, []int{1, 200}) {
			for _, command := range []string{"count", "probe", "probe --max-rate 0"} {
				words := strings.Fields(command)
				if len(words) > 1 && (n > 0 || round > 0) {
					continue // functions that are named are never counted first; all may take minutes
				}
				functions := []string{everyone}
				if n > 0 {
					functions = names[:min(n, len(names))]
				}
				err := measure(goRow("ftgo", command, n), func() (stamp, error) {
					return b.underFtgo(2*time.Minute, append(append(words, goTool()), functions...), target...)
				})
				if err != nil {
					return err
				}
			}
		}
		if !b.quick {
			arm, disarm, err := armNops(b.ctx, fs, file, all, tracefs.SitesPerEvent(all))
			if err != nil {
				return err
			}
			g.add(kernel, in, float64(arm))
			g.add(kernel, out, float64(disarm))
		}
		for _, n := range pick(b, []int{1, 200}, []int{1}) {
			if n > 1 && round > 0 && b.rounds > 1 {
				continue // once: it takes half a minute
			}
			if b.bpftrace != "" {
				sites := make([]string, n)
				for i := range sites {
					sites[i] = fmt.Sprintf("uprobe:%s:%q", goTool(), names[i])
				}
				err := measure(goRow("bpftrace", "count()", n), func() (stamp, error) {
					return b.underBpftrace(3*time.Minute, strings.Join(sites, ",")+" { @ = count(); }", target...)
				})
				if err != nil {
					return err
				}
			}
			if b.perf != "" {
				err := measure(goRow("perf", "probe + record", n), func() (stamp, error) {
					return b.underPerf(2*time.Minute, perfRecord, goTool(), names[:n], target...)
				})
				if err != nil {
					return err
				}
			}
		}
	}
	fmt.Fprintf(w, "Functions of the `go` tool, of which a process is running.\n\n")
	g.write(w)
	for _, command := range []string{"count", "probe"} {
		row := goRow("ftgo", command, 0)
		if g.refused[[2]string{row, in}] != "" {
			return fmt.Errorf("%s", g.refused[[2]string{row, in}])
		}
		if g.median(row, in) > 0 {
			b.atMost(row+" functions of go: armed", g.median(row, in), 1.5e9, nanoseconds)
			b.atMost(row+" functions of go: disarmed", g.median(row, out), 0.2e9, nanoseconds)
		}
	}
	return nil
}

// plainName is a name that no tracer minds.
var plainName = regexp.MustCompile(`^[a-z]+\.[A-Za-z]\w*$`)

// functionsOf lists functions of a program that can be probed and whose names are simple,
// and counts all functions.
func (b *bench) functionsOf(binary string) (names []string, all int, err error) {
	o, err := b.run(time.Minute, b.ftgo, "list", "-o", "json", binary, "*")
	if err != nil {
		return nil, 0, err
	}
	for line := range strings.Lines(o.stdout) {
		var f struct{ Type, Function, Entry string }
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			return nil, 0, fmt.Errorf("read listing %q: %w", line, err)
		}
		if f.Type != "listing" || f.Entry == "none" {
			continue
		}
		all++
		if plainName.MatchString(f.Function) && f.Entry == "after check" {
			names = append(names, f.Function)
		}
	}
	return names, all, nil
}

// holdGoTool starts a go tool that waits for a file's contents until release.
func (b *bench) holdGoTool() (release func(), err error) {
	fifo := b.path("go.mod.fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		return nil, &os.PathError{Op: "make FIFO", Path: fifo, Err: err}
	}
	c, err := b.start(time.Hour, goTool(), "mod", "edit", "-print", fifo)
	if err != nil {
		return nil, err
	}
	time.Sleep(100 * time.Millisecond) // until it has got there
	return func() {
		_ = c.signal(syscall.SIGKILL)
		_, _ = c.wait()
	}, nil
}
