//go:build ignore

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/internal/uprobe"
)

// flood is a setting in which events are read: a program that calls main.framed without a
// pause, and what is recorded of that.
type flood struct {
	name string
	ftgo []string    // command and flags
	mode uprobe.Mode // of a session for cat that is defined alike
	cat  bool
}

var floods = []flood{
	{"begins of calls", []string{"count"}, uprobe.CountRecorded, true},
	{"begins and ends, with goroutine and stack", []string{"probe"}, uprobe.Latency, true},
	{"begins, two arguments, written as JSON", []string{"trace", "--entries"}, 0, false},
}

// row names what a tool does with the flood.
func (f flood) row(tool ...string) string { return f.name + ": " + strings.Join(tool, " ") }

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
func reading(b *bench, w *bytes.Buffer) error {
	g := newGrid("", "", func(_, col string, v float64) string {
		if col == lost {
			return fmt.Sprintf("%.1f%%", v)
		}
		return fmt.Sprintf("%.0f", v)
	})
	type reader struct {
		row  string
		run  func() (flow, error)
		ours bool // must not fail
	}
	var readers []reader
	choices, err := b.readerFlags()
	if err != nil {
		return err
	}
	for _, f := range floods {
		if f.cat {
			readers = append(readers, reader{f.row("cat"), func() (flow, error) { return b.floodCat(f) }, true})
		}
		for _, choice := range choices {
			args := append(f.ftgo[:len(f.ftgo):len(f.ftgo)], choice...)
			row := f.row(append([]string{"ftgo"}, args...)...)
			readers = append(readers, reader{row, func() (flow, error) { return b.floodFtgo(args, b.window()) }, true})
		}
	}
	if b.perf != "" {
		readers = append(readers, reader{floods[0].row("perf record"), b.floodPerf, false})
	}
	if b.bpftrace != "" {
		readers = append(readers, reader{floods[2].row("bpftrace printf()"), b.floodBpftrace, false})
	}
	for range b.rounds {
		for _, r := range readers {
			if g.refused[g.at(r.row, perSecond)] != "" {
				continue
			}
			f, err := r.run()
			if b.ctx.Err() != nil {
				return b.ctx.Err()
			}
			if err == nil && f.read == 0 {
				err = fmt.Errorf("no event was read")
			}
			switch {
			case err != nil && r.ours:
				return fmt.Errorf("%s: %w", r.row, err)
			case err != nil:
				g.refuse(r.row, perSecond, fmt.Errorf("%s: %w", r.row, err))
				continue
			}
			g.add(r.row, perSecond, f.read/f.seconds)
			g.add(r.row, lost, 100*f.lost/(f.read+f.lost))
			g.add(r.row, user, f.user/f.read)
			g.add(r.row, system, f.sys/f.read)
		}
	}
	fmt.Fprint(w, "Of a program that hits a probe without a pause on one CPU. What is lost says that the reader was always busy: it\n"+
		"reads so many without loss. cat reads the trace_pipe of an instance that ftgo's own packages have set up, to /dev/null.\n"+
		"perf and bpftrace: of their whole runs, with the CPU time that starting them takes.\n\n")
	g.write(w)
	for _, choice := range choices {
		limit := 150.0
		if len(choice) > 0 {
			limit = 60
		}
		for i, f := range floods[:2] {
			ftgo := f.row(append(append([]string{"ftgo"}, f.ftgo...), choice...)...)
			// Without more events than cat can read the rate is the program's.
			if of := g.median(f.row("cat"), perSecond); i == 0 && of > 0 && len(choice) == 0 {
				b.checks = append(b.checks, check{what: ftgo + ", events/s ÷ cat's", got: g.median(ftgo, perSecond) / of, limit: 0.9, atLeast: true, format: ratioText})
			}
			b.atMost(ftgo+", user CPU per event", g.median(ftgo, user), limit, nanoseconds)
		}
		if len(choice) > 0 {
			if err := b.endure(w, append(floods[0].ftgo[:1:1], choice...)); err != nil {
				return err
			}
		}
	}
	return nil
}

// readerFlags are the flags by which ftgo's readers are chosen; nil is for the text of
// trace_pipe.
func (b *bench) readerFlags() ([][]string, error) {
	help, err := b.run(childLimit, b.ftgo, "probe", "-h")
	if strings.Contains(help.stdout, "--reader") {
		return [][]string{nil, {"--reader", "raw"}}, err
	}
	return [][]string{nil}, err
}

// endure has a flood read for a minute.
func (b *bench) endure(w *bytes.Buffer, args []string) error {
	f, err := b.floodFtgo(args, pick(b, time.Minute, time.Second))
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nftgo %s for %.0f s: %.0f events a second, %.0f lost, memory %+.1f MB.\n",
		strings.Join(args, " "), f.seconds, f.read/f.seconds, f.lost, f.rss/(1<<20))
	number := func(v float64) string { return fmt.Sprintf("%.0f", v) }
	b.atMost("one CPU's flood, ftgo "+strings.Join(args, " ")+": events lost", f.lost, 0, number)
	b.atMost("memory grown meanwhile", f.rss, 8<<20, megabytes)
	return nil
}

// window is how long events are counted, after a while to get going: CPU times come in
// ticks of 10 ms, and one that reads 100,000 events a second uses few.
func (b *bench) window() time.Duration { return pick(b, 8*time.Second, 500*time.Millisecond) }

// settle is how long it takes until a ring buffer is full, in a full run.
func (b *bench) settle() time.Duration { return pick(b, time.Second, 300*time.Millisecond) }

