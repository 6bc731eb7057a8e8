package metrics

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/ftgo/ftgo/testdata/fixture"

	tracepb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// waits is a clock on which waits take no time. It records them.
type waits struct {
	asked []time.Duration
	then  func() // called at each wait, if not nil
}

func (w *waits) clock() clock {
	return clock{
		now:    func() time.Time { return noon },
		random: func() float64 { return 0.5 },
		after: func(d time.Duration) <-chan time.Time {
			w.asked = append(w.asked, d)
			if w.then != nil {
				w.then()
			}
			ready := make(chan time.Time, 1)
			ready <- noon
			return ready
		},
	}
}

// endpoint returns the endpoint of a server.
func endpoint(t *testing.T, address string) *Endpoint {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return &Endpoint{URL: u, Headers: make(http.Header), Timeout: time.Minute}
}

// script returns a handler that answers each request with the next handler, and accepts all requests after these.
func script(got *[]string, answers ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	n := 0
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		*got = append(*got, string(body))
		n++
		this := n
		mu.Unlock()
		if this <= len(answers) {
			answers[this-1](w, r)
		}
	}
}

// status returns a handler that answers with a status and headers, given as names and values. It sends a Date only if
// this is one of them.
func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = nil
		for pair := range slices.Chunk(header, 2) {
			w.Header().Set(pair[0], pair[1])
		}
		w.WriteHeader(code)
	}
}

func disconnect(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

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
	for _, c := range []struct {
		name    string
		answers []http.HandlerFunc
		tries   int
		waits   string
		want    string
		news    string
	}{
		{"taken", nil, 1, "[]", "sent 7", ""},
		{"created", []http.HandlerFunc{status(201)}, 1, "[]", "sent 7", ""},
		{"too many, wait so long", []http.HandlerFunc{status(429, "Retry-After", "17")}, 2, "[17s]", "sent 7", "429 Too Many Requests"},
		{"too many, wait until", []http.HandlerFunc{status(503, "Retry-After", "Wed, 02 Jan 2030 12:01:30 GMT")}, 2, "[1m30s]", "sent 7", "503 Service Unavailable"},
		{"wait until, by its clock, which is three hours ahead", []http.HandlerFunc{status(503, "Retry-After", "Wed, 02 Jan 2030 15:01:30 GMT", "Date", "Wed, 02 Jan 2030 15:00:00 GMT")}, 2, "[1m30s]", "sent 7", "503"},
		{"wait until, by its clock, which is three hours behind", []http.HandlerFunc{status(503, "Retry-After", "Wed, 02 Jan 2030 09:01:30 GMT", "Date", "Wed, 02 Jan 2030 09:00:00 GMT")}, 2, "[1m30s]", "sent 7", "503"},
		{"wait for a time that is over", []http.HandlerFunc{status(503, "Retry-After", "Wed, 02 Jan 2030 11:00:00 GMT")}, 2, "[750ms]", "sent 7", "503"},
		{"wait for ages", []http.HandlerFunc{status(503, "Retry-After", "99999999999999999999999")}, 2, "[1h0m0s]", "sent 7", "503"},
		{"wait for nobody knows", []http.HandlerFunc{status(503, "Retry-After", "soon")}, 2, "[750ms]", "sent 7", "503"},
		{"away for long", []http.HandlerFunc{
			status(502), status(503), status(504), disconnect, status(502), status(502), status(502),
		}, 8, "[750ms 1.5s 3s 6s 12s 22.5s 22.5s]", "sent 7", "502 Bad Gateway"},
		{"bad data", []http.HandlerFunc{status(400)}, 1, "[]", "sent 0 400 7", "7 spans rejected by the collector at URL: 400 Bad Request"},
		{"too large", []http.HandlerFunc{status(413)}, 1, "[]", "sent 0 413 7", "413"},
		{"not found", []http.HandlerFunc{status(404)}, 1, "[]", "sent 0 404 7", "404"},
		{"no reason to try again", []http.HandlerFunc{status(500)}, 1, "[]", "sent 0 500 7", "500"},
		{"with a reason", []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(401)
			io.WriteString(w, "\x08\x10\x12\x09who calls")
		}}, 1, "[]", "sent 0 401 7", "401 Unauthorized: who calls"},
		{"partly", []http.HandlerFunc{partly(3, "too old")}, 1, "[]", "sent 4 rejected 3", "3 spans rejected by the collector at URL: too old"},
		{"more than there were", []http.HandlerFunc{partly(9, "")}, 1, "[]", "sent 0 rejected 7", ""},
		{"less than none", []http.HandlerFunc{partly(-1, "")}, 1, "[]", "sent 7", ""},
		{"with a remark", []http.HandlerFunc{partly(0, "no more of this")}, 1, "[]", "sent 7", "the collector at URL says: no more of this"},
		{"with nonsense", []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html>") }}, 1, "[]", "sent 7", ""},
		{"elsewhere", []http.HandlerFunc{status(307, "Location", "/there")}, 2, "[]", "sent 7", ""},
		{"to somebody else", []http.HandlerFunc{status(308, "Location", "http://localhost:1/")}, 1, "[]", "sent 0 308 7", "308 Permanent Redirect"},
		{"elsewhere, but not posted", []http.HandlerFunc{status(302, "Location", "/there")}, 1, "[]", "sent 0 302 7", "302 Found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			server := httptest.NewServer(script(&got, c.answers...))
			defer server.Close()
			var w waits
			s := newSender(endpoint(t, server.URL), spanKind, "ftgo/test", 1000, w.clock())
			s.putEncoded([]byte("first"), 7)
			for s.sendingCounts().Queued > 0 { // close would end the wait
				runtime.Gosched()
			}
			s.close(t.Context())
			for i, body := range got {
				if body != "first" {
					t.Errorf("request %d has %q", i, body)
				}
			}
			if waited := fmt.Sprint(w.asked); len(got) != c.tries || waited != c.waits || summary(s.sendingCounts()) != c.want {
				t.Errorf("%d requests, waits %s, %s; want %d, %s, %s", len(got), waited, summary(s.sendingCounts()), c.tries, c.waits, c.want)
			}
			news := strings.ReplaceAll(strings.Join(s.takeMessages(), "\n"), server.URL, "URL")
			if !strings.Contains(news, c.news) || c.news == "" && news != "" {
				t.Errorf("told %q, not %q", news, c.news)
			}
		})
	}
}

