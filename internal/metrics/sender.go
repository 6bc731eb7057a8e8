package metrics

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/ftgo/ftgo/internal/printable"
)

// Kinds of items that a sender sends, for counts and messages.
const spanKind, metricKind = "span", "data point"

// sender sends messages in the background, one at a time, in the order of the calls of put. It retries a message while
// the error may be temporary. When the queue is full, it drops the oldest messages.
type sender struct {
	to      *Endpoint
	kind    string
	agent   string // User-Agent
	client  *http.Client
	closing chan struct{} // closed by close, to end the wait before a retry
	done    chan struct{} // closed when run returns
	stop    context.CancelFunc

	mu       sync.Mutex
	capacity int       // maximum size of the queue, in bytes
	queue    []message // oldest first
	bytes    int       // size of the queue
	sending  bool      // post runs for queue[0]
	changed  *sync.Cond
	closed   bool // put accepts no more messages
	counts   Sending
	messages []string // texts for the user, until takeMessages
	last     string   // the last reported message of the collector
	answered bool     // the collector has answered once

	// An outage is a period without answers, or one in which the collector is too slow and the queue overflows.
	began    time.Time // the begin of the outage, or zero
	failures int       // failed requests in a row
	reported bool      // a message to the user says that requests fail
	dropped  uint64    // number of items dropped in the outage
}

type message struct {
	body  []byte
	items uint64
}

// minFailures is the number of failures in a row after which the sender reports an outage: a restart of the collector
// takes some seconds. The sender reports the first failure if the collector has never answered.
const minFailures = 3

func newSender(to *Endpoint, kind, agent string, capacity int) *sender {
	ctx, stop := context.WithCancel(context.Background())
	s := &sender{
		to: to, kind: kind, agent: agent, client: newClient(to), capacity: capacity, stop: stop,
		closing: make(chan struct{}), done: make(chan struct{}), counts: Sending{Failed: make(map[string]uint64)},
	}
	s.changed = sync.NewCond(&s.mu)
	go s.run(ctx)
	return s
}

// put encodes and queues a message. It never waits for the network.
func (s *sender) put(m proto.Message, items uint64) {
	body, err := proto.Marshal(m)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.counts.Failed["_OTHER"] += items
		return
	}
	s.putEncoded(body, items)
}

func (s *sender) putEncoded(body []byte, items uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		s.counts.Failed["shutdown"] += items
		return
	}
	s.queue = append(s.queue, message{body, items})
	s.bytes += len(body)
	s.counts.Queued += items
	first := 0
	if s.sending { // keep queue[0], which the collector may be receiving
		first = 1
	}
	for s.bytes > s.capacity && len(s.queue) > first {
		dropped := s.queue[first].items
		s.remove(first)
		s.counts.Failed["queue_full"] += dropped
		if s.dropped == 0 { // report only the first drop of an outage
			s.beginOutage()
			s.report("the queue for %s is full: the oldest items are dropped", s.to.URL.Redacted())
		}
		s.dropped += dropped
	}
	s.changed.Signal()
}

func (s *sender) remove(i int) {
	s.bytes -= len(s.queue[i].body)
	s.counts.Queued -= s.queue[i].items
	s.queue = slices.Delete(s.queue, i, i+1)
}

func (s *sender) beginOutage() {
	if s.began.IsZero() {
		s.began = time.Now()
	}
}

func (s *sender) sendingCounts() Sending {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts
	c.Failed = maps.Clone(c.Failed)
	return c
}

// takeMessages returns the messages to the user since the last call.
func (s *sender) takeMessages() (messages []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	messages, s.messages = s.messages, nil
	return messages
}

// report adds a message to the user. It discards the message if 10 messages wait for takeMessages.
func (s *sender) report(format string, args ...any) {
	if len(s.messages) < 10 {
		s.messages = append(s.messages, fmt.Sprintf(format, args...))
	}
}

// close sends the queued messages and stops the sender. It drops the messages that are not sent when ctx is done.
func (s *sender) close(ctx context.Context) {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	s.changed.Signal()
	s.mu.Unlock()
	select {
	case <-s.done:
	case <-ctx.Done():
	}
	s.stop()
	<-s.done
	s.client.CloseIdleConnections()
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.counts.Queued
	for len(s.queue) > 0 {
		s.remove(0)
	}
	if left > 0 {
		s.counts.Failed["shutdown"] += left
		s.report("%s not sent to %s: the collector took none of them in time", printable.Plural(left, s.kind), s.to.URL.Redacted())
	}
}

// run sends queued messages until close was called and the queue is empty, or ctx is done.
func (s *sender) run(ctx context.Context) {
	defer close(s.done)
	closing := s.closing
	for {
		m, ok := s.next()
		if !ok {
			return
		}
		o := s.post(ctx, m.body, m.items)
		if o.retry && ctx.Err() != nil {
			return
		}
		failures := s.finish(&o, m)
		if !o.retry {
			continue
		}
		wait, interrupt := backoff(failures), closing
		if o.after > 0 { // the collector allows no earlier request, not even when the sender closes
			wait, interrupt = o.after, nil
		}
		select {
		case <-time.After(wait):
		case <-interrupt: // close was called: retry at once, but only once
			closing = nil
		case <-ctx.Done():
			return
		}
	}
}

// Waits before a retry: after the first failure, and the longest.
const minBackoff, maxBackoff = time.Second, 30 * time.Second

// backoff returns the wait after a number of failures in a row. It doubles with each failure. A random part of up to a
// half is subtracted, so that the clients of a collector do not all retry at the same time.
func backoff(failures int) time.Duration {
	wait := min(minBackoff<<min(failures-1, 10), maxBackoff)
	return wait - rand.N(wait/2)
}

// next waits for a message and returns it. ok is false if the sender was closed and the queue is empty.
func (s *sender) next() (m message, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && !s.closed {
		s.changed.Wait()
	}
	if len(s.queue) == 0 {
		return m, false
	}
	s.sending = true
	return s.queue[0], true
}

// finish handles the outcome of sending m, the first message of the queue. It removes m unless m must be sent again. It
// returns the number of failures in a row.
func (s *sender) finish(o *outcome, m message) (failures int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sending = false
	url := s.to.URL.Redacted()
	if o.retry {
		s.beginOutage()
		if s.failures++; !s.reported && (s.failures >= minFailures || !s.answered) {
			s.reported = true
			s.report("%ss can't be sent to %s, which is tried again and again: %s", s.kind, url, o.message)
		}
		return s.failures
	}
	s.remove(0)
	s.answered, s.failures = true, 0
	s.counts.Sent += m.items - o.rejected
	if o.rejected > 0 {
		s.counts.Failed[o.reason] += o.rejected
	}
	if o.message != "" && o.message != s.last { // report the same message once, not for each request
		s.last = o.message
		s.report("the collector at %s rejected %s: %s", url, printable.Plural(o.rejected, s.kind), o.message)
	}
	if s.dropped > 0 && len(s.queue) > 0 { // the collector answers but has not caught up, so the outage goes on
		return 0
	}
	if s.reported || s.dropped > 0 {
		s.report("%ss are sent to %s again, after %v; %d were dropped meanwhile", s.kind, url, time.Since(s.began).Round(time.Second), s.dropped)
	}
	s.began, s.reported, s.dropped = time.Time{}, false, 0
	return 0
}

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
