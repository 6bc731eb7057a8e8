package session

import (
	"context"
	"io"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/trace"
)

// backgroundRun is a run in a goroutine, while others run.
type backgroundRun struct {
	cancel   context.CancelFunc
	canceled func() bool   // reports whether cancel was called or the parent context ended
	done     chan struct{} // closed when the run has ended
	err      error         // the run's error, valid once done is closed
	panicked trace.Panicked
}

// startInBackground runs a view with o, which no other run may use. Messages of the run go to stderr. It calls
// onEnd when the run has returned or panicked.
func (o *Options) startInBackground(ctx context.Context, v view.View, stderr io.Writer, onEnd func(*backgroundRun)) *backgroundRun {
	o.Env = o.Env.ForBackground(stderr)
	ctx, cancel := context.WithCancel(ctx)
	r := &backgroundRun{cancel: cancel, canceled: func() bool { return ctx.Err() != nil }, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		defer onEnd(r)
		defer r.panicked.Catch()
		r.err = o.Observe(ctx, v)
		o.RemoveHeld()
	}()
	return r
}
