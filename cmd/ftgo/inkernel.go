package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// kept is a run of probe --in-kernel: the kernel keeps the histograms.
type kept struct {
	env      *env
	opt      *options
	sel      *target.Target
	plan     *uprobe.HistogramPlan
	program  *program
	session  *tracefs.Histograms
	out      io.Writer
	armed    time.Time
	screen   *render.Screen
	last     []stats.Function
	lastAt   time.Time
	began    bool // a header has been written
	written  bool // somebody writes to the binary
	vanished *vanished
}

// checkInKernel refuses what takes a stream of events.
func checkInKernel(o *options) error {
	switch {
	case o.maxRate.given:
		return cli.Usage("--in-kernel times all calls: not with --max-rate")
	case o.errors:
		return cli.Usage("--in-kernel keeps no results: not with --errors")
	case o.stack > 0:
		return cli.Usage("--in-kernel keeps no stacks: not with --stack, nor with -o folded or pprof")
	case o.sched:
		return cli.Usage("--in-kernel sees no single call: not with --sched")
	case len(o.with) > 0:
		return cli.Usage("--in-kernel sees no single call: not with --with")
	case o.calls > 0:
		return cli.Usage("--in-kernel sees no single call: not with --calls")
	case o.rawLatency:
		return cli.Usage("--in-kernel takes nothing off latencies: --raw-latency goes without saying")
	case o.sized:
		return cli.Usage("--in-kernel streams no events: not with --buffer")
	case o.reader != tracefs.Pipe:
		return cli.Usage("--in-kernel reads no events: not with --reader")
	case o.auto.failing.text != "":
		return cli.Usage("--in-kernel knows percentiles by bounds alone: not with --fail-if")
	case o.fork || o.comm != "" || o.perPID:
		return cli.Usage("--in-kernel does not tell processes apart: not with --fork, --comm or --per-pid")
	case o.auto.wait:
		return cli.Usage("--in-kernel takes a process that is there, or starts one: not with --wait")
	case len(o.pids) > 1 || len(o.pids) == 0 && len(o.program) == 0 && !o.dryRun:
		return cli.Usage("--in-kernel takes one -p PID, or -- PROGRAM: the kernel's histograms do not tell processes apart")
	}
	return nil
}

