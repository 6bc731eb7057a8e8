package metrics

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

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
