package metrics

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
	"google.golang.org/protobuf/proto"
)

// What is sent, by what it consists of.
const spanKind, metricKind = "span", "data point"

// Clock is the time, which tests have one of their own for.
type Clock struct {
	Now    func() time.Time
	After  func(time.Duration) <-chan time.Time
	Random func() float64 // in [0, 1)
}

var systemClock = Clock{time.Now, time.After, rand.Float64}

// Sender sends messages in the background, one after the other, in their order. It tries again for as long as the
// collector may yet take them and there is room for what comes meanwhile: then the oldest are dropped.
type Sender struct {
	to     *Endpoint
	kind   string
	agent  string
	client *http.Client
	clock  Clock
	ending chan struct{} // is closed when nothing more comes
	done   chan struct{} // is closed when all is over
	stop   context.CancelFunc

	mu       sync.Mutex
	room     int       // for so many bytes of the queue
	queue    []message // that are to be sent, the oldest first
	bytes    int       // of the queue
	sending  bool      // the first of the queue
	more     *sync.Cond
	ended    bool // nothing more comes
	counts   Sending
	news     []string // for people
	said     string   // by the collector, the last that was told
	answered bool     // the collector has
	outage   outage
}

type message struct {
	body  []byte
	items uint64
}

// outage is a time in which nothing arrives, or less than there is.
type outage struct {
	failures int // running
	told     bool
	began    time.Time
	dropped  uint64
}

func (s *outage) begin(now time.Time) {
	if s.began.IsZero() {
		s.began = now
	}
}

// patience is how often nothing has to arrive, in a row, before that is told: a collector that is told to be
// restarted is away for some seconds. One that has never answered is told of at once.
const patience = 3

func newSender(to *Endpoint, kind, agent string, room int, clock Clock) *Sender {
	s := &Sender{
		to: to, kind: kind, agent: agent, client: newClient(to), clock: clock,
		ending: make(chan struct{}), done: make(chan struct{}), counts: Sending{Failed: make(map[string]uint64)},
	}
	s.room, s.more = room, sync.NewCond(&s.mu)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go s.run(ctx)
	return s
}

// Put has a message sent, of so many items. It never waits.
func (s *Sender) Put(m proto.Message, items uint64) {
	body, err := proto.Marshal(m)
	s.put(body, items, err)
}

func (s *Sender) put(body []byte, items uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil:
		s.fail("_OTHER", items)
		return
	case s.ended:
		s.fail("shutdown", items)
		return
	}
	s.queue = append(s.queue, message{body, items})
	s.bytes += len(body)
	s.counts.Queued += items
	first := 0
	if s.sending { // it may be arriving
		first = 1
	}
	for s.bytes > s.room && len(s.queue) > first {
		m := s.queue[first]
		s.remove(first)
		s.drop("queue_full", m.items)
	}
	s.more.Signal()
}

// remove takes a message out of the queue.
func (s *Sender) remove(i int) {
	s.bytes -= len(s.queue[i].body)
	s.counts.Queued -= s.queue[i].items
	copy(s.queue[i:], s.queue[i+1:])
	s.queue[len(s.queue)-1] = message{}
	s.queue = s.queue[:len(s.queue)-1]
}

// fail counts items that will never arrive.
func (s *Sender) fail(reason string, items uint64) {
	s.counts.Failed[reason] += items
}

// drop counts items for which there is no room, and tells of the first.
func (s *Sender) drop(reason string, items uint64) {
	s.fail(reason, items)
	if s.outage.dropped == 0 {
		s.outage.begin(s.clock.Now())
		s.tell("no room for what can't be sent to %s: the oldest are dropped", s.to.URL.Redacted())
	}
	s.outage.dropped += items
}

// Counts are those of now.
func (s *Sender) Counts() Sending {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts
	c.Bytes, c.Failed = s.bytes, maps.Clone(c.Failed)
	return c
}

// News are lines for people that have not been told yet.
func (s *Sender) News() (news []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	news, s.news = s.news, nil
	return news
}

// tell has a line told. There are few of them, unless nobody asks for them.
func (s *Sender) tell(format string, args ...any) {
	if len(s.news) < 10 {
		s.news = append(s.news, fmt.Sprintf(format, args...))
	}
}

// Close has what is queued sent, as far as that is done before the time is up, and ends.
func (s *Sender) Close(ctx context.Context) {
	s.mu.Lock()
	if !s.ended {
		s.ended = true
		close(s.ending)
	}
	s.more.Signal()
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
		s.fail("shutdown", left)
		s.tell("%s not sent to %s: the collector took none of them in time", printable.Plural(left, s.kind), s.to.URL.Redacted())
	}
}

// run sends what comes until all has been sent.
func (s *Sender) run(ctx context.Context) {
	defer close(s.done)
	ending, failures := s.ending, 0
	for {
		m, ok := s.next()
		if !ok {
			return
		}
		o := s.post(ctx, m.body, m.items)
		if o.again && ctx.Err() != nil {
			return
		}
		if s.settle(&o, m); !o.again {
			failures = 0
			continue
		}
		failures++
		wait, hurry := s.backoff(failures), ending
		if o.after > 0 { // the collector is not to be asked before, even at the end
			wait, hurry = o.after, nil
		}
		select {
		case <-s.clock.After(wait):
		case <-hurry: // which closes once: so there is one try more, and others as at first
			ending, failures = nil, 0
		case <-ctx.Done():
			return
		}
	}
}

// How long to wait before the next try: at first, and at most.
const firstWait, lastWait = time.Second, 30 * time.Second

// backoff is how long to wait after so many failures in a row: twice as long each time, and at random up to half as
// long, so that not all that a collector has failed come back at once.
func (s *Sender) backoff(failures int) time.Duration {
	wait := min(firstWait<<min(failures-1, 10), lastWait)
	return wait - time.Duration(s.clock.Random()*float64(wait/2))
}

// next waits for a message, and tells whether there is one.
func (s *Sender) next() (m message, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && !s.ended {
		s.more.Wait()
	}
	if len(s.queue) == 0 {
		return m, false
	}
	s.sending = true
	return s.queue[0], true
}

// settle takes the outcome of the first message.
func (s *Sender) settle(o *outcome, m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sending = false
	where := s.to.URL.Redacted()
	if o.again {
		s.outage.failures++
		s.outage.begin(s.clock.Now())
		if !s.outage.told && (s.outage.failures >= patience || !s.answered) {
			s.outage.told = true
			s.tell("%ss can't be sent to %s, which is tried again and again: %s", s.kind, where, o.message)
		}
		return
	}
	s.remove(0)
	s.counts.Sent += m.items - o.rejected
	if o.rejected > 0 {
		s.fail(o.reason, o.rejected)
	}
	if o.message != "" && o.message != s.said { // of each that is refused would be too often
		s.said = o.message
		if o.rejected > 0 {
			s.tell("%s rejected by the collector at %s: %s", printable.Plural(o.rejected, s.kind), where, o.message)
		} else {
			s.tell("the collector at %s says: %s", where, o.message)
		}
	}
	s.answered = true
	if s.outage.dropped > 0 && len(s.queue) > 0 {
		s.outage.failures = 0 // it has not caught up: what is dropped next is no news
		return
	}
	if s.outage.told || s.outage.dropped > 0 {
		s.tell("%ss are sent to %s again, after %v; %d were dropped meanwhile", s.kind, where, s.clock.Now().Sub(s.outage.began).Round(time.Second), s.outage.dropped)
	}
	s.outage = outage{}
}
