package metrics

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/stats"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	pb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
)

const scopeName = "github.com/ftgo/ftgo"

// schemaURL names the version of the semantic conventions that define the attributes.
const schemaURL = "https://opentelemetry.io/schemas/1.37.0"

// valid replaces invalid UTF-8, which protobuf and Prometheus refuse.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

func text(key, value string) *common.KeyValue {
	return &common.KeyValue{Key: valid(key), Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: valid(value)}}}
}

func number(key string, value int64) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: value}}}
}

// resourceOf returns the resource of the program and its host and, if pid is not 0, of a process. Attributes in env
// replace the attributes of about. If pid is not 0, it replaces process.pid of env.
func resourceOf(about *About, env map[string]string, pid int) *resource.Resource {
	all := map[string]string{"service.name": about.Service, "host.name": about.Host}
	maps.Copy(all, env)
	r := &resource.Resource{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if key != "process.pid" || pid == 0 {
			r.Attributes = append(r.Attributes, text(key, all[key]))
		}
	}
	if pid != 0 {
		r.Attributes = append(r.Attributes, number("process.pid", int64(pid)))
	}
	return r
}

func scopeOf(about *About) *common.InstrumentationScope {
	return &common.InstrumentationScope{Name: scopeName, Version: about.Release}
}

// metricsOf returns a message with all numbers of a snapshot, and the number of its data points.
func metricsOf(s *Snapshot, env map[string]string) (m *collector.ExportMetricsServiceRequest, points uint64) {
	b := builder{s: s, at: max(nano(s.At), nano(s.From)), named: make(map[string]*pb.Metric)} // At is 0 before the first reading
	for _, name := range slices.Sorted(maps.Keys(s.Functions)) {
		b.functions = append(b.functions, s.Functions[name])
	}
	if len(s.Run.Files) == 0 { // At does not advance, and collectors refuse old data points
		b.at = max(b.at, nano(s.Created))
	}
	for _, m := range s.ofRun() {
		b.add("ftgo.", m, s.From)
	}
	for _, f := range b.functions {
		for _, m := range s.of(f) {
			b.add("ftgo.function.", m, s.Since[f.Name], text("code.function.name", f.Name))
		}
	}
	b.durations()
	for _, f := range s.Run.Files {
		m := metric{"file.processes", "{process}", false, "Processes that run a file which is probed now.", float64(len(f.PIDs))}
		b.add("ftgo.", m, s.From, fileOf(&f)...)
	}
	for _, item := range slices.Sorted(maps.Keys(s.Sent)) {
		b.sent(item, s.Sent[item])
	}
	return &collector.ExportMetricsServiceRequest{ResourceMetrics: []*pb.ResourceMetrics{{
		Resource: resourceOf(&s.About, env, 0), SchemaUrl: schemaURL,
		ScopeMetrics: []*pb.ScopeMetrics{{Scope: scopeOf(&s.About), Metrics: b.metrics, SchemaUrl: schemaURL}},
	}}}, b.points
}

// builder converts a snapshot to OTLP metrics.
type builder struct {
	s         *Snapshot
	functions []*stats.Func // sorted by name
	at        uint64        // time of all data points, in Unix nanoseconds
	metrics   []*pb.Metric
	named     map[string]*pb.Metric
	points    uint64
}

// add adds a data point, unless its value is NaN. A counter has counted since from.
func (b *builder) add(prefix string, m metric, from time.Time, attributes ...*common.KeyValue) {
	if math.IsNaN(m.value) {
		return
	}
	name := prefix + m.name
	all := b.named[name]
	if all == nil {
		all = &pb.Metric{Name: name, Unit: m.unit, Description: m.help, Data: &pb.Metric_Gauge{Gauge: &pb.Gauge{}}}
		if m.counter {
			all.Data = &pb.Metric_Sum{Sum: &pb.Sum{IsMonotonic: true, AggregationTemporality: pb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE}}
		}
		b.named[name], b.metrics = all, append(b.metrics, all)
	}
	b.points++
	point := &pb.NumberDataPoint{Attributes: attributes, TimeUnixNano: b.at}
	if m.unit == "s" || m.unit == "1" {
		point.Value = &pb.NumberDataPoint_AsDouble{AsDouble: m.value}
	} else {
		point.Value = &pb.NumberDataPoint_AsInt{AsInt: int64(m.value)}
	}
	if sum := all.GetSum(); sum != nil {
		point.StartTimeUnixNano = nano(from)
		sum.DataPoints = append(sum.DataPoints, point)
	} else {
		all.GetGauge().DataPoints = append(all.GetGauge().DataPoints, point)
	}
}

