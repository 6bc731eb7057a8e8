package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestSummaryJSON(t *testing.T) {
	s := stats.Summary{
		Hits: 900000, Delivered: 504440, Lost: 395560, Unparsed: 2, Probes: 12, Functions: 4, Seconds: 10.25,
		Skipped: []stats.Skipped{{Function: "main.f<T>", Reason: "undecodable byte at +0x1a"}},
	}
	golden(t, "summary.json", func(w *bytes.Buffer) error { return SummaryJSON(w, s, nil) })
	s.Skipped = nil
	golden(t, "summary-nothing-skipped.json", func(w *bytes.Buffer) error { return SummaryJSON(w, s, nil) })
}

func TestJSONWithoutLatency(t *testing.T) {
	var b bytes.Buffer
	// A histogram that happens to be there is not part of a count.
	fixture.NoError(t, Functions(&b, ordinary(), Options{Format: JSON}))
	if text := b.String(); strings.Contains(text, `"ns"`) || strings.Contains(text, `"histogram"`) {
		t.Errorf("count has latencies: %s", text)
	}
}
