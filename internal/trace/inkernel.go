package trace

import (
	"cmp"
	"context"
	"io"
	"time"

	"github.com/ftgo/ftgo/internal/clocks"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/tracefs"
)

// InKernel has the kernel keep histograms: it tells no call, only readings.
type InKernel struct {
	window
	looked time.Time
}

// NewInKernel returns a source of what happens in the functions of a plan. The kernel is untouched.
func NewInKernel(fs *tracefs.FS, plan *uprobe.Plan, opt Options) *InKernel {
	k := &InKernel{window: window{plan: plan, opt: opt, fs: fs, vanished: newVanished(plan)}}
	k.clock.Clock = clocks.Monotonic
	return k
}

func (k *InKernel) Arm(ctx context.Context, sink Sink) (err error) {
	k.sink = sink
	calls := k.plan.Calls
	calls.OpenCalls = k.opt.OpenCalls
	if len(k.opt.PIDs) > 0 {
		calls.PID = k.opt.PIDs[0]
	}
	if k.session, err = tracefs.StartHistograms(ctx, k.fs, k.plan.Target(), calls); err != nil {
		return err
	}
	k.looked = time.Now()
	k.from.At = k.looked
	k.begin()
	return nil
}

func (k *InKernel) Spawn(p *Command) error {
	k.program = p
	return p.Start()
}

// readEvery is how often there may be something to be told.
const readEvery = 20 * time.Millisecond

// Read waits, and looks after the process. After Stop it tells the last reading.
func (k *InKernel) Read(ctx context.Context) error {
	if !k.until.At.IsZero() {
		return cmp.Or(k.read(true), io.EOF)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(readEvery):
	}
	if time.Since(k.looked) < looksEvery {
		return nil
	}
	k.looked = time.Now()
	k.noticeVanished(glance)
	switch {
	case k.plan.Binary.File().Written():
		return ErrWritten
	case gone(&k.opt):
		return ErrGone
	}
	return nil
}

func (k *InKernel) Mark() error { return k.read(false) }

// Stop takes the probes out.
func (k *InKernel) Stop() error {
	k.noticeVanished(inspection)
	err := k.session.Disarm(nil)
	k.until.At = time.Now()
	return err
}

// read tells what the kernel has counted, as of the end of the window, or of when it was read.
func (k *InKernel) read(last bool) error {
	h, err := k.session.Histograms()
	if err != nil {
		return err
	}
	at := k.until
	if !last {
		at.At = time.Now()
	}
	r := k.blank(at)
	r.Last, r.Kept, r.Bucketed, r.Own = last, make([]stats.Function, len(h.Funcs)), true, OwnCPU()-k.own
	r.Hits, r.Delivered, r.Lost = h.Hits, h.Hits-h.Lost, h.Lost
	for i, f := range h.Funcs {
		row := &r.Kept[i]
		*row = stats.Function{
			Name: k.plan.Funcs[i].Name, Func: i, Calls: f.Calls, Completed: f.Completed,
			Latency: stats.NewLog2(f.Log2, f.Completed, f.Sum),
		}
		if row.Unfinished = f.Calls - min(f.Completed, f.Calls); h.Lost > 0 {
			row.Unfinished, row.Lost = 0, row.Unfinished // it is not known whether they have ended
		}
		if !k.plan.Funcs[i].Returns {
			r.Skipped = append(r.Skipped, stats.Skipped{Function: row.Name, Reason: "has no return: only its calls are counted"})
		}
	}
	k.sink.Reading(r)
	return nil
}
