package metrics

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	pb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
)

// Limits of a message: the number of spans, and the time that the first span waits for others.
const (
	maxSpans  = 4096
	batchTime = 5 * time.Second
)

// Spans converts the calls of one stream to spans, and queues them in batches.
type Spans struct {
	exporter   *Exporter
	names      []string // names of the functions
	wall       func(ticks uint64) time.Time
	seeds      [3]uint64 // of trace and span IDs
	byPID      map[int][]*pb.Span
	count      int                // of all spans in byPID
	oldest     time.Time          // when the first of them was added
	attributes []*common.KeyValue // one attribute per function: its name
	latest     uint64             // the latest end of a call, in ticks
	joined     joined
}

// mix is the finalizer of MurmurHash3. It is a bijection, maps only 0 to 0, and makes each bit depend on all bits of x.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// traceID returns the trace ID of a tree of calls. Trace and span IDs are unique within a run, because mix is a
// bijection, and unique among runs with high probability, because the seeds are random.
func (s *Spans) traceID(root uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, mix(root^s.seeds[0])), mix(root^s.seeds[1]))
}

// spanID returns a span ID, nil for 0, the parent of a root call.
func (s *Spans) spanID(call uint64) []byte {
	if call == 0 {
		return nil
	}
	return binary.BigEndian.AppendUint64(nil, mix(call^s.seeds[2]))
}

// Spans returns a Spans for calls of the functions with the given names; wall converts the ticks of calls to a time.
func (e *Exporter) Spans(names []string, wall func(ticks uint64) time.Time) *Spans {
	s := &Spans{exporter: e, names: make([]string, len(names)), wall: wall, byPID: make(map[int][]*pb.Span)}
	for i := range s.seeds {
		s.seeds[i] = rand.Uint64() | 1<<63 // no ID of a call has the top bit, so no ID is 0, which OpenTelemetry forbids
	}
	for i, name := range names {
		s.names[i] = valid(name)
		s.attributes = append(s.attributes, text("code.function.name", name))
	}
	return s
}

// flags: the span was sampled, and its parent is not remote.
const flags = uint32(pb.SpanFlags_SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK) | 1

// Add adds a call that has ended, or that was still open when tracing ended. If failed is true, the call returned an
// error.
func (s *Spans) Add(c *pairing.Call, failed bool) {
	s.latest = max(s.latest, c.End)
	trace, parent := s.identity(c)
	span := &pb.Span{
		TraceId: trace, SpanId: s.spanID(c.ID), ParentSpanId: parent, Flags: flags,
		Name: s.names[c.Func], Kind: pb.Span_SPAN_KIND_INTERNAL, Attributes: []*common.KeyValue{s.attributes[c.Func], number("thread.id", int64(c.TID))},
		StartTimeUnixNano: nano(s.wall(c.Start)),
	}
	// The span of an open call ends at the latest end of any call so far.
	span.EndTimeUnixNano = max(nano(s.wall(cmp.Or(c.End, s.latest))), span.StartTimeUnixNano)
	if c.Goid != 0 {
		span.Attributes = append(span.Attributes, number("ftgo.goroutine.id", int64(c.Goid)))
	}
	if c.Outcome != pairing.Returned {
		span.Attributes = append(span.Attributes, text("ftgo.call.end", c.Outcome.String()))
	}
	if failed {
		span.Status = &pb.Status{Code: pb.Status_STATUS_CODE_ERROR}
	}
	if s.byPID[c.PID] = append(s.byPID[c.PID], span); s.count == 0 {
		s.oldest = time.Now()
	}
	if s.count++; s.count >= maxSpans {
		s.Close()
	}
}

// Flush queues the spans if the oldest has waited for batchTime.
func (s *Spans) Flush() {
	if time.Since(s.oldest) >= batchTime {
		s.Close()
	}
}

// Close queues the remaining spans.
func (s *Spans) Close() {
	if s.count == 0 {
		return
	}
	e := s.exporter
	request := &collector.ExportTraceServiceRequest{}
	for _, pid := range slices.Sorted(maps.Keys(s.byPID)) {
		request.ResourceSpans = append(request.ResourceSpans, &pb.ResourceSpans{
			Resource: resourceOf(&e.about, e.config.Resource, pid), SchemaUrl: schemaURL,
			ScopeSpans: []*pb.ScopeSpans{{Scope: scopeOf(&e.about), Spans: s.byPID[pid], SchemaUrl: schemaURL}},
		})
	}
	e.traces.put(request, uint64(s.count))
	clear(s.byPID)
	s.count = 0
}
