package metrics

import (
	"context"
	"sync"
)

// Limits of the queues, in bytes.
const (
	spanQueueSize   = 32 << 20
	metricQueueSize = 16 << 20
)

// Exporter sends metrics and spans to an OpenTelemetry collector, in the background.
type Exporter struct {
	config          *Config
	about           About
	metrics, traces *sender
}

// Start returns an Exporter. It connects to the collector when the first message is queued.
func Start(c *Config, about About) *Exporter {
	agent := "ftgo/" + about.Release
	return &Exporter{
		config: c, about: about,
		metrics: newSender(&c.Metrics, metricKind, agent, metricQueueSize),
		traces:  newSender(&c.Traces, spanKind, agent, spanQueueSize),
	}
}

// Metrics queues a snapshot.
func (e *Exporter) Metrics(s *Snapshot) {
	e.metrics.put(metricsOf(s, e.config.Resource))
}

// Counts returns the counts of sent, queued and failed items, per kind of item, for [Snapshot.Sent].
func (e *Exporter) Counts() map[string]Sending {
	return map[string]Sending{metricKind: e.metrics.sendingCounts(), spanKind: e.traces.sendingCounts()}
}

// Messages returns messages to the user, such as errors of the collector, that it has not returned before.
func (e *Exporter) Messages() []string {
	return append(e.metrics.takeMessages(), e.traces.takeMessages()...)
}

// Close sends the queued messages and stops sending. It drops the messages that are not sent when ctx is done.
func (e *Exporter) Close(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { e.metrics.close(ctx) })
	both.Go(func() { e.traces.close(ctx) })
	both.Wait()
}
