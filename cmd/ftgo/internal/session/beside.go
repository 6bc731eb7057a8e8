package session

import (
	"context"
	"io"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/trace"
)

// beside is a run that goes on beside others.
type beside struct {
	cancel   context.CancelFunc
	canceled func() bool   // whether it was told to end
	ended    chan struct{} // closed when it has
	err      error         // how it has
	panicked trace.Panicked
}

// start starts a run of a view with options that nobody else uses. What it says goes to stderr. over is
// called when it has ended, whatever of.
func (o *Options) start(ctx context.Context, v view.View, stderr io.Writer, over func(*beside)) *beside {
	o.Env = o.Env.Beside(stderr)
	ctx, cancel := context.WithCancel(ctx)
	r := &beside{cancel: cancel, canceled: func() bool { return ctx.Err() != nil }, ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		defer over(r)
		defer r.panicked.Catch()
		r.err = o.Observe(ctx, v)
		o.RemoveHeld()
	}()
	return r
}
