package metrics

import (
	"context"
	"sync"
)

// Room for what waits to be sent, in bytes.
const (
	roomForSpans   = 32 << 20
	roomForMetrics = 16 << 20
)

// Exporter sends metrics and spans.
type Exporter struct {
	config          *Config
	about           About
	clock           Clock
	metrics, traces *Sender
}

// Start begins to send, which takes nothing but memory until there is something to be sent.
func Start(c *Config, about About) *Exporter { return start(c, about, systemClock) }

func start(c *Config, about About, clock Clock) *Exporter {
	agent := "ftgo/" + about.Release
	return &Exporter{
		config: c, about: about, clock: clock,
		metrics: newSender(&c.Metrics, metricKind, agent, roomForMetrics, clock),
		traces:  newSender(&c.Traces, spanKind, agent, roomForSpans, clock),
	}
}

// Metrics sends a snapshot.
func (e *Exporter) Metrics(s *Snapshot) {
	e.metrics.Put(metricsOf(s, e.config.Resource))
}

// Counts are those of all that is sent, by what it is.
func (e *Exporter) Counts() map[string]Sending {
	return map[string]Sending{metricKind: e.metrics.Counts(), spanKind: e.traces.Counts()}
}

// News are lines for people that have not been told yet.
func (e *Exporter) News() []string { return append(e.metrics.News(), e.traces.News()...) }

// Close has what is queued sent, as far as that is done before the time is up.
func (e *Exporter) Close(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { e.metrics.Close(ctx) })
	both.Go(func() { e.traces.Close(ctx) })
	both.Wait()
}
