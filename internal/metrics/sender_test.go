package metrics

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/ftgo/ftgo/testdata/fixture"

	tracepb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
)

// fakeCollector is an OpenTelemetry collector in memory, so that waits take no time in a bubble of synctest. It answers each
// request with the next handler, and accepts all requests after these.
type fakeCollector struct {
	answers []http.HandlerFunc
	got     []string    // bodies
	at      []time.Time // when they came
}

func (c *fakeCollector) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	if err := r.Write(io.Discard); err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	c.got, c.at = append(c.got, string(body)), append(c.at, time.Now())
	w := httptest.NewRecorder()
	defer func() {
		if recover() != nil {
			err = errors.New("connection refused")
		}
		if r.Context().Err() != nil {
			err = r.Context().Err()
		}
	}()
	if n := len(c.got) - 1; n < len(c.answers) {
		c.answers[n](w, r)
	}
	return w.Result(), nil
}

// to makes the senders of tests send to the collector.
func (c *fakeCollector) to(s *sender) *sender {
	s.client.Transport = c
	return s
}

// sender returns a sender of spans to the collector.
func (c *fakeCollector) sender(capacity int) *sender {
	u := &url.URL{Scheme: "http", Host: "collector"}
	return c.to(newSender(&Config{URL: u, Timeout: time.Minute}, "traces", spanKind, "ftgo/test", capacity, make(chan string, maxNews)))
}

// status returns a handler that answers with a status, and with a header given as name and value.
func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for pair := range slices.Chunk(header, 2) {
			w.Header().Set(pair[0], pair[1])
		}
		w.WriteHeader(code)
	}
}

func disconnect(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// hang returns when the client gives up.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// slow returns a handler that answers with a status after a second.
func slow(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Second)
		w.WriteHeader(code)
	}
}

func partly(rejected int64, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		b, _ := proto.Marshal(&tracepb.ExportTraceServiceResponse{PartialSuccess: &tracepb.ExportTracePartialSuccess{RejectedSpans: rejected, ErrorMessage: message}})
		w.Write(b)
	}
}

// summary returns the counts as text.
func summary(c Sending) string {
	text := fmt.Sprintf("sent %d", c.Sent)
	for _, reason := range slices.Sorted(maps.Keys(c.Failed)) {
		text += fmt.Sprintf(" %s %d", reason, c.Failed[reason])
	}
	if c.Queued > 0 {
		text += fmt.Sprintf(" queued %d", c.Queued)
	}
	return text
}

// TestSender checks the requests, waits, counts and messages for answers of a collector.
func TestSender(t *testing.T) {
	const lost = "the collector at http://collector/v1/traces rejected "
	for _, c := range []struct {
		name    string
		answers []http.HandlerFunc
		waits   []time.Duration // without the random part
		want    string
		news    string
	}{
		{"created", []http.HandlerFunc{status(201)}, nil, "sent 7", ""},
		{"wait so long", []http.HandlerFunc{status(429, "Retry-After", "17")}, []time.Duration{17 * time.Second}, "sent 7", ""},
		{"wait for ages", []http.HandlerFunc{status(503, "Retry-After", "99999999999999999999999")}, []time.Duration{time.Hour}, "sent 7", ""},
		{"wait until", []http.HandlerFunc{status(503, "Retry-After", "Sat, 01 Jan 2000 00:01:30 GMT")}, []time.Duration{time.Second}, "sent 7", ""},
		{"away for long", []http.HandlerFunc{status(502), status(503), status(504), disconnect, status(502), status(502), status(502)},
			[]time.Duration{1e9, 2e9, 4e9, 8e9, 16e9, 30e9, 30e9}, "sent 7", "504 Gateway Timeout"},
		{"without answer", []http.HandlerFunc{hang, hang, hang}, []time.Duration{61 * time.Second, 62 * time.Second, 64 * time.Second}, "sent 7", "no answer within 1m0s"},
		{"bad data", []http.HandlerFunc{status(400)}, nil, "sent 0 400 7", lost + "7 spans: 400 Bad Request"},
		{"no reason to try again", []http.HandlerFunc{status(500)}, nil, "sent 0 500 7", "500"},
		{"with a reason", []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(401)
			io.WriteString(w, "\x08\x10\x12\x09who calls")
		}}, nil, "sent 0 401 7", "401 Unauthorized: who calls"},
		{"partly", []http.HandlerFunc{partly(3, "too old")}, nil, "sent 4 rejected 3", lost + "3 spans: too old"},
		{"more than there were", []http.HandlerFunc{partly(9, "")}, nil, "sent 0 rejected 7", ""},
		{"less than none", []http.HandlerFunc{partly(-1, "")}, nil, "sent 7", ""},
		{"with a remark", []http.HandlerFunc{partly(0, "no more of this")}, nil, "sent 7", lost + "0 spans: no more of this"},
		{"with nonsense", []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html>") }}, nil, "sent 7", ""},
		{"to somebody else", []http.HandlerFunc{status(308, "Location", "http://localhost:1/")}, nil, "sent 0 308 7", "308 Permanent Redirect"},
	} {
		synctest.Test(t, func(t *testing.T) {
			to := &fakeCollector{answers: c.answers}
			s := to.sender(1000)
			s.putEncoded([]byte("first"), 7)
			time.Sleep(2 * time.Hour) // close would end a wait
			s.close(t.Context())
			var waits []time.Duration
			for i, body := range to.got {
				if body != "first" {
					t.Errorf("%s: request %d has %q", c.name, i, body)
				}
				if i > 0 {
					waits = append(waits, to.at[i].Sub(to.at[i-1]))
				}
			}
			close := func(got, want time.Duration) bool { return got <= want && got >= want/2 }
			if !slices.EqualFunc(waits, c.waits, close) || summary(s.sendingCounts()) != c.want {
				t.Errorf("%s: waits %v, %s; want %v, %s", c.name, waits, summary(s.sendingCounts()), c.waits, c.want)
			}
			if news := strings.Join((&Exporter{news: s.news}).Messages(), "\n"); !strings.Contains(news, c.news) || c.news == "" && news != "" {
				t.Errorf("%s: told %q, not %q", c.name, news, c.news)
			}
		})
	}
}

