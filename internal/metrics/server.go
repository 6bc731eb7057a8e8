package metrics

import (
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Limits of the server, so that its clients take little CPU time and memory from the program.
const (
	maxRequests    = 4
	maxConnections = 64
)

// NewHandler returns a handler that serves the snapshot returned by latest, at /metrics.
func NewHandler(latest func() *Snapshot) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(snapshots(latest), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		EnableOpenMetrics: true, MaxRequestsInFlight: maxRequests, ErrorHandling: promhttp.ContinueOnError,
	}))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ftgo export: see /metrics") })
	return mux
}

// Listen listens at a TCP address. Connections wait until Serve is called.
func Listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		err = failed.Err // without the address, which the message below has
	}
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", address, err)
	}
	return l, nil
}

// Serve answers requests in the background. It closes each connection after its answer, and a new connection if
// maxConnections are open.
func Serve(l net.Listener, h http.Handler) *http.Server {
	var open atomic.Int64 // number of connections
	server := &http.Server{
		Handler: h, ErrorLog: log.New(io.Discard, "", 0), MaxHeaderBytes: 16 << 10, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		ConnState: func(c net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				if open.Add(1) > maxConnections {
					c.Close()
				}
			case http.StateClosed:
				open.Add(-1)
			}
		},
	}
	server.SetKeepAlivesEnabled(false)
	go server.Serve(l) // returns http.ErrServerClosed after Close
	return server
}

var suffixes = map[string]string{"s": "_seconds", "1": "_ratio"}

// descOf returns the Prometheus description and type of a metric.
func descOf(prefix string, m *metric, labels ...string) (*prometheus.Desc, prometheus.ValueType) {
	name := prefix + m.name + suffixes[m.unit]
	if m.counter {
		return describe(name+"_total", m.help, labels...), prometheus.CounterValue
	}
	return describe(name, m.help, labels...), prometheus.GaugeValue
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("ftgo_"+name, help, labels, nil)
}

var (
	buildInfo = describe("build_info", "1, with the version of ftgo as labels.", "version", "goversion")
	service   = describe("service_info", "1, with the exported program and the host as labels.", "service", "host", "kernel")
	sent      = describe("otlp_sent_total", "Items that the collector of OpenTelemetry has taken.", "item")
	failed    = describe("otlp_failed_total", "Items that will never arrive at the collector of OpenTelemetry.", "item", "reason")
	queued    = describe("otlp_queued", "Items that wait to be sent to the collector of OpenTelemetry.", "item")
	processes = describe("file_processes", "Processes that run a file which is probed now.", "path", "build_id", "go_version")
	duration  = describe("function_duration_seconds", "Durations of completed calls, net of the cost of probes.", "function")
)

// snapshots is a prometheus.Collector of the metrics of the snapshot that it returns.
type snapshots func() *Snapshot

// Describe implements prometheus.Collector. It sends nothing, which makes this an unchecked collector: the library
// checks its metrics when it collects them.
func (snapshots) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (latest snapshots) Collect(out chan<- prometheus.Metric) {
	s := latest()
	info := func(desc *prometheus.Desc, value float64, labels ...string) {
		for i, text := range labels {
			labels[i] = valid(text)
		}
		out <- must(prometheus.NewConstMetric(desc, prometheus.GaugeValue, value, labels...))
	}
	info(buildInfo, 1, s.About.Release, runtime.Version())
	info(service, 1, s.About.Service, s.About.Host, s.About.Kernel)
	for _, f := range s.Run.Files {
		info(processes, float64(len(f.PIDs)), f.Path, f.BuildID, f.GoVersion)
	}
	for item, of := range s.Sent {
		item = strings.ReplaceAll(item, " ", "_")
		out <- must(prometheus.NewConstMetricWithCreatedTimestamp(sent, prometheus.CounterValue, float64(of.Sent), s.From, item))
		info(queued, float64(of.Queued), item)
		for reason, n := range of.Failed {
			out <- must(prometheus.NewConstMetricWithCreatedTimestamp(failed, prometheus.CounterValue, float64(n), s.From, item, reason))
		}
	}
	for _, m := range s.ofRun() {
		desc, kind := descOf("", &m)
		out <- must(prometheus.NewConstMetric(desc, kind, m.value))
	}
	for _, f := range s.Functions {
		for _, m := range s.of(f) {
			desc, kind := descOf("function_", &m, "function")
			switch {
			case math.IsNaN(m.value):
			case kind == prometheus.CounterValue:
				out <- must(prometheus.NewConstMetricWithCreatedTimestamp(desc, kind, m.value, s.Since[f.Name], f.Name))
			default:
				out <- must(prometheus.NewConstMetric(desc, kind, m.value, f.Name))
			}
		}
		if f.Latency != nil {
			out <- newHistogram(f, s.Since[f.Name])
		}
	}
}

// must returns m or, if creating it failed, a metric that the library leaves out of its answer
// (promhttp.ContinueOnError). Creating it can't fail if the labels match the descriptions above and are valid UTF-8.
func must(m prometheus.Metric, err error) prometheus.Metric {
	if err != nil {
		return prometheus.NewInvalidMetric(duration, err)
	}
	return m
}