// inKernel is probe --in-kernel, from the arguments to the last line.
func inKernel(ctx context.Context, e *env, o *options) (err error) {
	if err := checkInKernel(o); err != nil {
		return err
	}
	if err := checkProcesses(o); err != nil {
		return err
	}
	k := &kept{env: e, opt: o}
	if len(o.program) > 0 {
		if k.program, err = o.findProgram(e); err != nil {
			return err
		}
	}
	if k.sel, err = o.resolve(e); err != nil {
		return err
	}
	defer k.sel.Binary.Close()
	if len(k.sel.Sites) > 0 {
		return cli.Usage("--in-kernel takes functions, not instructions like %s", k.sel.Sites[0].Name)
	}
	var fsys *tracefs.FS
	if !o.dryRun {
		if fsys, err = openTracefs(e, o); err != nil {
			return err
		}
		if err := fsys.CheckHistograms(); err != nil {
			return err
		}
		if err := k.sel.Hold(o.force); err != nil {
			return err
		}
	}
	if err := k.makePlan(); err != nil {
		return err
	}
	out, done, err := o.output(e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	k.out = out
	if o.dryRun {
		_, err = io.WriteString(out, k.definitions())
		return err
	}
	if o.verbose {
		fmt.Fprint(e.Stderr, k.definitions())
	}
	if o.format == render.Table && o.interval > 0 && terminal.Is(out) {
		k.screen = newScreen(out)
	}
	lost, err := k.run(ctx, fsys)
	if err != nil {
		return err
	}
	return o.verdict(lost, k.sel, k.written, k.program)
}

func (k *kept) makePlan() (err error) {
	var decoded atomic.Int64
	stop := k.env.Progress(func() string {
		return fmt.Sprintf("decoding functions: %d of %d", decoded.Load(), len(k.sel.Funcs))
	})
	k.plan, err = uprobe.NewHistograms(k.sel.Binary, k.sel.Funcs, &decoded)
	stop()
	if err != nil {
		return err
	}
	if len(k.plan.Funcs) == 0 {
		first := k.plan.Skipped[0]
		return cli.Nothing("%s: can't be probed in the kernel: %v%s", first.Func.Name, first.Reason, andMore(len(k.plan.Skipped)-1))
	}
	return k.opt.checkProbes(k.env, k.plan.Probes(), 0)
}

// definitions are the lines for uprobe_events, for people to read.
func (k *kept) definitions() string {
	var b strings.Builder
	for _, ev := range []tracefs.Event{k.plan.Calls.Entry, k.plan.Calls.Return} {
		for _, l := range ev.Definitions("ftgo", k.opt.binary) {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

// run counts until there is a reason to end, and reports; whatever happens, everything is
// removed.
func (k *kept) run(ctx context.Context, fsys *tracefs.FS) (lost uint64, err error) {
	defer func() { err = errors.Join(err, k.close()) }()
	opt := tracefs.HistogramOptions{OpenCalls: k.env.openCalls}
	if len(k.opt.pids) > 0 {
		opt.PID = k.opt.pids[0]
	}
	k.session, err = tracefs.StartHistograms(ctx, fsys, k.plan.Target(), k.plan.Calls, opt)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return 0, cli.BeforeItBegan(ctx)
		}
		return 0, err
	}
	k.armed = time.Now()
	k.vanished = newVanished([]tracefs.Event{k.plan.Calls.Entry, k.plan.Calls.Return}, k.sel.Binary.Inode())
	k.announce()
	if err := k.opt.auto.ready.tell(); err != nil {
		return 0, err
	}
	if k.program != nil {
		if err := k.program.start(); err != nil {
			return 0, err
		}
	}
	if err := k.wait(ctx); err != nil {
		return 0, err
	}
	k.vanished.notice(k.env, k.opt.pids, k.program, inspection)
	if err := k.session.Stop(); err != nil {
		return 0, err
	}
	seconds := time.Since(k.armed).Seconds()
	reading, err := k.session.Read()
	if err != nil {
		return 0, err
	}
	// The table can wait for the probes to be gone, since who reads it may be slow, but does
	// not depend on it.
	closed := k.close()
	return reading.Lost, errors.Join(k.final(reading, seconds), closed)
}

func (k *kept) announce() {
	k.env.Say("probing %s in %s at %s, in the kernel, %s", cli.Plural(len(k.plan.Funcs), "function"), k.opt.binary, cli.Plural(k.plan.Probes(), "place"), k.opt.until())
}

// wait returns when there is a reason to end.
func (k *kept) wait(ctx context.Context) error {
	if k.opt.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, k.opt.duration)
		defer cancel()
	}
	var ends <-chan struct{}
	if k.program != nil {
		ends = k.program.done
	}
	alive := time.NewTicker(200 * time.Millisecond)
	defer alive.Stop()
	var tick <-chan time.Time
	if k.opt.interval > 0 {
		ticker := time.NewTicker(k.opt.interval)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-ends:
			return nil
		case <-ctx.Done():
			return nil
		case <-tick:
			if err := k.interval(); err != nil {
				return err
			}
		case <-alive.C:
			k.vanished.notice(k.env, k.opt.pids, k.program, glance)
			if k.written = k.sel.Binary.Written(); k.written {
				return nil
			}
			if len(k.opt.pids) > 0 && !procfs.Alive(k.opt.pids[0]) {
				k.env.Say("process %d has ended", k.opt.pids[0])
				return nil
			}
		}
	}
}

func (k *kept) close() error {
	var err error
	if k.session != nil {
		err = k.session.Close()
	}
	k.sel.Binary.Release()
	if k.program != nil && k.program.cmd.Process != nil {
		k.program.end()
	}
	return err
}