// TestSenderRequest checks the method, URL, headers and body of a request.
func TestSenderRequest(t *testing.T) {
	for _, compressed := range []bool{false, true} {
		var got *http.Request
		to := &fakeCollector{answers: []http.HandlerFunc{func(_ http.ResponseWriter, r *http.Request) { got = r }}}
		s := to.sender(1000)
		s.url.RawQuery, s.to.Gzip = "tenant=a", compressed
		s.to.Headers = http.Header{"Api-Key": {"secret"}, "User-Agent": {"mine"}}
		s.putEncoded([]byte("spans"), 1)
		s.close(t.Context())
		body, want := to.got[0], "POST http://collector/v1/traces?tenant=a application/x-protobuf secret mine "
		if compressed {
			want += "gzip"
			r, err := gzip.NewReader(strings.NewReader(body))
			fixture.NoError(t, err)
			b, _ := io.ReadAll(r)
			body = string(b)
		}
		h := got.Header
		if line := fmt.Sprint(got.Method, " ", got.URL, " ", h.Get("Content-Type"), " ", h.Get("Api-Key"), " ", h.Get("User-Agent"), " ", h.Get("Content-Encoding")); line != want || body != "spans" {
			t.Errorf("%s with %q, want %s", line, body, want)
		}
	}
}

// TestSenderEnds checks that close retries once without a wait, unless the collector has demanded the wait, and that it
// stops waits and requests when its context is done.
func TestSenderEnds(t *testing.T) {
	for _, c := range []struct {
		answers []http.HandlerFunc
		tries   int
		want    string
	}{
		{[]http.HandlerFunc{status(503)}, 2, "sent 7"},
		{[]http.HandlerFunc{status(503), status(503), status(503), status(503), status(503), status(503)}, 3, "sent 0 shutdown 7"},
		{[]http.HandlerFunc{status(503, "Retry-After", "3600")}, 1, "sent 0 shutdown 7"},
		{[]http.HandlerFunc{hang}, 1, "sent 0 shutdown 7"},
	} {
		synctest.Test(t, func(t *testing.T) {
			to := &fakeCollector{answers: c.answers}
			s := to.sender(1000)
			s.putEncoded([]byte("spans"), 7)
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second+time.Millisecond)
			defer cancel()
			s.close(ctx)
			if len(to.got) != c.tries || summary(s.sendingCounts()) != c.want {
				t.Errorf("%d requests, %s; want %d, %s", len(to.got), summary(s.sendingCounts()), c.tries, c.want)
			}
			if news := strings.Join((&Exporter{news: s.news}).Messages(), "\n"); strings.Contains(news, "7 spans not sent to http://collector/v1/traces") != (c.want != "sent 7") {
				t.Error(news)
			}
		})
	}
}

