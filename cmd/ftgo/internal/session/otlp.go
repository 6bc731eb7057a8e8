package session

import (
	"context"
	"os"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/metrics"
)

// sends reports whether export sends by OTLP. With --otlp, it sends. Without --otlp, it sends if an environment variable
// sets an endpoint. But if --listen is given without --otlp and --spans, the environment has no effect.
func (x *ExportFlags) sends() bool {
	return x.OTLP != "" || (x.Listen == "" || x.Spans) && metrics.Configured(os.Getenv)
}

// configure returns the configuration of the sender, nil if export sends nothing. Export calls it before any probe is
// placed, so that a wrong configuration ends the command early.
func (x *ExportFlags) configure(o *Options) (*metrics.Config, error) {
	if !x.sends() {
		return nil, nil
	}
	c, err := metrics.Configure(x.OTLP, os.Getenv)
	if err != nil {
		return nil, cli.Usage("export: %w", err)
	}
	for _, w := range c.Warnings {
		o.Warn(w)
	}
	return c, nil
}

// sendMetrics sends a snapshot if sendInterval has passed since the last one. It also prints warnings about earlier
// snapshots.
func (e *exporter) sendMetrics() {
	if e.sender == nil {
		return
	}
	if now := time.Now(); now.Sub(e.lastSent) >= e.sendInterval {
		e.lastSent = now
		e.sender.Metrics(e.snapshot())
	}
	e.warnNews()
}

// warnNews prints the new messages of the sender.
func (e *exporter) warnNews() {
	for _, text := range e.sender.Messages() {
		e.o.Warn(text)
	}
}

// closeTimeout limits the wait for the collector at the end.
const closeTimeout = 5 * time.Second

// finish sends a last snapshot and all queued items, if export has started.
func (e *exporter) finish() {
	if e.sender == nil || !e.started() {
		return
	}
	defer e.o.Progress("sending queued items")()
	e.sender.Metrics(e.snapshot())
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	e.sender.Close(ctx)
	e.warnNews()
}
