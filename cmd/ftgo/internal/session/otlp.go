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
	return x.OTLP != "" || (x.Listen == "" || x.Spans) && metrics.Asked(os.Getenv)
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

// sending is what export sends by OTLP; nil for nothing.
type sending struct {
	*metrics.Exporter
	env   *cli.Env
	every time.Duration
	last  time.Time
}

func startSending(c *metrics.Config, about metrics.About, e *cli.Env) *sending {
	if c == nil {
		return nil
	}
	return &sending{Exporter: metrics.Start(c, about), env: e, every: c.Every}
}

// pass sends the numbers when it is time to, and tells what has become of others.
func (s *sending) pass(of func() *metrics.Snapshot) {
	if s == nil {
		return
	}
	if now := time.Now(); now.Sub(s.last) >= s.every {
		s.last = now
		s.Metrics(of())
	}
	s.tell()
}

func (s *sending) tell() {
	for _, text := range s.News() {
		s.env.Warn(text)
	}
}

// endTime is how long the end waits for a collector that has not got all yet.
const endTime = 5 * time.Second

// close sends the last numbers, and what is queued, if anything has begun.
func (s *sending) close(of func() *metrics.Snapshot, begun bool) {
	if s == nil || !begun {
		return
	}
	defer s.env.Progress("sending what is queued")()
	s.Metrics(of())
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	s.Close(ctx)
	s.tell()
}