// flooding runs the target while something is measured.
func (b *bench) flooding(measure func(pid int) (flow, error)) (flow, error) {
	target, err := b.start(2*time.Minute, b.path("hot"), "-for", "1h")
	if err != nil {
		return flow{}, err
	}
	f, err := measure(target.cmd.Process.Pid)
	_ = target.signal(syscall.SIGKILL)
	_, _ = target.wait()
	return f, err
}

func (b *bench) floodFtgo(args []string, window time.Duration) (flow, error) {
	return b.flooding(func(pid int) (flow, error) {
		args := append(args[:len(args):len(args)], "-o", "json", "-w", os.DevNull, "-p", strconv.Itoa(pid), "main.framed")
		c, err := b.start(2*time.Minute, b.ftgo, args...)
		if err != nil {
			return flow{}, err
		}
		var measured flow
		if err = c.says("probing", 20*time.Second); err == nil {
			instance := fmt.Sprintf("/sys/kernel/tracing/instances/ftgo_%d_*", c.cmd.Process.Pid)
			measured, err = b.sampled(c.cmd.Process.Pid, instance, window)
		}
		if _, ierr := c.interrupt(); err == nil {
			err = ierr
		}
		return measured, err
	})
}

// sampled counts what is read in an instance and the CPU time of its reader.
func (b *bench) sampled(pid int, instance string, window time.Duration) (flow, error) {
	time.Sleep(b.settle())
	before, err := sample(pid, instance)
	if err != nil {
		return flow{}, err
	}
	begun := time.Now()
	time.Sleep(window)
	after, err := sample(pid, instance)
	return flow{
		seconds: time.Since(begun).Seconds(),
		read:    after.read - before.read, lost: after.lost - before.lost,
		user: after.user - before.user, sys: after.sys - before.sys, rss: after.rss - before.rss,
	}, err
}

var counters = regexp.MustCompile(`(?m)^(read events|overrun|dropped events): (\d+)$`)

// sample reads the ring buffers' counters and the process's times so far.
func sample(pid int, instance string) (f flow, err error) {
	files, err := filepath.Glob(instance + "/per_cpu/cpu*/stats")
	if err != nil || len(files) == 0 {
		return f, fmt.Errorf("find instance %s: no counters", instance)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return f, err
		}
		for _, m := range counters.FindAllSubmatch(text, -1) {
			n, _ := strconv.ParseFloat(string(m[2]), 64)
			if string(m[1]) == "read events" {
				f.read += n
			} else {
				f.lost += n
			}
		}
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return f, err
	}
	// The name, in parentheses, may hold anything; utime, stime and rss are fields 14, 15
	// and 24, in ticks of 10 ms and in pages (proc(5)).
	words := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const tick = 1e7
	f.user, _ = strconv.ParseFloat(words[11], 64)
	f.sys, _ = strconv.ParseFloat(words[12], 64)
	pages, _ := strconv.ParseFloat(words[21], 64)
	f.user, f.sys, f.rss = f.user*tick, f.sys*tick, pages*float64(os.Getpagesize())
	return f, nil
}

var perfSamples = regexp.MustCompile(`SAMPLE events: +(\d+)`)

func (b *bench) floodPerf() (flow, error) {
	return b.flooding(func(int) (f flow, err error) {
		hot, data := b.path("hot"), b.path("perf.data")
		entries, _, err := b.places(hot, "main.framed")
		if err != nil {
			return f, err
		}
		pattern, remove, err := b.definePerf(childLimit, hot, entries[0].perf)
		if err != nil {
			return f, err
		}
		o, err := b.run(childLimit, b.perf, "record", "-a", "-B", "-N", "-m", "16M", "-e", pattern, "-o", data,
			"--", "sleep", fmt.Sprint(b.window().Seconds()))
		if rerr := remove(); err == nil {
			err = rerr
		}
		if err != nil {
			return f, err
		}
		stats, err := b.run(childLimit, b.perf, "report", "--stats", "-i", data)
		m := perfSamples.FindStringSubmatch(stats.stdout)
		if err != nil || m == nil {
			return f, errors.Join(err, fmt.Errorf("count perf's samples: not in %q", stats.stdout))
		}
		f = flow{seconds: b.window().Seconds(), user: float64(o.user), sys: float64(o.sys)}
		f.read, err = strconv.ParseFloat(m[1], 64)
		return f, errors.Join(err, os.Remove(data))
	})
}

var bpftraceLost = regexp.MustCompile(`Lost (\d+) events`)

func (b *bench) floodBpftrace() (flow, error) {
	return b.flooding(func(int) (f flow, err error) {
		data := b.path("lines")
		// Not for the time of a command: newer versions trace that alone.
		script := fmt.Sprintf(`uprobe:%s:"main.framed" { printf("%%d %%d\n", reg("ax"), reg("bx")); } interval:ms:%d { exit(); }`,
			b.path("hot"), b.window().Milliseconds())
		o, err := b.run(childLimit, b.bpftrace, "-o", data, "-e", script)
		if err != nil {
			return f, err
		}
		text, err := os.ReadFile(data)
		if err != nil {
			return f, err
		}
		f = flow{seconds: b.window().Seconds(), user: float64(o.user), sys: float64(o.sys), read: float64(bytes.Count(text, []byte("\n")))}
		for _, m := range bpftraceLost.FindAllSubmatch(append(text, o.stderr...), -1) {
			n, _ := strconv.ParseFloat(string(m[1]), 64)
			f.lost += n
		}
		return f, os.Remove(data)
	})
}