// TestSenderRequest checks the method, URL, headers and body of a request.
func TestSenderRequest(t *testing.T) {
	for _, compressed := range []bool{false, true} {
		var got *http.Request
		var body []byte
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r
			body, _ = io.ReadAll(r.Body)
		}))
		e := endpoint(t, server.URL+"/v1/traces?tenant=a")
		e.Gzip = compressed
		e.Headers.Set("Api-Key", "secret")
		e.Headers.Set("User-Agent", "mine")
		s := newSender(e, spanKind, "ftgo/test", 1000, systemClock)
		s.putEncoded([]byte("spans"), 1)
		s.close(t.Context())
		server.Close()
		want := "POST /v1/traces?tenant=a application/x-protobuf secret mine "
		if compressed {
			want += "gzip"
			r, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			body, _ = io.ReadAll(r)
		}
		h := got.Header
		if line := fmt.Sprint(got.Method, " ", got.URL, " ", h.Get("Content-Type"), " ", h.Get("Api-Key"), " ", h.Get("User-Agent"), " ", h.Get("Content-Encoding")); line != want || string(body) != "spans" {
			t.Errorf("%s with %q, want %s", line, body, want)
		}
	}
}

// TestSenderHang checks that a request without an answer fails after the timeout and is retried.
func TestSenderHang(t *testing.T) {
	var got []string
	hung := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	server := httptest.NewServer(script(&got, hung))
	defer server.Close()
	e := endpoint(t, server.URL)
	e.Timeout = time.Millisecond
	w := waits{then: func() { e.Timeout = time.Minute }}
	s := newSender(e, spanKind, "", 1000, w.clock())
	s.putEncoded([]byte("spans"), 7)
	s.close(t.Context())
	news := strings.Join(s.takeMessages(), "\n")
	if summary(s.sendingCounts()) != "sent 7" || !strings.Contains(news, "no answer within 1ms") || !strings.Contains(news, "again, after 0s; 0 were dropped") {
		t.Errorf("%s\n%s", summary(s.sendingCounts()), news)
	}
}

// TestSenderRefused checks that a refused connection is reported once and retried until close.
func TestSenderRefused(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var w waits
	w.then = func() {
		if len(w.asked) == 9 {
			cancel()
		}
	}
	s := newSender(endpoint(t, server.URL), spanKind, "", 1000, w.clock())
	s.putEncoded([]byte("spans"), 7)
	s.close(ctx)
	news := s.takeMessages()
	if len(news) != 2 || !strings.Contains(news[0], "connection refused") || !strings.Contains(news[1], "7 spans not sent") || summary(s.sendingCounts()) != "sent 0 shutdown 7" {
		t.Errorf("%q\n%s", news, summary(s.sendingCounts()))
	}
}

// TestSenderEnds checks that close retries once without a wait, unless the collector has demanded the wait, and ends
// when its context is done.
func TestSenderEnds(t *testing.T) {
	var got []string
	first := make(chan bool)
	server := httptest.NewServer(script(&got, status(503)))
	defer server.Close()
	clock := systemClock
	clock.after = func(time.Duration) <-chan time.Time { close(first); return nil } // never
	s := newSender(endpoint(t, server.URL), spanKind, "", 1000, clock)
	s.putEncoded([]byte("spans"), 7)
	fixture.Receive(t, first)
	s.close(t.Context())
	if len(got) != 2 || summary(s.sendingCounts()) != "sent 7" {
		t.Errorf("%d requests, %s", len(got), summary(s.sendingCounts()))
	}

	got, first = nil, make(chan bool)
	asked := httptest.NewServer(script(&got, status(503, "Retry-After", "3600")))
	defer asked.Close()
	s = newSender(endpoint(t, asked.URL), spanKind, "", 1000, clock)
	s.putEncoded([]byte("spans"), 7)
	fixture.Receive(t, first)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	s.close(over)
	if len(got) != 1 || summary(s.sendingCounts()) != "sent 0 shutdown 7" {
		t.Errorf("%d requests, %s", len(got), summary(s.sendingCounts()))
	}

	hung := make(chan bool)
	hanging := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // so that the server notices when the client closes the connection
		close(hung)
		<-r.Context().Done()
	}))
	defer hanging.Close()
	s = newSender(endpoint(t, hanging.URL), spanKind, "", 1000, clock)
	s.putEncoded([]byte("spans"), 7)
	fixture.Receive(t, hung)
	s.close(over)
	if summary(s.sendingCounts()) != "sent 0 shutdown 7" {
		t.Error(summary(s.sendingCounts()))
	}
}

func FuzzStatusMessage(f *testing.F) {
	f.Add([]byte("\x08\x10\x12\x09who calls"))
	f.Add([]byte("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if text := statusMessage(body); len(text) > 210 {
			t.Errorf("%d bytes", len(text))
		}
	})
}
