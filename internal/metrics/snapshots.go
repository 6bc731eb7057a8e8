package metrics

import (
	"runtime"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// suffixes are those that names of metrics have for their units.
var suffixes = map[string]string{"s": "_seconds", "1": "_ratio"}

// described is what the library wants to know of a metric.
func described[Of any](prefix string, m *Metric[Of], labels ...string) (*prometheus.Desc, prometheus.ValueType) {
	name := prefix + m.Name + suffixes[m.Unit]
	if m.Counter {
		return describe(name+"_total", m.Help, labels...), prometheus.CounterValue
	}
	return describe(name, m.Help, labels...), prometheus.GaugeValue
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("ftgo_"+name, help, labels, nil)
}

var (
	buildInfo = describe("build_info", "1, with what ftgo is.", "version", "goversion")
	service   = describe("service_info", "1, with what is exported, and where.", "service", "host", "kernel")
	sent      = describe("otlp_sent_total", "Items that the collector of OpenTelemetry has taken.", "item")
	failed    = describe("otlp_failed_total", "Items that will never arrive at the collector of OpenTelemetry.", "item", "reason")
	queued    = describe("otlp_queued", "Items that wait to be sent to the collector of OpenTelemetry.", "item")
	processes = describe("file_processes", "Processes that run a file which is probed now.", "path", "build_id", "go_version")
	duration  = describe("function_duration_seconds", "How long completed calls took, net of what probes cost.", "function")
)

// snapshots has the library ask for snapshots.
type snapshots struct {
	latest func() *Snapshot
}

// Describe and Collect are those of a prometheus.Collector. One that describes nothing has its metrics checked when
// they are collected.
func (snapshots) Describe(chan<- *prometheus.Desc) {}

func (c snapshots) Collect(out chan<- prometheus.Metric) {
	s := c.latest()
	info := func(desc *prometheus.Desc, value float64, labels ...string) {
		for i, text := range labels { // paths and names may be any bytes, which the library does not take
			labels[i] = strings.ToValidUTF8(text, "\uFFFD")
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
	for i := range OfRun {
		desc, kind := described("", &OfRun[i])
		if value, has := OfRun[i].Value(s); has {
			out <- must(prometheus.NewConstMetric(desc, kind, value))
		}
	}
	for i := range OfFunctions {
		desc, kind := described("function_", &OfFunctions[i], "function")
		for k := range s.Functions {
			f := &s.Functions[k]
			value, has := OfFunctions[i].Value(f)
			switch {
			case !has:
			case kind == prometheus.CounterValue:
				out <- must(prometheus.NewConstMetricWithCreatedTimestamp(desc, kind, value, f.Since, f.Name))
			default:
				out <- must(prometheus.NewConstMetric(desc, kind, value, f.Name))
			}
		}
	}
	for i := range s.Functions {
		if f := &s.Functions[i]; f.Latency != nil {
			out <- newHistogram(f)
		}
	}
}

// must is a metric that can always be made; the library tells of one that could not.
func must(m prometheus.Metric, err error) prometheus.Metric {
	if err != nil {
		return prometheus.NewInvalidMetric(duration, err)
	}
	return m
}
