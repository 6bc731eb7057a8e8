package metrics

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/ftgo/ftgo/internal/stats"
)

// golden compares a message with a file in testdata.
func golden(t *testing.T, name string, m proto.Message) {
	t.Helper()
	b, err := protojson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, b, "", "\t"); err != nil { // protojson puts spaces where nobody can rely on them
		t.Fatal(err)
	}
	got := indented.String() + "\n"
	path := filepath.Join("testdata", name)
	if os.Getenv("FTGO_UPDATE") == "1" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || got != string(want) {
		t.Errorf("differs from %s (FTGO_UPDATE=1 makes it so): %v\n%s", path, err, got)
	}
}

var about = About{Release: "v1", Host: "web1", Service: "shop"}

// snapshot returns a snapshot with a function that has all numbers, one that is only counted, and one that is no longer
// probed.
func snapshot() *Snapshot {
	full := Function{
		Func: stats.Func{
			Name: "main.(*Store).Get", Calls: 9, Completed: 4, Unwound: 1, CountedOnly: 3, Lost: 1, Errors: 2, ReturnsErrors: true,
			Latency: &stats.Histogram{}, Split: stats.Split{Running: 5e6, Waiting: 15e6},
		},
		Since: noon.Add(-time.Minute), Probed: true, Low: 0.019, High: 0.021, Unseen: stats.Estimate{Calls: 11, Low: 6, High: 20},
	}
	for _, ns := range []int64{0, 1e6, 1_048_576, 3e6} {
		full.Latency.Record(ns)
	}
	return &Snapshot{
		From: noon.Add(-time.Hour), At: noon, About: about,
		Functions: []Function{
			full, {Func: stats.Func{Name: "main.count", Calls: 1 << 62}, Probed: true, Since: noon}, {Func: stats.Func{Name: "main.gone\xff"}, Since: noon.Add(-time.Hour)},
		},
		Run: Run{
			Summary: stats.Summary{Hits: 30, Delivered: 28, Lost: 2, Probes: 7, Skipped: make([]stats.Skipped, 1), Budget: 0.25, OwnCPU: time.Second},
			Files:   []File{{Path: "/bin/shop", BuildID: "12ab", GoVersion: "go1.26.8", PIDs: []int{3, 4}}, {Path: "/bin/shop", BuildID: "a/b"}},
			Plans:   2, Failed: 1, Cost: 200 * time.Millisecond, CPU: 2 * time.Second,
		},
	}
}

// TestMetrics compares the message for a snapshot with testdata/metrics.json.
func TestMetrics(t *testing.T) {
	s := snapshot()
	s.Sent = map[string]Sending{
		"span":       {Sent: 1000, Queued: 30, Failed: map[string]uint64{"queue_full": 17, "400": 2}},
		"data point": {Sent: 5},
	}
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
	s := snapshot()
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
