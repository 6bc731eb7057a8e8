package metrics

import (
	"encoding/hex"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/testdata/fixture"
	tracepb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
)

// exporting returns an exporter to a collector in memory.
func exporting(t *testing.T, answers ...http.HandlerFunc) (*Exporter, *fakeCollector) {
	t.Helper()
	c, err := Configure("http://collector", env("OTEL_SERVICE_NAME=store"))
	fixture.NoError(t, err)
	e, to := Start(c, about), &fakeCollector{answers: answers}
	to.to(e.traces)
	to.to(e.metrics)
	return e, to
}

// spansOf returns the spans of a message.
func spansOf(t *testing.T, body string) *tracepb.ExportTraceServiceRequest {
	t.Helper()
	var m tracepb.ExportTraceServiceRequest
	fixture.NoError(t, proto.Unmarshal([]byte(body), &m))
	return &m
}

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// µs are the ticks of the clock of tests.
func µs(ticks uint64) time.Time { return noon.Add(time.Duration(ticks) * time.Microsecond) }

// TestSpans compares the message for some calls with testdata/spans.json.
func TestSpans(t *testing.T) {
	e, to := exporting(t)
	s := e.Spans([]string{"main.handle", "main.part", "main.deep\xff"}, µs)
	s.seeds = [3]uint64{1 << 63, 2<<62 | 1, 3 << 62}
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
	if len(to.got) != 1 || summary(e.Counts()["span"]) != "sent 5" {
		t.Fatalf("%d requests, %s", len(to.got), summary(e.Counts()["span"]))
	}
	golden(t, "spans.json", spansOf(t, to.got[0]))
}

// TestSpansWait checks that spans are sent when there are maxSpans, or after batchTime.
func TestSpansWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, to := exporting(t)
		s := e.Spans([]string{"f"}, µs)
		add := func(n int) {
			for i := range n {
				s.Add(&pairing.Call{ID: uint64(i + 1), Root: uint64(i + 1), PID: 1, Start: 1, End: 2}, false)
			}
		}
		add(1)
		s.Flush()
		time.Sleep(batchTime - 1)
		add(1)
		s.Flush()
		if queued := e.Counts()["span"]; queued.Sent+queued.Queued != 0 {
			t.Errorf("%+v", queued)
		}
		time.Sleep(time.Nanosecond)
		s.Flush()
		time.Sleep(time.Hour)
		s.Flush()
		add(2*maxSpans + 1)
		s.Close()
		e.Close(t.Context())
		var sizes []int
		for _, body := range to.got {
			sizes = append(sizes, len(spansOf(t, body).ResourceSpans[0].ScopeSpans[0].Spans))
		}
		if !slices.Equal(sizes, []int{2, 4096, 4096, 1}) {
			t.Error(sizes)
		}
	})
}

// TestIDs checks that IDs are unique and not 0, for any seeds.
func TestIDs(t *testing.T) {
	for _, seed := range []uint64{1 << 63, 1<<63 | 12345, ^uint64(0)} {
		s := Spans{seeds: [3]uint64{seed, seed, seed}}
		seen := make(map[string]bool)
		const n = 100_000
		for call := uint64(1); call <= n; call++ {
			trace, span := hex.EncodeToString(s.traceID(call)), hex.EncodeToString(s.spanID(call))
			if len(trace) != 32 || len(span) != 16 || strings.Trim(span, "0") == "" {
				t.Fatalf("%s %s", trace, span)
			}
			seen[trace], seen[span] = true, true
		}
		if len(seen) != 2*n || s.spanID(0) != nil {
			t.Errorf("%d IDs of %d calls", len(seen), n)
		}
	}
}

// TestExporterMetrics checks that metrics include the counts of sent metrics and spans, also of rejected spans.
func TestExporterMetrics(t *testing.T) {
	e, to := exporting(t, status(403), status(200))
	s := e.Spans([]string{"f"}, µs)
	s.Add(&pairing.Call{ID: 1, Root: 1, PID: 1, Start: 1, End: 2}, false)
	s.Close()
	for e.Counts()["span"].Queued > 0 {
		runtime.Gosched()
	}
	m := scraped()
	m.Sent = e.Counts()
	e.Metrics(m)
	e.Close(t.Context())
	if len(to.got) != 2 || !strings.Contains(to.got[1], "otel.sdk.exporter.span.exported") || !strings.Contains(to.got[1], "403") || !strings.Contains(to.got[1], "store") {
		t.Errorf("%q", to.got)
	}
	if news := strings.Join(e.Messages(), "\n"); strings.Count(news, "\n") != 0 || !strings.Contains(news, "the collector at http://collector/v1/traces rejected 1 span: 403 Forbidden") {
		t.Error(news)
	}
}
