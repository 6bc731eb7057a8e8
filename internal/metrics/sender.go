package metrics

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
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
	to      *Config
	url     *url.URL
	kind    string
	agent   string // User-Agent
	client  *http.Client
	news    chan string   // messages to the user, see [Exporter.Messages]
	closing chan struct{} // closed by close, to end the wait before a retry
	done    chan struct{} // closed when run returns
	stop    context.CancelFunc

	mu       sync.Mutex
	capacity int       // maximum size of the queue, in bytes
	queue    []message // oldest first, without the message that is being sent
	bytes    int       // size of the queue
	changed  *sync.Cond
	closed   bool // put accepts no more messages
	counts   Sending
	said     string // the last message of the collector, which the user knows
	failure  string // why the last request failed and is to be sent again, or ""

	// An outage begins when requests fail or the queue overflows. It ends when the queue is empty.
	reported bool   // a message to the user says that requests fail
	dropped  uint64 // number of items dropped in the outage
}

type message struct {
	body  []byte
	items uint64
}

// minFailures is the number of failures in a row after which the sender reports an outage: a restart of the collector
// takes some seconds.
const minFailures = 3

// newSender returns a sender of a kind of items. path is the end of the URL for this kind.
func newSender(to *Config, path, kind, agent string, capacity int, news chan string) *sender {
	ctx, stop := context.WithCancel(context.Background())
	s := &sender{
		to: to, url: to.URL.JoinPath("v1", path), kind: kind, agent: agent, client: newClient(to), news: news, capacity: capacity, stop: stop,
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
	for s.bytes > s.capacity {
		oldest := s.take()
		s.count(oldest.items, "queue_full")
		if s.dropped == 0 { // report only the first drop of an outage
			s.report("the queue for %s is full: the oldest items are dropped", s.url.Redacted())
		}
		s.dropped += oldest.items
	}
	s.changed.Signal()
}

// take removes the oldest message from the queue. Its items count as queued until count is called.
func (s *sender) take() message {
	m := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	s.bytes -= len(m.body)
	return m
}

// count counts queued items as failed for a reason or, without a reason, as sent.
func (s *sender) count(items uint64, reason string) {
	if s.counts.Queued -= items; reason == "" {
		s.counts.Sent += items
	} else if items > 0 {
		s.counts.Failed[reason] += items
	}
}

func (s *sender) sendingCounts() Sending {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts
	c.Failed = maps.Clone(c.Failed)
	return c
}

// report adds a message to the user. It discards the message if too many wait for [Exporter.Messages].
func (s *sender) report(format string, args ...any) {
	select {
	case s.news <- fmt.Sprintf(format, args...):
	default:
	}
}

// close sends the queued messages and stops the sender. It drops the messages that are not sent when ctx is done.
func (s *sender) close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	close(s.closing)
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
	if left := s.counts.Queued; left > 0 {
		s.count(left, "shutdown")
		reason := "the collector took none of them in time"
		if !s.reported { // else the user knows why
			reason = cmp.Or(s.failure, reason)
		}
		s.report("%s not sent to %s: %s", printable.Plural(left, s.kind), s.url.Redacted(), reason)
	}
}

// run sends queued messages until close was called and the queue is empty, or ctx is done.
func (s *sender) run(ctx context.Context) {
	defer close(s.done)
	closing := s.closing
	for m, ok := s.next(); ok; m, ok = s.next() {
		for failures := 1; ; failures++ {
			o := s.post(ctx, m)
			if o.retry && ctx.Err() != nil {
				return
			}
			if s.finish(&o, m, failures); !o.retry {
				break
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
	return s.take(), true
}

// finish handles the outcome of sending m. failures is the number of failures to send it, if this one failed, too.
func (s *sender) finish(o *outcome, m message, failures int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	url := s.url.Redacted()
	s.failure = ""
	if o.retry {
		s.failure = o.message
		if failures == minFailures && !s.reported {
			s.reported = true
			s.report("%ss can't be sent to %s, which is tried again and again: %s", s.kind, url, o.message)
		}
		return
	}
	s.count(m.items-o.rejected, "")
	s.count(o.rejected, o.reason)
	if o.message != "" && o.message != s.said { // report the same message once, not for each request
		s.said = o.message
		s.report("the collector at %s rejected %s: %s", url, printable.Plural(o.rejected, s.kind), o.message)
	}
	if len(s.queue) == 0 && (s.reported || s.dropped > 0) {
		s.report("%ss are sent to %s again; %d were dropped meanwhile", s.kind, url, s.dropped)
		s.reported, s.dropped = false, 0
	}
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
	news            chan string
}

// Start returns an Exporter. It connects to the collector when the first message is queued.
func Start(c *Config, about About) *Exporter {
	agent, news := "ftgo/"+about.Release, make(chan string, maxNews)
	return &Exporter{
		config: c, about: about, news: news,
		metrics: newSender(c, "metrics", metricKind, agent, metricQueueSize, news),
		traces:  newSender(c, "traces", spanKind, agent, spanQueueSize, news),
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

// maxNews is the maximum number of messages to the user that wait for Messages.
const maxNews = 20

// Messages returns messages to the user, such as errors of the collector, that it has not returned before.
func (e *Exporter) Messages() (messages []string) {
	for range len(e.news) {
		messages = append(messages, <-e.news)
	}
	return messages
}

// Close sends the queued messages and stops sending. It drops the messages that are not sent when ctx is done. It must be
// called once.
func (e *Exporter) Close(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { e.metrics.close(ctx) })
	both.Go(func() { e.traces.close(ctx) })
	both.Wait()
}
