package metrics

import (
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// scraped returns a snapshot with a function that has all numbers, one that is only counted, and one that is no longer
// probed.
func scraped() *Snapshot {
	b := NewAggregator(About{Release: "v1", Host: "web1", Kernel: "6.18", Service: "shop"}, began)
	old := b.Open()
	old.Describe(File{Path: "/bin/shop", BuildID: "1"})
	old.Update(began.Add(time.Second), []stats.Func{{Name: "main.gone\xff\n", Calls: 2, Lost: 1}}, &stats.Summary{Seconds: 1}, 0)
	old.Close()
	p := b.Open()
	p.Describe(File{Path: "/bin/shop", BuildID: "2", GoVersion: "go1.26.8"})
	p.SetPIDs([]int{12, 34})
	full := stats.Func{
		Name: "main.(*Store).Get", Calls: 9, Completed: 4, Unwound: 1, CountedOnly: 3, Errors: 2, ReturnsErrors: true,
		Latency: &stats.Histogram{}, Split: stats.Split{Running: 5e6, Waiting: 15e6}, Estimate: &stats.Estimate{Calls: 20, Low: 15, High: math.Inf(1)},
	}
	for _, ms := range []int64{1, 3, 6, 10} {
		full.Time(stats.Timing{Raw: ms*1e6 + 900, Net: ms * 1e6, Low: ms*1e6 - 500, High: ms*1e6 + 400, Known: true})
	}
	p.Update(began.Add(5*time.Second), []stats.Func{full, {Name: "main.count", Calls: 1 << 40}},
		&stats.Summary{Seconds: 4, Probes: 7, Budget: 0.25, Hits: 30, Delivered: 28, Lost: 2, Probing: &stats.Probing{NS: 2e8}, Skipped: make([]stats.Skipped, 1)},
		2500*time.Millisecond)
	b.Failed()
	s := b.Snapshot()
	s.Run.OwnCPU = 300 * time.Millisecond
	s.Sent = map[string]Sending{"span": {Sent: 90, Queued: 7, Failed: map[string]uint64{"queue_full": 3}}, "data point": {Sent: 40}}
	return s
}

// scrape returns the response for an Accept header.
func scrape(t *testing.T, c prometheus.Collector, accept string) string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	r := httptest.NewRequest("GET", "/metrics", nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(w, r)
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// TestAnyBytes checks that paths and names with any bytes are exported, and can't forge a line.
func TestAnyBytes(t *testing.T) {
	text := scrape(t, snapshots(func() *Snapshot {
		return &Snapshot{
			About: About{Service: "a\xffb"},
			Run:   Run{Files: []File{{Path: "/tmp/\xff\"} 1\nforged 1\n"}}},
		}
	}), "text/plain")
	for _, want := range []string{"service=\"a\uFFFDb\"", "path=\"/tmp/\uFFFD\\\"} 1\\nforged 1\\n\""} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// TestText compares the response with testdata/scrape.txt, except Go's version, and checks it with Prometheus's linter.
func TestText(t *testing.T) {
	c := snapshots(scraped)
	got := scrape(t, c, "application/openmetrics-text; version=1.0.0")
	lines := strings.SplitAfter(got, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "ftgo_build_info{") {
			lines[i] = "ftgo_build_info{goversion=\"go\",version=\"v1\"} 1.0\n"
		}
	}
	got = strings.Join(lines, "")
	fixture.Golden(t, "testdata/scrape.txt", got)
	problems, err := promlint.New(strings.NewReader(scrape(t, c, "text/plain; version=0.0.4"))).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v %v", problems, err)
	}
}

// TestNative checks the buckets of the native histogram.
func TestNative(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(snapshots(scraped))
	families, err := registry.Gather()
	fixture.NoError(t, err)
	var h *dto.Histogram
	for _, f := range families {
		if f.GetName() == "ftgo_function_duration_seconds" {
			h = f.Metric[0].Histogram
		}
	}
	if h.GetSampleCount() != 4 || h.GetSampleSum() != 0.02 || h.GetSchema() != maxScale || h.GetCreatedTimestamp().AsTime() != began.Add(time.Second).UTC() {
		t.Errorf("%v", h)
	}
	var uppers []float64
	number, count, delta := 0, int64(0), 0
	for _, span := range h.PositiveSpan {
		number += int(span.GetOffset())
		for range span.GetLength() {
			count += h.PositiveDelta[delta]
			for range count {
				uppers = append(uppers, math.Exp2(float64(number)/(1<<maxScale)))
			}
			delta++
			number++
		}
	}
	for i, ms := range []float64{1, 3, 6, 10} {
		if len(uppers) != 4 || uppers[i] < ms/1000*0.99 || uppers[i] > ms/1000*1.02 {
			t.Fatalf("the bounds of the calls are %v", uppers)
		}
	}
}

// TestClassicNeverLess checks that no bucket of the classic histogram decreases.
func TestClassicNeverLess(t *testing.T) {
	var h stats.Histogram
	before := make([]uint64, len(bounds))
	for _, ns := range []int64{10_000_000, 10_000_000, 20_000_000, 1000, 70e9} {
		h.Record(ns)
		for i, b := range classic(&h) {
			if b.GetCumulativeCount() < before[i] {
				t.Errorf("up to %v s there were %d, and are %d", bounds[i], before[i], b.GetCumulativeCount())
			}
			before[i] = b.GetCumulativeCount()
		}
	}
	if last := before[len(before)-1]; last != 4 {
		t.Errorf("%d are at most %v s", last, bounds[len(bounds)-1])
	}
}

// TestServer checks the responses, that Close closes all connections, and that a port in use is an error.
func TestServer(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	fixture.NoError(t, err)
	address := l.Addr().String()
	if other, err := Listen(address); err == nil {
		other.Close()
		t.Error("two servers listen at one port")
	}
	s := Serve(l, NewHandler(scraped))
	defer s.Close()
	for path, want := range map[string]string{"/": "/metrics", "/metrics": "ftgo_function_calls_total{function=\"main.count\"} 1.099511627776e+12", "/other": "404"} {
		answer, err := http.Get("http://" + address + path)
		fixture.NoError(t, err)
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if !strings.Contains(string(body), want) {
			t.Errorf("%s: %s", path, body)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", address); err == nil {
		c.Close()
		t.Error("it listens after its end")
	}
}

// TestFormats checks that docs/formats.md has a row for each metric, with its help text, and no other rows.
func TestFormats(t *testing.T) {
	page, err := os.ReadFile("../../docs/formats.md")
	fixture.NoError(t, err)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(snapshots(scraped))
	families, err := registry.Gather()
	fixture.NoError(t, err)
	want := make(map[string]bool)
	for _, f := range families {
		var labels []string
		for _, l := range f.Metric[0].Label {
			labels = append(labels, l.GetName())
		}
		want[fmt.Sprintf("| `%s` | %s | %s | %s |", f.GetName(), strings.ToLower(f.GetType().String()), strings.Join(labels, ", "), f.GetHelp())] = true
	}
	for row := range want {
		if !strings.Contains(string(page), row+"\n") {
			t.Errorf("docs/formats.md has no row\n%s", row)
		}
	}
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| `ftgo_") && !want[strings.TrimSpace(line)] {
			t.Errorf("docs/formats.md has the row %s", line)
		}
	}
}
