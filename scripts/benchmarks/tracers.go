//go:build ignore

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// stamp is what a run of a target under a tracer took.
type stamp struct {
	Calls, NS       float64
	Begin, End      int64 // of the calls, nanoseconds since 1970
	launched, ended time.Time
}

// perCall is in nanoseconds.
func (s stamp) perCall() float64 { return s.NS / s.Calls }

// arming is the time from the launch of the tracer to the first call, disarming that from
// the last call to the tracer's end; both in nanoseconds.
func (s stamp) arming() float64    { return float64(s.Begin - s.launched.UnixNano()) }
func (s stamp) disarming() float64 { return float64(s.ended.UnixNano() - s.End) }

// traced runs a tracer that runs a target, which prints its times as a JSON object in a
// line of its own.
func (b *bench) traced(limit time.Duration, name string, args ...string) (stamp, error) {
	o, err := b.run(limit, name, args...)
	if err != nil {
		return stamp{}, err
	}
	for line := range strings.Lines(o.stdout) {
		s := stamp{launched: o.launched, ended: o.ended}
		if at := strings.Index(line, `{"`); at >= 0 && json.Unmarshal([]byte(line[at:]), &s) == nil && s.NS > 0 {
			return s, nil
		}
	}
	return stamp{}, fmt.Errorf("run %s: the target has not told its times: %q%s", name, o.stdout[:min(len(o.stdout), 200)], lastLines(o.stderr))
}

// underFtgo runs a target with what ftgo writes going to a file of no interest.
func (b *bench) underFtgo(limit time.Duration, args []string, target ...string) (stamp, error) {
	line := append([]string{args[0], "-o", "json", "-w", b.path("data")}, args[1:]...)
	return b.traced(limit, b.ftgo, append(append(line, "--"), target...)...)
}

func (b *bench) underBpftrace(limit time.Duration, script string, target ...string) (stamp, error) {
	return b.traced(limit, b.bpftrace, "-o", b.path("data"), "-e", script, "-c", strings.Join(target, " "))
}

func (b *bench) underDelve(limit time.Duration, pattern string, target ...string) (stamp, error) {
	args := []string{"trace", "--exec", target[0], pattern, "--"}
	return b.traced(limit, b.dlv, append(args, target[1:]...)...)
}

// place is an instruction of a function.
type place struct {
	inside uint64 // bytes from the function's start
	perf   string // FUNC+OFFSET, as perf wants it
}

// places asks ftgo where it would probe a function: where calls begin and where they end.
func (b *bench) places(binary, function string) (entries, returns []place, err error) {
	listed, err := b.run(time.Minute, b.ftgo, "list", "-o", "json", binary, function)
	if err != nil {
		return nil, nil, err
	}
	var f struct {
		Offset string
		Size   uint64
	}
	if err := json.Unmarshal([]byte(listed.stdout), &f); err != nil {
		return nil, nil, fmt.Errorf("read listing of %s: %w", function, err)
	}
	var start uint64
	if _, err := fmt.Sscanf(f.Offset, "0x%x", &start); err != nil {
		return nil, nil, fmt.Errorf("read offset %q of %s: %w", f.Offset, function, err)
	}
	defined, err := b.run(time.Minute, b.ftgo, "probe", "--dry-run", binary, function)
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(defined.stdout) {
		_, event, _ := strings.Cut(line, "/")
		colon := strings.LastIndex(strings.Split(line, " ")[1], ":0x")
		var offset uint64
		if _, err := fmt.Sscanf(strings.Split(line, " ")[1][colon+1:], "0x%x", &offset); err != nil {
			return nil, nil, fmt.Errorf("read definition %q: %w", line, err)
		}
		if offset-start >= f.Size {
			continue // tells of goroutines' ends, or of recovered panics
		}
		p := place{inside: offset - start, perf: function}
		if p.inside > 0 {
			p.perf += fmt.Sprintf("+%d", p.inside)
		}
		switch event[0] {
		case 'e':
			entries = append(entries, p)
		case 'r':
			returns = append(returns, p)
		}
	}
	return entries, returns, nil
}

// perfEvents is how this process's definitions in the kernel are named.
func perfEvents() string { return fmt.Sprintf("ftgobench%d", os.Getpid()) }

// definePerf defines probes with perf probe: one event for each definition, "PLACE ARGS".
// The events' pattern is for -e. remove takes them out; it must be called when nobody uses
// them any more.
func (b *bench) definePerf(limit time.Duration, binary string, definitions ...string) (pattern string, remove func() error, err error) {
	group := "probe_" + strings.FieldsFunc(filepath.Base(binary), func(r rune) bool { return r == '.' || r == '-' })[0]
	pattern = group + ":" + perfEvents() + "*"
	remove = func() error {
		late := *b
		late.ctx = context.WithoutCancel(b.ctx) // after Ctrl-C, too
		_, err := late.run(time.Minute, late.perf, "probe", "-q", "-d", pattern)
		return err
	}
	args := []string{"probe", "-q", "-x", binary}
	for i, d := range definitions {
		args = append(args, "--add", fmt.Sprintf("%s_%d=%s", perfEvents(), i, d))
	}
	if _, err = b.run(limit, b.perf, args...); err != nil {
		_ = remove() // some may be defined
		return "", nil, err
	}
	return pattern, remove, nil
}

// underPerf runs a target while perf does something with events that it has defined.
func (b *bench) underPerf(limit time.Duration, args []string, binary string, definitions []string, target ...string) (s stamp, err error) {
	began := time.Now()
	pattern, remove, err := b.definePerf(limit, binary, definitions...)
	if err != nil {
		return stamp{}, err
	}
	line := append([]string{}, args...)
	line = append(line, "-e", pattern, "-o", b.path("perf.data"), "-a", "--")
	s, err = b.traced(limit, b.perf, append(line, target...)...)
	if rerr := remove(); err == nil {
		err = rerr
	}
	s.launched, s.ended = began, time.Now()
	return s, err
}

var (
	perfRecord = []string{"record", "-q", "-B", "-N", "-m", "16M"}
	perfStat   = []string{"stat"}
)

// underTraceCmd runs a target while trace-cmd records events that perf has defined, in an
// instance of its own: it would change the tracing of everybody else.
func (b *bench) underTraceCmd(limit time.Duration, binary string, definitions []string, target ...string) (s stamp, err error) {
	pattern, remove, err := b.definePerf(limit, binary, definitions...)
	if err != nil {
		return stamp{}, err
	}
	instance := perfEvents()
	line := []string{"record", "-q", "-d", "-B", instance, "-b", "16384", "-e", pattern, "-o", b.path("trace.dat"), "--"}
	s, err = b.traced(limit, b.traceCmd, append(line, target...)...)
	// It leaves its instance when it fails.
	_ = os.Remove("/sys/kernel/tracing/instances/" + instance)
	if rerr := remove(); err == nil {
		err = rerr
	}
	return s, err
}
