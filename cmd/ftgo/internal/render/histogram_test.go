package render

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestHistogramUnit(t *testing.T) {
	for _, test := range []struct {
		name     string
		min, max int64
		want     string
	}{
		{"fast", 812, 5e6, "nsecs"},
		{"all at least a microsecond", 1000, 5e6, "usecs"},
		{"all at least a millisecond", 1e6, 2e6, "msecs"},
		{"all at least a second", 1e9, 3600e9, "secs"},
		{"fast and slower than ten digits of ns", 812, 9e9, "usecs"},
		{"fast and hours", 812, 7200 * 1e9 * 2, "msecs"},
		{"all there is", 0, math.MaxInt64, "secs"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b bytes.Buffer
			fixture.NoError(t, Histograms(&b, []stats.Func{{Latency: histogram(test.min, test.max)}}, Options{Hist: true}))
			if header := strings.Split(b.String(), "\n")[2]; strings.Fields(header)[0] != test.want {
				t.Errorf("header %q, want %s", header, test.want)
			}
		})
	}
}

func TestHistogramStaysWithin80Columns(t *testing.T) {
	many := &stats.Histogram{}
	const text = `{"min":1,"max":4611686018427387904,"sum":9223372036854775807,"counts":[[1,35184372088832],[16777216,1],[4611686018427387904,1]]}`
	fixture.NoError(t, json.Unmarshal([]byte(text), many))
	var b bytes.Buffer
	fixture.NoError(t, Histograms(&b, append(extreme(), stats.Func{Name: "main.f", Latency: many}), Options{Hist: true}))
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		if len(line) > 80 && !strings.HasPrefix(line, "Function = ") {
			t.Errorf("%d columns: %q", len(line), line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("trailing blanks: %q", line)
		}
	}
}
