package metrics

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/ftgo/ftgo/internal/pairing"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
)

// exporting returns an exporter that sends its spans to a test server, and its clock.
func exporting(t *testing.T, answers ...http.HandlerFunc) (e *Exporter, now *time.Time, got *[]string) {
	t.Helper()
	got, now = new([]string), new(noon)
	server := httptest.NewServer(script(got, answers...))
	t.Cleanup(server.Close)
	c, err := Configure(server.URL, env("OTEL_SERVICE_NAME=store"))
	if err != nil {
		t.Fatal(err)
	}
	var w waits
	clock := w.clock()
	clock.now = func() time.Time { return *now }
	return start(c, about, clock), now, got
}

// spansOf returns the spans of a message.
func spansOf(t *testing.T, body string) *collector.ExportTraceServiceRequest {
	t.Helper()
	var m collector.ExportTraceServiceRequest
	if err := proto.Unmarshal([]byte(body), &m); err != nil {
		t.Fatal(err)
	}
	return &m
}

// µs are the ticks of the clock of tests.
func µs(ticks uint64) time.Time { return noon.Add(time.Duration(ticks) * time.Microsecond) }

// TestSpans compares the message for some calls with testdata/spans.json.
func TestSpans(t *testing.T) {
	e, _, got := exporting(t)
	s := e.Spans([]string{"main.handle", "main.part", "main.deep\xff"}, µs)
	s.ids = ids{1 << 63, 2<<62 | 1, 3 << 62}
	for _, c := range []struct {
		pairing.Call
		failed bool
	}{
		{pairing.Call{ID: 2, Parent: 1, Root: 1, Func: 1, PID: 7, TID: 8, Goid: 21, Start: 10, End: 20}, false},
		{pairing.Call{ID: 3, Parent: 1, Root: 1, Func: 2, PID: 7, TID: 9, Goid: 20, Start: 15, End: 25, Outcome: pairing.Unwound}, false},
		{pairing.Call{ID: 1, Root: 1, PID: 7, TID: 7, Goid: 20, Start: 5, End: 30}, true},
		{pairing.Call{ID: 5, Root: 5, Func: 1, PID: 6, TID: 6, Start: 50, End: 40}, false},
		{pairing.Call{ID: 4, Root: 4, PID: 7, TID: 7, Goid: 22, Start: 31, Outcome: pairing.Open}, false},
	} {
		s.Add(&c.Call, c.failed)
	}
	s.Close()
	e.Close(t.Context())
	if len(*got) != 1 || summary(e.Counts()["span"]) != "sent 5" {
		t.Fatalf("%d requests, %s", len(*got), summary(e.Counts()["span"]))
	}
	golden(t, "spans.json", spansOf(t, (*got)[0]))
}

// TestSpansWait checks that spans are sent when there are maxSpans, or after batchTime.
func TestSpansWait(t *testing.T) {
	e, now, got := exporting(t)
	s := e.Spans([]string{"f"}, µs)
	add := func(n int) {
		for i := range n {
			s.Add(&pairing.Call{ID: uint64(i + 1), Root: uint64(i + 1), PID: 1, Start: 1, End: 2}, false)
		}
	}
	add(1)
	s.Flush()
	*now = now.Add(batchTime - 1)
	add(1)
	s.Flush()
	if queued := e.Counts()["span"]; queued.Sent+queued.Queued != 0 {
		t.Errorf("%+v", queued)
	}
	*now = now.Add(1)
	s.Flush()
	*now = now.Add(time.Hour)
	s.Flush()
	add(2*maxSpans + 1)
	s.Close()
	e.Close(t.Context())
	var sizes []string
	for _, body := range *got {
		sizes = append(sizes, fmt.Sprint(len(spansOf(t, body).ResourceSpans[0].ScopeSpans[0].Spans)))
	}
	if got := strings.Join(sizes, " "); got != "2 4096 4096 1" {
		t.Error(got)
	}
}

// TestIDs checks that IDs are unique and not 0, for any seeds.
func TestIDs(t *testing.T) {
	for _, s := range []ids{newIDs(), newIDs(), {1 << 63, 1 << 63, 1 << 63}, {^uint64(0), ^uint64(0), ^uint64(0)}} {
		seen := make(map[string]bool)
		const n = 100_000
		for call := uint64(1); call <= n; call++ {
			trace, span := hex.EncodeToString(s.trace(call)), hex.EncodeToString(s.span(call))
			if len(trace) != 32 || len(span) != 16 || strings.Trim(span, "0") == "" {
				t.Fatalf("%s %s", trace, span)
			}
			seen[trace], seen[span] = true, true
		}
		if len(seen) != 2*n {
			t.Errorf("%d IDs of %d calls", len(seen), n)
		}
	}
	if a, b := newIDs(), newIDs(); a == b || (&ids{}).span(0) != nil {
		t.Errorf("%v %v", a, b)
	}
}

// TestExporterMetrics checks that metrics include the counts of sent metrics and spans, also of rejected spans.
func TestExporterMetrics(t *testing.T) {
	e, _, got := exporting(t, status(403), status(200))
	s := e.Spans([]string{"f"}, µs)
	s.Add(&pairing.Call{ID: 1, Root: 1, PID: 1, Start: 1, End: 2}, false)
	s.Close()
	e.traces.close(t.Context())
	m := snapshot()
	m.Sent = e.Counts()
	e.Metrics(m)
	e.Close(t.Context())
	if len(*got) != 2 || !strings.Contains((*got)[1], "otel.sdk.exporter.span.exported") || !strings.Contains((*got)[1], "403") || !strings.Contains((*got)[1], "store") {
		t.Errorf("%q", *got)
	}
	if news := strings.Join(e.Messages(), "\n"); strings.Count(news, "\n") != 0 || !strings.Contains(news, "1 span rejected by the collector at http://127.0.0.1:") || !strings.Contains(news, "/v1/traces: 403 Forbidden") {
		t.Error(news)
	}
}
