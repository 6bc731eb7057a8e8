package trials

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ftgo/ftgo/internal/uprobe"
)

// flood is a setting in which events are read: a program that calls main.framed without a
// pause, and what is recorded of that.
type flood struct {
	name string
	ftgo []string    // command and flags
	mode uprobe.Mode // of a session for cat that is defined alike
	cat  bool
	// text and pages are how much user time an event may take, in ns; 0 is any.
	text, pages float64
}

var floods = []flood{
	{"begins of calls", []string{"count"}, uprobe.CountRecorded, true, 150, 60},
	{"begins and ends, with goroutine and stack", []string{"probe"}, uprobe.Latency, true, 250, 120},
	{"begins, two arguments, written as JSON", []string{"trace", "--entries"}, 0, false, 0, 0},
}

// row names what a tool does with the flood.
func (f flood) row(tool ...string) string { return f.name + ": " + strings.Join(tool, " ") }

// told is how ftgo was started, and what it has read: the text of trace_pipe, or raw pages.
func told(args []string, raw bool) string {
	text := strings.Join(args, " ")
	if raw {
		text += ", raw pages"
	}
	return text
}

// flow is what was read in a while.
type flow struct {
	seconds, read, lost float64 // events
	user, sys           float64 // the reader's, ns
	rss                 float64 // what the reader's memory has grown, bytes
}

const (
	perSecond = "events read/s"
	lost      = "lost"
	user      = "user ns/event"
	system    = "system ns/event"
)

// reading measures how many events a second a reader takes when there are more than that,
// and what an event costs the reader. Figures of ftgo and of cat are taken while they
// run, from the kernel's counters of their instances.
func (b *bench) reading() {
	g := newGrid("", "", func(_, col string, v float64) string {
		if col == lost {
			return fmt.Sprintf("%.1f%%", v)
		}
		return whole(v)
	})
	var tasks []task
	reader := func(row string, ours bool, run func(pid int) (flow, error)) {
		tasks = append(tasks, task{row: row, col: perSecond, ours: ours, run: func() error {
			target := b.flood()
			f, err := run(target.Process.Pid)
			if target.kill(); err == nil && f.read == 0 {
				err = errors.New("no event was read")
			}
			if err != nil {
				return fmt.Errorf("%s: %w", row, err)
			}
			g.add(row, perSecond, f.read/f.seconds)
			g.add(row, lost, 100*f.lost/(f.read+f.lost))
			g.add(row, user, f.user/f.read)
			g.add(row, system, f.sys/f.read)
			return nil
		}})
	}
	for _, f := range floods {
		if f.cat {
			plan := b.plan(b.hot, "main.framed", f.mode)
			reader(f.row("cat"), true, func(int) (flow, error) { return b.floodCat(plan) })
		}
		for _, raw := range []bool{false, true} {
			reader(f.row("ftgo", told(f.ftgo, raw)), true, func(pid int) (flow, error) { return b.floodFtgo(pid, f.ftgo, raw, window()) })
		}
	}
	if b.perf != "" {
		reader(floods[0].row("perf record"), false, b.floodPerf)
	}
	if b.bpftrace != "" {
		reader(floods[2].row("bpftrace printf()"), false, b.floodBpftrace)
	}
	b.turns(g, tasks)
	fmt.Fprint(&b.body, "The program hits a probe without a pause on one CPU. Lost events show that the reader was always busy, and that it can't read\n"+
		"more per second. cat copies the trace_pipe of an instance to /dev/null; ftgo's own packages set up the instance. The figures of\n"+
		"perf and bpftrace are for their whole runs, including the CPU time of their start.\n\n")
	g.write(&b.body)
	for _, raw := range []bool{false, true} {
		for i, f := range floods[:2] {
			limit := f.text
			if raw {
				limit = f.pages
			}
			ftgo := f.row("ftgo", told(f.ftgo, raw))
			// Without more events than cat can read the rate is the program's.
			if of := g.median(f.row("cat"), perSecond); i == 0 && of > 0 && !raw {
				b.checks = append(b.checks, verdict{what: ftgo + ", events/s ÷ cat's", got: g.median(ftgo, perSecond) / of, limit: 0.9, atLeast: true, format: ratioText})
			}
			b.atMost(ftgo+", user CPU per event", g.median(ftgo, user), limit, nanoseconds)
		}
	}
	b.endure(floods[0].ftgo)
}
