package trials

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// endure has a flood read for a minute.
func (b *bench) endure(args []string) {
	target := b.flood()
	defer target.kill()
	f, err := b.floodFtgo(target.Process.Pid, args, true, pick(time.Minute, time.Second))
	check(b, err)
	fmt.Fprintf(&b.body, "\nftgo %s for %.0f s: %.0f events a second, %.0f lost, memory %+.1f MB.\n",
		told(args, true), f.seconds, f.read/f.seconds, f.lost, f.rss/(1<<20))
	b.atMost("one CPU's flood, ftgo "+told(args, true)+": events lost", f.lost, 0, whole)
	b.atMost("memory grown meanwhile", f.rss, 8<<20, megabytes)
}

// flood starts a program that calls main.framed without a pause.
func (b *bench) flood() *child {
	target := command(b, childLimit, b.hot, "-for", "1h")
	check(b, target.start())
	return target
}

// window is how long events are counted, after a while to get going: CPU times come in
// ticks of 10 ms, and one that reads 100,000 events a second uses few.
func window() time.Duration { return pick(8*time.Second, 500*time.Millisecond) }

// settle is how long it takes until a ring buffer is full, in a full run.
func settle() time.Duration { return pick(time.Second, 300*time.Millisecond) }

// floodFtgo measures ftgo, which writes nowhere.
func (b *bench) floodFtgo(pid int, args []string, raw bool, window time.Duration) (measured flow, err error) {
	args = append(args[:len(args):len(args)], "-o", "json", "-w", os.DevNull, "--budget", "0", "-p", strconv.Itoa(pid), "main.framed")
	c := command(b, childLimit, b.ftgo, args...)
	if raw {
		c.Env = append(os.Environ(), "FTGO_READER=raw")
	}
	if err := c.start(); err != nil {
		return measured, err
	}
	if err = c.says("probing", 20*time.Second); err == nil {
		instance := filepath.Join(b.fs.Dir(), "instances", fmt.Sprintf("ftgo_%d_*", c.Process.Pid))
		measured, err = sampled(c.Process.Pid, instance, window)
	}
	_, ierr := c.interrupt()
	return measured, errors.Join(err, ierr)
}

// floodCat measures cat as the reader of a session that is set up as ftgo sets up its own. The session
// is this process's, which lends cat its trace_pipe: the kernel lets it be opened once only.
func (b *bench) floodCat(plan *uprobe.Plan) (measured flow, err error) {
	session, err := tracefs.Start(interrupted, b.fs, plan.Target(), uprobe.TraceEvents(plan.Events), tracefs.Options{BufferKB: 16 << 10})
	if err != nil {
		return measured, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	instance := filepath.Join(b.fs.Dir(), "instances", session.Name)
	pipe, err := opened(filepath.Join(instance, "trace_pipe"))
	if err != nil {
		return measured, err
	}
	defer pipe.Close()
	// cat waits for each event if it has read all, and the program pays for waking it.
	// It starts with a full buffer, to be measured at its best.
	time.Sleep(settle())
	cat := command(b, childLimit, "cat")
	cat.Stdin, cat.Stdout = pipe, nil
	if err := cat.start(); err != nil {
		return measured, err
	}
	defer cat.kill()
	return sampled(cat.Process.Pid, instance, window())
}

// opened duplicates a file that this process has open, for a child that waits when it reads.
func opened(name string) (*os.File, error) {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, err
	}
	for _, d := range fds {
		if link, err := os.Readlink("/proc/self/fd/" + d.Name()); err != nil || link != name {
			continue
		}
		fd, err := strconv.Atoi(d.Name())
		if err != nil {
			return nil, err
		}
		if fd, err = syscall.Dup(fd); err != nil {
			return nil, err
		}
		return os.NewFile(uintptr(fd), name), syscall.SetNonblock(fd, false)
	}
	return nil, fmt.Errorf("find %s among open files: not there", name)
}

// sampled counts what is read in an instance and the CPU time of its reader.
func sampled(pid int, instance string, window time.Duration) (flow, error) {
	time.Sleep(settle())
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
			if n := number(m[2]); string(m[1]) == "read events" {
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
	words := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const tick = 1e7
	f.user, f.sys, f.rss = number(words[11])*tick, number(words[12])*tick, number(words[21])*float64(os.Getpagesize())
	return f, nil
}

// number reads digits.
func number(text []byte) float64 {
	n, _ := strconv.ParseFloat(string(text), 64)
	return n
}

var perfSamples = regexp.MustCompile(`SAMPLE events: +(\d+)`)

func (b *bench) floodPerf(int) (f flow, err error) {
	data := b.path("perf.data")
	entry, _ := b.ends(b.hot, "main.framed")
	pattern, remove, err := b.definePerf(b.hot, fmt.Sprintf("main.framed+%d", entry))
	if err != nil {
		return f, err
	}
	o, err := b.run(b.perf, "record", "-a", "-B", "-N", "-m", "16M", "-e", pattern, "-o", data, "--", "sleep", fmt.Sprint(window().Seconds()))
	if remove(&err); err != nil {
		return f, err
	}
	stats, err := b.run(b.perf, "report", "--stats", "-i", data)
	m := perfSamples.FindStringSubmatch(stats.stdout)
	if err != nil || m == nil {
		return f, errors.Join(err, fmt.Errorf("count perf's samples: not in %q", stats.stdout))
	}
	return flow{seconds: window().Seconds(), user: float64(o.user), sys: float64(o.sys), read: number([]byte(m[1]))}, nil
}

var bpftraceLost = regexp.MustCompile(`Lost (\d+) events`)

func (b *bench) floodBpftrace(int) (f flow, err error) {
	data := b.path("lines")
	// Not for the time of a command: newer versions trace that alone.
	script := fmt.Sprintf(`uprobe:%s:"main.framed" { printf("%%d %%d\n", reg("ax"), reg("bx")); } interval:ms:%d { exit(); }`,
		b.hot, window().Milliseconds())
	o, err := b.run(b.bpftrace, "-o", data, "-e", script)
	if err != nil {
		return f, err
	}
	text, err := os.ReadFile(data)
	f = flow{seconds: window().Seconds(), user: float64(o.user), sys: float64(o.sys), read: float64(bytes.Count(text, []byte("\n")))}
	for _, m := range bpftraceLost.FindAllSubmatch(append(text, o.stderr...), -1) {
		f.lost += number(m[1])
	}
	return f, err
}
