package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/testdata/fixture"
)

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
