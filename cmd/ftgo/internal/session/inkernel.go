package session

import (
	"context"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/tracefs"
)

// InKernel is probe --in-kernel, from the arguments to the last line.
func InKernel(ctx context.Context, e *Env, o *Options, v run.View) error {
	return (&planned{env: e, opt: o, view: v}).observe(ctx, (*planned).inKernel)
}

// inKernel plans what the kernel keeps histograms of.
func (p *planned) inKernel() (*opened, error) {
	e, o, t := p.env, p.opt, p.target
	if len(t.Sites) > 0 {
		return nil, cli.Usage("--in-kernel takes functions, not instructions like %s", t.Sites[0].Name)
	}
	if p.fs != nil {
		if err := p.fs.CheckHistograms(); err != nil {
			return nil, err
		}
		if err := t.Hold(o.Force); err != nil {
			return nil, err
		}
	}
	decoded, stop := p.decoding()
	plan, err := uprobe.NewHistograms(t.Binary, t.Funcs, decoded)
	stop()
	if err != nil {
		return nil, err
	}
	if len(plan.Funcs) == 0 {
		return nil, noneOf(plan.Skipped, "can't be probed in the kernel")
	}
	p.plan = &uprobe.Plan{Binary: t.Binary, Mode: uprobe.Latency, Funcs: plan.Funcs}
	opt := trace.InKernelOptions{Talk: &e.Env, OpenCalls: e.OpenCalls, Skipped: t.Skipped}
	if len(o.PIDs) > 0 {
		opt.PID = o.PIDs[0]
	}
	return &opened{
		events: []tracefs.Event{plan.Calls.Entry, plan.Calls.Return}, probes: plan.Probes(), where: ", in the kernel", costs: trace.NoCosts{},
		source: func() (trace.Source, []string) { return trace.NewInKernel(p.fs, t.Binary, plan, opt), nil },
	}, o.checkProbes(e, plan.Probes(), 0)
}
