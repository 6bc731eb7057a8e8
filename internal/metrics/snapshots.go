package metrics

import (
	"runtime"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// described is a metric as the library knows it.
type described[Of any] struct {
	Metric[Of]
	desc *prometheus.Desc
	kind prometheus.ValueType
}

var (
	singles   = describeAll("", OfRun)
	functions = describeAll("function_", OfFunctions, "function")
)

// suffixes are those that names of metrics have for their units.
var suffixes = map[string]string{"s": "_seconds", "1": "_ratio"}

func describeAll[Of any](prefix string, list []Metric[Of], labels ...string) (all []described[Of]) {
	for _, m := range list {
		d := described[Of]{Metric: m, kind: prometheus.GaugeValue}
		name := prefix + m.Name + suffixes[m.Unit]
		if m.Counter {
			d.kind = prometheus.CounterValue
			name += "_total"
		}
		d.desc = describe(name, m.Help, labels...)
		all = append(all, d)
	}
	return all
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

// Describe and Collect are those of a prometheus.Collector.
func (snapshots) Describe(out chan<- *prometheus.Desc) {
	for _, m := range singles {
		out <- m.desc
	}
	for _, m := range functions {
		out <- m.desc
	}
	for _, d := range []*prometheus.Desc{buildInfo, service, sent, failed, queued, processes, duration} {
		out <- d
	}
}

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
	for _, m := range singles {
		if value, has := m.Value(s); has {
			out <- must(prometheus.NewConstMetric(m.desc, m.kind, value))
		}
	}
	for i := range s.Functions {
		f := &s.Functions[i]
		for _, m := range functions {
			value, has := m.Value(f)
			switch {
			case !has:
			case m.kind == prometheus.CounterValue:
				out <- must(prometheus.NewConstMetricWithCreatedTimestamp(m.desc, m.kind, value, f.Since, f.Name))
			default:
				out <- must(prometheus.NewConstMetric(m.desc, m.kind, value, f.Name))
			}
		}
		if f.Latency != nil {
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
