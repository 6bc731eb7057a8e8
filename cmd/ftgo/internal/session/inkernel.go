package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// InKernel is probe --in-kernel, from the arguments to the last line.
func InKernel(ctx context.Context, e *Env, o *Options) (err error) {
	if err := checkProcesses(o); err != nil {
		return err
	}
	j := o.job(view.NewTable(o.View(), uprobe.Latency))
	if j.Program, err = run.FindProgram(&e.Env, o.Program, o.File == ""); err != nil {
		return err
	}
	t, err := o.Resolve(e)
	if err != nil {
		return err
	}
	defer t.Binary.Close()
	if len(t.Sites) > 0 {
		return cli.Usage("--in-kernel takes functions, not instructions like %s", t.Sites[0].Name)
	}
	var fsys *tracefs.FS
	if !o.DryRun {
		if fsys, err = openTracefs(e, o); err != nil {
			return err
		}
		if err := fsys.CheckHistograms(); err != nil {
			return err
		}
		if err := t.Hold(o.Force); err != nil {
			return err
		}
	}
	var decoded atomic.Int64
	stop := e.Progress(func() string {
		return fmt.Sprintf("decoding functions: %d of %d", decoded.Load(), len(t.Funcs))
	})
	plan, err := uprobe.NewHistograms(t.Binary, t.Funcs, &decoded)
	stop()
	if err != nil {
		return err
	}
	if len(plan.Funcs) == 0 {
		first := plan.Skipped[0]
		return cli.Nothing("%s: can't be probed in the kernel: %v%s", first.Func.Name, first.Reason, andMore(len(plan.Skipped)-1))
	}
	if err := o.checkProbes(e, plan.Probes(), 0); err != nil {
		return err
	}
	out, done, err := o.Open(&e.Env, o.Program, o.Binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	definitions := definitionsOf([]tracefs.Event{plan.Calls.Entry, plan.Calls.Return}, o.Binary)
	if o.DryRun {
		_, err = io.WriteString(out, definitions)
		return err
	}
	if o.Verbose {
		fmt.Fprint(e.Stderr, definitions)
	}
	opt := trace.InKernelOptions{Talk: &e.Env, OpenCalls: e.OpenCalls, Skipped: t.Skipped}
	if len(o.PIDs) > 0 {
		opt.PID = o.PIDs[0]
	}
	j.Source = trace.NewInKernel(fsys, t.Binary, plan, opt)
	j.Scene = run.Scene{Env: &e.Env, Target: t, Plan: &uprobe.Plan{Binary: t.Binary, Mode: uprobe.Latency, Funcs: plan.Funcs}, Out: out}
	j.Placed = fmt.Sprintf("probing %s in %s at %s, in the kernel", cli.Plural(len(plan.Funcs), "function"), o.Binary, cli.Plural(plan.Probes(), "place"))
	return j.Do(ctx)
}
