package trials

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// floods are ways to read the hits of a program that calls main.framed without a pause. text and pages are how much user
// time an event may take ftgo, in ns; 0 is any.
var floods = []struct {
	name, ftgo  string
	text, pages float64
}{
	{"begins of calls", "count", 150, 60},
	{"begins and ends, with goroutine and stack", "probe", 250, 120},
	{"begins, two arguments, written as JSON", "trace --entries", 0, 0},
}

// reading measures how many events a second a reader takes when there are more than that,
// and what an event costs the reader.
func (b *bench) reading() {
	const perSecond, lost, user, system = "events read/s", "lost", "user ns/event", "system ns/event"
	g := newGrid("", "", func(col string, v float64) string {
		if col == lost {
			return fmt.Sprintf("%.1f%%", v)
		}
		return whole(v)
	})
	window := pick(20*time.Second, 500*time.Millisecond)
	var tasks []task
	var goals []func()
	reader := func(row string, ours bool, run func(pid int) (o outcome, read, missed float64, err error)) {
		tasks = append(tasks, task{row: row, col: perSecond, ours: ours, run: func() error {
			target := command(b, childLimit, b.hot, "-for", "1h")
			check(b, target.start())
			o, read, missed, err := run(target.Process.Pid)
			if target.kill(); err == nil && read == 0 {
				err = errors.New("no event was read")
			}
			if err != nil {
				return fmt.Errorf("%s: %w", row, err)
			}
			g.add(row, perSecond, read/window.Seconds())
			g.add(row, lost, 100*missed/(read+missed))
			g.add(row, user, float64(o.user)/read)
			g.add(row, system, float64(o.sys)/read)
			return nil
		}})
	}
	for _, f := range floods {
		for _, how := range []string{"", "raw"} {
			row := f.name + ": ftgo " + f.ftgo
			limit := f.text
			if how == "raw" {
				row, limit = row+", raw pages", f.pages
			}
			reader(row, true, func(pid int) (o outcome, read, missed float64, err error) {
				x := newTracer(b, childLimit, b.ftgo, append(strings.Fields(f.ftgo), "--budget", "0", "-d", window.String(), "-p", strconv.Itoa(pid), "main.framed")...)
				x.Env = append(os.Environ(), "FTGO_READER="+how)
				check(b, x.begin())
				o, err = x.end()
				return o, float64(x.summary.Delivered), float64(x.summary.Lost), err
			})
			if limit > 0 {
				goals = append(goals, func() { b.atMost(row+", user CPU per event", g.median(row, user), limit, nanoseconds) })
			}
		}
	}
	if b.perf != "" {
		reader(floods[0].name+": perf record", false, func(int) (o outcome, read, missed float64, err error) {
			data := b.path("perf.data")
			entry, _ := b.ends(b.hot, "main.framed")
			pattern, remove, err := b.definePerf(b.hot, fmt.Sprintf("main.framed+%d", entry))
			if err != nil {
				return o, 0, 0, err
			}
			o, err = b.run(b.perf, "record", "-a", "-B", "-N", "-m", "16M", "-e", pattern, "-o", data, "--", "sleep", fmt.Sprint(window.Seconds()))
			if remove(&err); err != nil {
				return o, 0, 0, err
			}
			stats, err := b.run(b.perf, "report", "--stats", "-i", data)
			return o, sumOf(`SAMPLE events: +(\d+)`, stats.stdout), 0, err
		})
	}
	if b.bpftrace != "" {
		reader(floods[2].name+": bpftrace printf()", false, func(int) (o outcome, read, missed float64, err error) {
			data := b.path("lines")
			// Not for the time of a command: newer versions trace that alone.
			script := fmt.Sprintf(`uprobe:%s:"main.framed" { printf("%%d %%d\n", reg("ax"), reg("bx")); } interval:ms:%d { exit(); }`,
				b.hot, window.Milliseconds())
			o, err = b.run(b.bpftrace, "-o", data, "-e", script)
			if err != nil {
				return o, 0, 0, err
			}
			text, err := os.ReadFile(data)
			return o, float64(bytes.Count(text, []byte("\n"))), sumOf(`Lost (\d+) events`, string(text)+o.stderr), err
		})
	}
	b.turns(g, tasks)
	fmt.Fprint(&b.body, "The program hits a probe without a pause on one CPU. Lost events show that the reader was always busy, and that it can't read\n"+
		"more per second. The figures are for whole runs, including the CPU time of their start.\n\n")
	g.write(&b.body)
	for _, goal := range goals {
		goal()
	}
}

// sumOf adds up the numbers that a pattern finds.
func sumOf(pattern, text string) (sum float64) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseFloat(m[1], 64)
		sum += n
	}
	return sum
}