// nano returns a time in Unix nanoseconds, 0 for the zero time and times before 1970.
func nano(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(max(t.UnixNano(), 0))
}

const maxBuckets = 160 // maximum number of buckets of a histogram

// limitedExponential converts a histogram with the largest scale that needs no more than maxBuckets.
func limitedExponential(h *stats.Histogram) exponential {
	e := newExponential(h, maxScale)
	for len(e.counts) > maxBuckets {
		e = newExponential(h, e.scale-1)
	}
	return e
}

func (b *builder) durations() {
	all := &pb.ExponentialHistogram{AggregationTemporality: pb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE}
	for _, f := range b.functions {
		if f.Latency == nil {
			continue
		}
		e := limitedExponential(f.Latency)
		all.DataPoints = append(all.DataPoints, &pb.ExponentialHistogramDataPoint{
			Attributes:        []*common.KeyValue{text("code.function.name", f.Name)},
			StartTimeUnixNano: nano(b.s.Since[f.Name]), TimeUnixNano: b.at,
			Count: f.Latency.Count(), Sum: new(f.Latency.Seconds()), Scale: int32(e.scale), ZeroCount: e.zero,
			Positive: &pb.ExponentialHistogramDataPoint_Buckets{Offset: int32(e.first), BucketCounts: e.counts},
			Min:      new(seconds(f.Latency.Quantile(0))), Max: new(seconds(f.Latency.Quantile(1))),
		})
		b.points++
	}
	if len(all.DataPoints) > 0 {
		b.metrics = append(b.metrics, &pb.Metric{
			Name: "ftgo.function.duration", Unit: "s", Description: "Durations of completed calls, net of the cost of probes.",
			Data: &pb.Metric_ExponentialHistogram{ExponentialHistogram: all},
		})
	}
}

func fileOf(f *File) (known []*common.KeyValue) {
	buildID := "process.executable.build_id.gnu"
	if strings.Trim(f.BuildID, "0123456789abcdef") != "" {
		buildID = "process.executable.build_id.go"
	}
	for _, a := range [...]struct{ key, value string }{{"process.executable.path", f.Path}, {buildID, f.BuildID}, {"process.runtime.version", f.GoVersion}} {
		if a.value != "" {
			known = append(known, text(a.key, a.value))
		}
	}
	return known
}

// sent adds the counts of sent, failed and queued items, with the metric names of OpenTelemetry's SDK.
func (b *builder) sent(item string, c Sending) {
	unit := strings.ReplaceAll(item, " ", "_")
	prefix := "otel.sdk.exporter." + strings.Replace(unit, "data_point", "metric_data_point", 1)
	kind, own := text("otel.component.type", "otlp_http_exporter"), text("otel.component.name", "otlp_http_exporter/0")
	m := metric{".exported", "{" + unit + "}", true, "Items that have been sent or, with an error.type, that will never arrive.", float64(c.Sent)}
	b.add(prefix, m, b.s.From, kind, own)
	for _, reason := range slices.Sorted(maps.Keys(c.Failed)) {
		m.value = float64(c.Failed[reason])
		b.add(prefix, m, b.s.From, kind, own, text("error.type", reason))
	}
	m.name, m.help, m.value = ".inflight", "Items that wait to be sent, or are being sent.", float64(c.Queued)
	b.add(prefix, m, b.s.From, kind, own)
	b.named[prefix+m.name].GetSum().IsMonotonic = false // the queue may shrink
}
