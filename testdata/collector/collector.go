// Package collector is an OpenTelemetry collector for tests, which keeps what it gets.
package collector

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	metricsservice "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	traceservice "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
)

// Collector is one that listens at URL. What it has got is to be read when it is closed.
type Collector struct {
	*httptest.Server
	Spans []Span
	// Values are those of the last data points, by the metric and the function, "" for those of none. Histograms have
	// the number of calls.
	Values map[string]map[string]float64
	Failed error // the first request that was not understood

	mu sync.Mutex
}

// Span is a call.
type Span struct {
	Trace, ID, Parent string // in hexadecimal
	Name, Function    string
	End               string // ftgo.call.end
	Service           string
	Failed            bool
	Began, Ended      uint64
}

// New starts a collector.
func New() *Collector {
	c := &Collector{Values: make(map[string]map[string]float64)}
	c.Server = httptest.NewServer(c)
	return c
}

// ServeHTTP takes a request.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.take(r); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		if c.Failed == nil {
			c.Failed = err
		}
	}
}

func (c *Collector) take(r *http.Request) (err error) {
	in := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		if in, err = gzip.NewReader(in); err != nil {
			return err
		}
	}
	body, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	switch r.URL.Path {
	case "/v1/traces":
		return c.takeSpans(body)
	case "/v1/metrics":
		return c.takeMetrics(body)
	}
	return fmt.Errorf("request of %s", r.URL)
}

// text is an attribute that is one.
func text(attributes []*common.KeyValue, key string) string {
	for _, a := range attributes {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

func (c *Collector) takeSpans(body []byte) error {
	var m traceservice.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &m); err != nil {
		return err
	}
	for _, of := range m.ResourceSpans {
		for _, s := range of.ScopeSpans[0].Spans {
			c.Spans = append(c.Spans, Span{
				Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId), Name: s.Name,
				Function: text(s.Attributes, "code.function.name"), End: text(s.Attributes, "ftgo.call.end"), Service: text(of.Resource.Attributes, "service.name"),
				Failed: s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR, Began: s.StartTimeUnixNano, Ended: s.EndTimeUnixNano,
			})
		}
	}
	return nil
}

func (c *Collector) takeMetrics(body []byte) error {
	var m metricsservice.ExportMetricsServiceRequest
	if err := proto.Unmarshal(body, &m); err != nil {
		return err
	}
	for _, metric := range m.ResourceMetrics[0].ScopeMetrics[0].Metrics {
		values := make(map[string]float64)
		for _, p := range slices.Concat(metric.GetSum().GetDataPoints(), metric.GetGauge().GetDataPoints()) {
			values[text(p.Attributes, "code.function.name")+text(p.Attributes, "error.type")] = p.GetAsDouble() + float64(p.GetAsInt())
		}
		for _, p := range metric.GetExponentialHistogram().GetDataPoints() {
			values[text(p.Attributes, "code.function.name")] = float64(p.Count)
		}
		c.Values[metric.Name] = values
	}
	return nil
}

// Shapes are how many traces look alike: names of calls, without package main, with what is below them, in order.
func Shapes(spans []Span) (shapes map[string]int, err error) {
	below, ids := make(map[[2]string][]*Span), make(map[string]bool) // by trace and parent
	for i := range spans {
		s := &spans[i]
		if ids[s.ID] || len(s.Trace) != 32 || len(s.ID) != 16 || s.Function != s.Name || s.Ended < s.Began {
			return nil, fmt.Errorf("span %+v is there twice, or is none", s)
		}
		ids[s.ID] = true
		key := [2]string{s.Trace, s.Parent}
		below[key] = append(below[key], s)
	}
	seen := 0
	var shape func(trace, parent string) string
	shape = func(trace, parent string) string {
		var parts []string
		for _, s := range below[[2]string{trace, parent}] {
			seen++
			part := strings.TrimPrefix(s.Name, "main.")
			if more := shape(trace, s.ID); more != "" {
				part += "(" + more + ")"
			}
			parts = append(parts, part)
		}
		slices.Sort(parts)
		return strings.Join(parts, " ")
	}
	shapes = make(map[string]int)
	for key := range below {
		if key[1] == "" {
			shapes[shape(key[0], "")]++
		}
	}
	if seen != len(spans) {
		return shapes, fmt.Errorf("%d of %d spans are below no root", len(spans)-seen, len(spans))
	}
	return shapes, nil
}
