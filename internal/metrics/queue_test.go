package metrics

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestSenderQueue checks that a full queue drops its oldest messages, except the one that is being sent, and that each
// message is counted once.
func TestSenderQueue(t *testing.T) {
	var got []string
	asked, answer := make(chan bool), make(chan bool)
	server := httptest.NewServer(script(&got, func(w http.ResponseWriter, r *http.Request) {
		asked <- true
		<-answer
		w.WriteHeader(503)
	}))
	defer server.Close()
	var w waits
	s := newSender(endpoint(t, server.URL), spanKind, "", 40, w.clock())
	s.putEncoded([]byte("message 00"), 1)
	fixture.Receive(t, asked)
	for i := 1; i < 10; i++ {
		s.putEncoded(fmt.Appendf(nil, "message %02d", i), 1)
	}
	s.putEncoded(make([]byte, 41), 1)
	if c := summary(s.sendingCounts()); c != "sent 0 queue_full 10 queued 1" {
		t.Error(c)
	}
	for i := 11; i < 16; i++ {
		s.putEncoded(fmt.Appendf(nil, "message %02d", i), 1)
	}
	if c := s.sendingCounts(); summary(c) != "sent 0 queue_full 12 queued 4" || s.bytes != 40 {
		t.Error(c)
	}
	close(answer)
	s.close(t.Context())
	if want := "[message 00 message 00 message 13 message 14 message 15]"; fmt.Sprint(got) != want || summary(s.sendingCounts()) != "sent 4 queue_full 12" {
		t.Errorf("got %v, want %v; %s", got, want, summary(s.sendingCounts()))
	}
	if news := strings.Join(s.takeMessages(), "\n"); strings.Count(news, "is full") != 1 || !strings.Contains(news, "12 were dropped meanwhile") {
		t.Error(news)
	}
	s.putEncoded([]byte("late"), 1)
	if c := summary(s.sendingCounts()); c != "sent 4 queue_full 12 shutdown 1" {
		t.Error(c)
	}
}

// TestSenderAway checks an outage of an hour: the sender retries at the longest interval, its queue stays within its
// capacity, and after the outage it sends the latest messages. Each message is counted as sent or dropped.
func TestSenderAway(t *testing.T) {
	const room, size, perSecond = 1 << 18, 1 << 10, 10
	now, back := noon, false
	var tries, arrived uint64
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		mu.Lock()
		defer mu.Unlock()
		if !back {
			tries++
			disconnect(w, r)
		}
		arrived++
	}))
	server.Config.ErrorLog = quiet
	defer server.Close()
	var s *sender
	made, most := uint64(0), 0
	put := func(n int) {
		for range n {
			s.putEncoded(make([]byte, size), 1)
			made++
			most = max(most, s.bytes, cap(s.queue)*size/2)
		}
	}
	clock := (&waits{}).clock()
	clock.now = func() time.Time { return now }
	clock.after = func(d time.Duration) <-chan time.Time {
		mu.Lock()
		now = now.Add(d)
		back = now.Sub(noon) >= time.Hour
		mu.Unlock()
		put(int(d.Seconds() * perSecond))
		ready := make(chan time.Time, 1)
		ready <- now
		return ready
	}
	s = newSender(endpoint(t, server.URL), spanKind, "", room, clock)
	put(1)
	for s.sendingCounts().Queued > 0 {
		runtime.Gosched()
	}
	s.close(t.Context())
	c := s.sendingCounts()
	if c.Sent != arrived || c.Sent+c.Failed["queue_full"] != made || made < 3500*perSecond || c.Sent < room/size {
		t.Errorf("%d made, %d arrived; %s", made, arrived, summary(c))
	}
	if most > room || tries < 3600/30 || tries > 3600/15+10 {
		t.Errorf("%d bytes were queued, of %d; %d tries", most, room, tries)
	}
	again := fmt.Sprintf("again, after %v; %d were dropped", now.Sub(noon).Round(time.Second), c.Failed["queue_full"])
	if news := s.takeMessages(); len(news) != 3 || !strings.Contains(news[2], again) {
		t.Errorf("%q", news)
	}
}

// TestSenderQuiet checks that single failures are not reported.
func TestSenderQuiet(t *testing.T) {
	var got []string
	server := httptest.NewServer(script(&got, status(200), status(503), status(503), status(200), status(429)))
	defer server.Close()
	var w waits
	s := newSender(endpoint(t, server.URL), spanKind, "", 1000, w.clock())
	for range 3 {
		s.putEncoded([]byte("spans"), 1)
	}
	s.close(t.Context())
	if news := s.takeMessages(); len(news) > 0 || summary(s.sendingCounts()) != "sent 3" {
		t.Errorf("%q, %s", news, summary(s.sendingCounts()))
	}
}

// TestSenderSlow checks that a collector that is too slow is reported once, and again when it has caught up.
func TestSenderSlow(t *testing.T) {
	var got []string
	asked, answer := make(chan bool), make(chan bool)
	slow := func(http.ResponseWriter, *http.Request) { asked <- true; <-answer }
	server := httptest.NewServer(script(&got, slow, slow, slow, slow, slow))
	defer server.Close()
	var w waits
	s := newSender(endpoint(t, server.URL), spanKind, "", 40, w.clock())
	for range 5 {
		for range 9 {
			s.putEncoded([]byte("message 00"), 1)
		}
		fixture.Receive(t, asked)
		answer <- true
	}
	s.close(t.Context())
	news := strings.ReplaceAll(strings.Join(s.takeMessages(), "\n"), server.URL, "URL")
	dropped := s.sendingCounts().Failed["queue_full"]
	want := fmt.Sprintf("the queue for URL is full: the oldest items are dropped\nspans are sent to URL again, after 0s; %d were dropped meanwhile", dropped)
	if news != want {
		t.Errorf("told\n%s\nnot\n%s", news, want)
	}
}
