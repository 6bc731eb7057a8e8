package session

import (
	"context"
	"os"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/metrics"
)

// sends tells whether something is sent by OTLP. Without a URL, the environment may have one, unless numbers are served and
// nobody speaks of OTLP.
func (x *ExportFlags) sends() bool {
	return x.OTLP != "" || (x.Listen == "" || x.Spans) && metrics.Configured(os.Getenv)
}

// configure tells where to send to; nil for nowhere. What is wrong with that is told before anything is done.
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

// passOn sends the numbers when it is time to, and tells what has become of others.
func (e *exporter) passOn() {
	if e.sender == nil {
		return
	}
	if now := time.Now(); now.Sub(e.sent) >= e.every {
		e.sent = now
		e.sender.Metrics(e.snapshot())
	}
	e.tellNews()
}

func (e *exporter) tellNews() {
	for _, text := range e.sender.Messages() {
		e.o.Warn(text)
	}
}

// endTime is how long the end waits for a collector that has not got all yet.
const endTime = 5 * time.Second

// finish sends the last numbers, and what is queued, if anything has begun.
func (e *exporter) finish() {
	if e.sender == nil || !e.begun() {
		return
	}
	defer e.o.Progress("sending what is queued")()
	e.sender.Metrics(e.snapshot())
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	e.sender.Close(ctx)
	e.tellNews()
}
