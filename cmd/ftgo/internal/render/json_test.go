package render

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/madeup"
)

type functionLine struct {
	Type      string          `json:"type"`
	Function  string          `json:"function"`
	Calls     uint64          `json:"calls"`
	Completed uint64          `json:"completed"`
	Unwound   uint64          `json:"unwound"`
	Open      uint64          `json:"open"`
	Lost      uint64          `json:"lost"`
	Rate      float64         `json:"rate"`
	NS        *latencyNS      `json:"ns"`
	Buckets   json.RawMessage `json:"buckets"`
	Histogram []struct {
		From, To int64
		Count    uint64
	} `json:"histogram"`
}

type latencyNS struct {
	Min  int64 `json:"min"`
	Mean int64 `json:"mean"`
	P50  int64 `json:"p50"`
	P90  int64 `json:"p90"`
	P99  int64 `json:"p99"`
	Max  int64 `json:"max"`
	Sum  int64 `json:"sum"`
}

func TestFunctionsJSONParsesBack(t *testing.T) {
	rows := append(ordinary(), append(eventful(), extreme()...)...)
	for _, name := range madeup.HostileNames {
		rows = append(rows, stats.Func{Name: name, Calls: 1, Seconds: 3})
	}
	var b bytes.Buffer
	fixture.NoError(t, Functions(&b, JSON, rows, Options{Latency: true}))
	decoder := json.NewDecoder(&b)
	decoder.DisallowUnknownFields()
	for _, row := range rows {
		var got functionLine
		fixture.NoError(t, decoder.Decode(&got))
		want := functionLine{
			Type: "function", Function: strings.ToValidUTF8(row.Name, "\ufffd"), Rate: row.Rate(),
			Calls: row.Calls, Completed: row.Completed, Unwound: row.Unwound, Open: row.Open, Lost: row.Lost,
		}
		if h := row.Latency; h != nil && h.Count() > 0 {
			want.NS = &latencyNS{h.Quantile(0), h.Mean(), h.Quantile(0.5), h.Quantile(0.9), h.Quantile(0.99), h.Quantile(1), h.Sum()}
			var inBuckets uint64
			for _, bucket := range got.Histogram {
				inBuckets += bucket.Count
			}
			if inBuckets != h.Count() {
				t.Errorf("%q: histogram holds %d latencies, want %d", row.Name, inBuckets, h.Count())
			}
		}
		got.Histogram, got.Buckets = nil, nil // see TestAgain of package compare
		// encoding/json turns each byte that is not UTF-8 into U+FFFD, ToValidUTF8 runs.
		got.Function = squeezed(got.Function)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("parsed %+v, want %+v", got, want)
		}
	}
}

func squeezed(s string) string {
	for strings.Contains(s, "\ufffd\ufffd") {
		s = strings.ReplaceAll(s, "\ufffd\ufffd", "\ufffd")
	}
	return s
}

func TestSummaryJSON(t *testing.T) {
	s := stats.Summary{
		Hits: 900000, Delivered: 504440, Lost: 395560, Unparsed: 2, Probes: 12, Functions: 4, Seconds: 10.25,
		Skipped: []stats.Skipped{{Function: "main.f<T>", Reason: "undecodable byte at +0x1a"}},
	}
	golden(t, "summary.json", func(w *bytes.Buffer) error { return SummaryJSON(w, s, nil) })
	s.Skipped = nil
	golden(t, "summary-nothing-skipped.json", func(w *bytes.Buffer) error { return SummaryJSON(w, s, nil) })
}

// Readers of the raw lines see the keys in the documented order.
func TestJSONKeyOrder(t *testing.T) {
	var b bytes.Buffer
	fixture.NoError(t, Functions(&b, JSON, ordinary()[:1], Options{Latency: true}))
	fixture.NoError(t, List(&b, JSON, []target.Row{{}}, Options{}))
	want := [][]string{
		{"type", "function", "calls", "completed", "unwound", "open", "lost", "rate", "ns", "histogram", "buckets"},
		{"type", "function", "address", "offset", "size", "abi", "entry", "returns", "position", "signature", "source", "inlined", "note"},
	}
	for i, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		if got := keys(t, line); !slices.Equal(got, want[i]) {
			t.Errorf("keys %q, want %q", got, want[i])
		}
	}
}

// keys returns the keys of a JSON object in the order of the text.
func keys(t *testing.T, object string) []string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(object))
	var keys []string
	if _, err := decoder.Token(); err != nil {
		t.Fatal(err)
	}
	for decoder.More() {
		key, err := decoder.Token()
		fixture.NoError(t, err)
		keys = append(keys, key.(string))
		var value json.RawMessage
		fixture.NoError(t, decoder.Decode(&value))
	}
	return keys
}

func TestJSONWithoutLatency(t *testing.T) {
	var b bytes.Buffer
	// A histogram that happens to be there is not part of a count.
	fixture.NoError(t, Functions(&b, JSON, ordinary(), Options{}))
	if text := b.String(); strings.Contains(text, `"ns"`) || strings.Contains(text, `"histogram"`) {
		t.Errorf("count has latencies: %s", text)
	}
}
