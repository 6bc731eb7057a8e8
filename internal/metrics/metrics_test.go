package metrics

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// golden compares a message with a file in testdata.
func golden(t *testing.T, name string, m proto.Message) {
	t.Helper()
	b, err := protojson.Marshal(m)
	fixture.NoError(t, err)
	var indented bytes.Buffer
	fixture.NoError(t, json.Indent(&indented, b, "", "\t")) // protojson puts spaces where nobody can rely on them
	fixture.Golden(t, filepath.Join("testdata", name), indented.String()+"\n")
}

var about = About{Release: "v1", Host: "web1", Service: "shop"}

// TestMetrics compares the message for a snapshot with testdata/metrics.json.
func TestMetrics(t *testing.T) {
	s := scraped()
	m, points := metricsOf(s, map[string]string{"service.name": "store", "process.pid": "1", "deployment.environment.name": "test"})
	n, names := 0, make(map[string]bool)
	for _, m := range m.ResourceMetrics[0].ScopeMetrics[0].Metrics {
		n += len(m.GetSum().GetDataPoints()) + len(m.GetGauge().GetDataPoints()) + len(m.GetExponentialHistogram().GetDataPoints())
		if names[m.Name] {
			t.Errorf("%s is there twice", m.Name)
		}
		names[m.Name] = true
	}
	if uint64(n) != points {
		t.Errorf("%d data points, counted %d", n, points)
	}
	golden(t, "metrics.json", m)
}

// TestNothingProbed checks that data points have the time of the snapshot while no file is probed: the last reading may
// be long ago, and two different messages must not have the same time.
func TestNothingProbed(t *testing.T) {
	s := scraped()
	for _, c := range []struct {
		files []File
		want  time.Time
	}{{s.Run.Files, s.At}, {nil, s.At.Add(time.Hour)}} {
		s.Created, s.Run.Files = s.At.Add(time.Hour), c.files
		m, _ := metricsOf(s, nil)
		for _, m := range m.ResourceMetrics[0].ScopeMetrics[0].Metrics {
			for _, p := range append(m.GetGauge().GetDataPoints(), m.GetSum().GetDataPoints()...) {
				if p.TimeUnixNano != nano(c.want) {
					t.Fatalf("%d files are probed: %s is of %d, not %d", len(c.files), m.Name, p.TimeUnixNano, nano(c.want))
				}
			}
		}
	}
}

// TestExponentialMetrics checks that a histogram has at most maxBuckets buckets however far latencies are apart, and
// that each bucket has the right count within the accuracy of stats.Histogram.
func TestExponentialMetrics(t *testing.T) {
	for _, spread := range []float64{0, 0.5, 2, 10, 20, 40} {
		h, r := &stats.Histogram{}, rand.New(rand.NewPCG(1, 2))
		for range 1000 {
			h.Record(int64(1000 * math.Exp2(r.Float64()*spread)))
		}
		e := limitedExponential(h)
		factor := math.Exp2(math.Exp2(-float64(e.scale)))
		if len(e.counts) > maxBuckets || spread < 2 && e.scale != maxScale || spread > 2 && len(e.counts) < maxBuckets/2 {
			t.Errorf("spread %v: %d buckets at scale %d", spread, len(e.counts), e.scale)
		}
		seen := uint64(0)
		for i, n := range e.counts {
			seen += n
			if i == len(e.counts)-1 {
				break
			}
			edge := math.Pow(factor, float64(e.first+i+1)) * 1e9
			if low, high := h.AtMost(int64(edge*0.985)), h.AtMost(int64(edge*1.015)); seen < low || seen > high {
				t.Fatalf("spread %v: %d up to %v, not from %d to %d", spread, seen, edge, low, high)
			}
		}
		if seen != h.Count() || e.counts[0] == 0 || e.counts[len(e.counts)-1] == 0 {
			t.Errorf("spread %v: %d of %d, first %d, last %d", spread, seen, h.Count(), e.counts[0], e.counts[len(e.counts)-1])
		}
	}
}
