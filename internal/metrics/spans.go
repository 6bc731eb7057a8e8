package metrics

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	pb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
)

// A message has so many spans at most, and waits for others no longer than this.
const (
	mostSpans = 4096
	batchTime = 5 * time.Second
)

// Spans makes spans of the calls of one stream, and has them sent. Calls are to be told when they have ended.
type Spans struct {
	exporter *Exporter
	names    []string // of functions
	wall     func(ticks uint64) time.Time
	ids      ids
	of       map[int][]*pb.Span // by process
	n        int
	oldest   time.Time          // when the first of them came
	named    []*common.KeyValue // the attribute of each function
	latest   uint64             // when a call was last seen to end
}

// ids makes trace and span IDs of the numbers of calls. They are unique, because no two numbers make the same, and
// random, because the seeds are.
type ids [3]uint64

func newIDs() (s ids) {
	var b [24]byte
	rand.Read(b[:]) // never fails
	for i := range s {
		s[i] = binary.LittleEndian.Uint64(b[8*i:]) | 1<<63 // no number of a call has that bit, so that none makes 0
	}
	return s
}

// mix is the end of MurmurHash3: it is a bijection, makes 0 of 0 alone, and lets each bit depend on all.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

func (s *ids) trace(root uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, mix(root^s[0])), mix(root^s[1]))
}

// span is nil for call 0, which is none.
func (s *ids) span(call uint64) []byte {
	if call == 0 {
		return nil
	}
	return binary.BigEndian.AppendUint64(nil, mix(call^s[2]))
}

// Spans sends calls of functions with names as spans; wall tells the time of their clock.
func (e *Exporter) Spans(names []string, wall func(ticks uint64) time.Time) *Spans {
	s := &Spans{exporter: e, names: make([]string, len(names)), wall: wall, ids: newIDs(), of: make(map[int][]*pb.Span)}
	for i, name := range names {
		s.names[i] = strings.ToValidUTF8(name, "\uFFFD")
		s.named = append(s.named, text("code.function.name", name))
	}
	return s
}

// flags say that a span was sampled, and that its parent is known to be of the same process.
const flags = uint32(pb.SpanFlags_SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK) | 1

// Add takes a call that has ended, or that was open when tracing ended; failed: it has returned an error.
func (s *Spans) Add(c *pairing.Call, failed bool) {
	s.latest = max(s.latest, c.End)
	span := &pb.Span{
		TraceId: s.ids.trace(c.Root), SpanId: s.ids.span(c.ID), ParentSpanId: s.ids.span(c.Parent), Flags: flags,
		Name: s.names[c.Func], Kind: pb.Span_SPAN_KIND_INTERNAL, Attributes: []*common.KeyValue{s.named[c.Func], number("thread.id", int64(c.TID))},
		StartTimeUnixNano: nano(s.wall(c.Start)),
	}
	// An open call has lasted for as long as anything was seen.
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
	if s.of[c.PID] = append(s.of[c.PID], span); s.n == 0 {
		s.oldest = s.exporter.clock.Now()
	}
	if s.n++; s.n >= mostSpans {
		s.Close()
	}
}

// Flush sends spans that have waited for long enough.
func (s *Spans) Flush() {
	if s.exporter.clock.Now().Sub(s.oldest) >= batchTime {
		s.Close()
	}
}

// Close hands the spans over that wait.
func (s *Spans) Close() {
	if s.n == 0 {
		return
	}
	e := s.exporter
	request := &collector.ExportTraceServiceRequest{}
	for _, pid := range slices.Sorted(maps.Keys(s.of)) {
		request.ResourceSpans = append(request.ResourceSpans, &pb.ResourceSpans{
			Resource: resourceOf(&e.about, e.config.Resource, pid), SchemaUrl: schemaURL,
			ScopeSpans: []*pb.ScopeSpans{{Scope: scopeOf(&e.about), Spans: s.of[pid], SchemaUrl: schemaURL}},
		})
	}
	e.traces.Put(request, uint64(s.n))
	clear(s.of)
	s.n = 0
}