// TestSenderQueue checks that a full queue drops its oldest messages, except the one that is being sent, and that each
// message is counted once.
func TestSenderQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &fakeCollector{answers: []http.HandlerFunc{slow(503)}}
		s := to.sender(40)
		s.putEncoded([]byte("message 00"), 1)
		synctest.Wait()
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
		if c := s.sendingCounts(); summary(c) != "sent 0 queue_full 11 queued 5" || s.bytes != 40 {
			t.Error(c)
		}
		s.close(t.Context())
		if want := "[message 00 message 00 message 12 message 13 message 14 message 15]"; fmt.Sprint(to.got) != want || summary(s.sendingCounts()) != "sent 5 queue_full 11" {
			t.Errorf("got %v, want %v; %s", to.got, want, summary(s.sendingCounts()))
		}
		if news := strings.Join((&Exporter{news: s.news}).Messages(), "\n"); strings.Count(news, "is full") != 1 || !strings.Contains(news, "11 were dropped meanwhile") {
			t.Error(news)
		}
		s.putEncoded([]byte("late"), 1)
		if c := summary(s.sendingCounts()); c != "sent 5 queue_full 11 shutdown 1" {
			t.Error(c)
		}
	})
}

// TestSenderAway checks an outage of an hour: the sender retries at the longest interval, its queue stays within its
// capacity, and after the outage it sends the latest messages. Each message is counted as sent or dropped.
func TestSenderAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const room, size, perSecond = 1 << 18, 1 << 10, 10
		began := time.Now()
		to := &fakeCollector{answers: slices.Repeat([]http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
			if time.Since(began) < time.Hour {
				disconnect(w, r)
			}
		}}, 1000)}
		s := to.sender(room)
		made := uint64(0)
		for time.Since(began) < time.Hour+time.Minute {
			s.putEncoded(make([]byte, size), 1)
			made++
			time.Sleep(time.Second / perSecond)
			s.mu.Lock()
			most := max(s.bytes, cap(s.queue)*size/2)
			s.mu.Unlock()
			if most > room {
				t.Fatalf("%d bytes are queued, of %d", most, room)
			}
		}
		s.close(t.Context())
		c, tries := s.sendingCounts(), 0
		for _, at := range to.at {
			if at.Sub(began) < time.Hour {
				tries++
			}
		}
		if c.Sent+c.Failed["queue_full"] != made || c.Sent < room/size || tries < 3600/30 || tries > 3600/15+10 {
			t.Errorf("%d made, %d tries; %s", made, tries, summary(c))
		}
		if news := (&Exporter{news: s.news}).Messages(); len(news) != 3 || !strings.Contains(news[2], fmt.Sprint(c.Failed["queue_full"], " were dropped")) {
			t.Errorf("%q", news)
		}
	})
}

// TestSenderQuiet checks that single failures are not reported.
func TestSenderQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&fakeCollector{answers: []http.HandlerFunc{status(200), status(503), status(503), status(200), status(429)}}).sender(1000)
		for range 3 {
			s.putEncoded([]byte("spans"), 1)
		}
		time.Sleep(time.Minute)
		s.close(t.Context())
		if news := (&Exporter{news: s.news}).Messages(); len(news) > 0 || summary(s.sendingCounts()) != "sent 3" {
			t.Errorf("%q, %s", news, summary(s.sendingCounts()))
		}
	})
}

// TestSenderSlow checks that a collector that is too slow is reported once, and again when it has caught up.
func TestSenderSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&fakeCollector{answers: slices.Repeat([]http.HandlerFunc{slow(200)}, 5)}).sender(40)
		for range 5 {
			for range 9 {
				s.putEncoded([]byte("message 00"), 1)
			}
			time.Sleep(time.Second)
		}
		s.close(t.Context())
		news := (&Exporter{news: s.news}).Messages()
		dropped := fmt.Sprintf("%d were dropped meanwhile", s.sendingCounts().Failed["queue_full"])
		if len(news) != 2 || !strings.Contains(news[0], "is full: the oldest items are dropped") || !strings.Contains(news[1], dropped) {
			t.Errorf("%q, not %s", news, dropped)
		}
	})
}

func FuzzStatusMessage(f *testing.F) {
	f.Add([]byte("\x08\x10\x12\x09who calls"))
	f.Add([]byte("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if text := statusMessage(body); len(text) > len(body) {
			t.Errorf("%d bytes of %d", len(text), len(body))
		}
	})
}
