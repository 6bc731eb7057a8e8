package session

import (
	"context"
	"io"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/trace"
)

// backgroundRun is a run in a goroutine of its own. A command may have several such runs at once.
type backgroundRun struct {
	cancel   context.CancelFunc
	canceled func() bool    // reports whether cancel was called or the parent context ended
	done     chan struct{}  // closed after onEnd has returned
	err      error          // the run's error; valid in onEnd, and once done is closed
	panicked trace.Panicked // the run's panic; valid like err
}

// startInBackground runs a view in a new goroutine. It changes o, and no other run may use o. The run writes its messages
// to stderr. When the run has returned or panicked, its goroutine calls onEnd.
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
