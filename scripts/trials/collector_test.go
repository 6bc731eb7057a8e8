package trials

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/collector"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// collectorAt is where the collector listens, behind what the trial puts before it.
const collectorAt = "127.0.0.1:8812"

// TestTrialCollector sends spans to a collector that is not always there: see scripts/collector.
func TestTrialCollector(t *testing.T) {
	tracetest.Kernel(t)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	check(t, err)
	defer log.Close()
	running := startCollector(t, log)
	var patience atomic.Int64 // the status that it answers instead
	front := before(&patience)
	defer front.Close()

	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1000")
	t.Setenv("OTEL_METRIC_EXPORT_INTERVAL", "1000")
	target := fixture.Build(t, "spawn")
	tracer := command(t, time.Minute, fixture.Command(t, "cmd/ftgo"), "export", "--otlp", front.URL, "--spans", "--budget", "0", target, "main.handle", "main.part", "main.leaf", "main.deep")
	check(t, tracer.start())
	time.Sleep(2 * time.Second)
	program := command(t, time.Minute, target, "-for", "25s", "-pause", "3ms")
	check(t, program.start())

	sleep := func(seconds float64) { time.Sleep(time.Duration(seconds * float64(time.Second))) }
	sleep(1)
	running.kill()
	_, _ = running.wait()
	t.Log("killed")
	sleep(3)
	running = startCollector(t, log)
	sleep(3)
	check(t, running.signal(syscall.SIGSTOP))
	t.Log("hangs")
	sleep(4)
	check(t, running.signal(syscall.SIGCONT))
	sleep(2)
	for _, status := range []int64{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		patience.Store(status)
		t.Logf("answers %d", status)
		sleep(3)
	}
	patience.Store(0)
	served, err := program.wait()
	check(t, err)
	check(t, tracer.signal(syscall.SIGTERM))
	told, err := tracer.wait()
	check(t, err)
	running.kill()
	_, _ = running.wait()
	t.Logf("%s%s", served.stdout, told.stderr)

	var made struct{ Requests int }
	check(t, json.Unmarshal([]byte(served.stdout), &made))
	spans, twice := received(t, log.Name())
	shapes, err := collector.Shapes(spans)
	want := map[string]int{"handle(part(deep leaf) part(leaf) part(leaf))": made.Requests}
	if err != nil || fmt.Sprint(shapes) != fmt.Sprint(want) {
		t.Errorf("%v, want %v: %v", shapes, want, err)
	}
	t.Logf("%d spans of %d traces arrived, %d of them twice", len(spans), made.Requests, twice)
}

// startCollector starts the collector, and waits until it listens.
func startCollector(t *testing.T, log *os.File) *child {
	t.Helper()
	config := fmt.Sprintf(`yaml:{receivers: {otlp: {protocols: {http: {endpoint: %q}}}}, exporters: {debug: {verbosity: detailed}},
service: {telemetry: {metrics: {level: none}}, pipelines: {traces: {receivers: [otlp], exporters: [debug]}, metrics: {receivers: [otlp], exporters: [debug]}}}}`, collectorAt)
	c := command(t, time.Hour, os.Getenv("FTGO_COLLECTOR"), "--config", config)
	c.Stdout, c.Stderr = log, log
	check(t, c.start())
	for range 100 {
		if _, err := http.Get("http://" + collectorAt); err == nil {
			return c
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the collector does not listen")
	return nil
}

// before is a server before the collector, which answers a status itself unless that is 0, and asks for patience. It
// has no answer where the collector has none.
func before(status *atomic.Int64) *httptest.Server {
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: collectorAt})
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch code := int(status.Load()); code {
		case 0:
			proxy.ServeHTTP(w, r)
		case http.StatusTooManyRequests:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(code)
		default:
			w.Header().Set("Retry-After", time.Now().Add(2*time.Second).UTC().Format(http.TimeFormat))
			w.WriteHeader(code)
		}
	}))
}

// received are the spans that a collector's log has, and how many are there again: a request that it has taken, and not
// answered, is sent anew.
func received(t *testing.T, path string) (spans []collector.Span, twice int) {
	t.Helper()
	f, err := os.Open(path)
	check(t, err)
	defer f.Close()
	seen := make(map[string]bool)
	var s collector.Span
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, value, _ := strings.Cut(strings.TrimSpace(lines.Text()), ":")
		switch value = strings.TrimSpace(value); strings.TrimSpace(key) {
		case "Trace ID":
			s = collector.Span{Trace: value}
		case "Parent ID":
			s.Parent = value
		case "ID":
			s.ID = value
		case "Name":
			if s.Name, s.Function = value, value; s.ID == "" { // of a metric
				break
			}
			if seen[s.ID] {
				twice++
			} else {
				seen[s.ID], spans = true, append(spans, s)
			}
			s = collector.Span{}
		}
	}
	return spans, twice
}
