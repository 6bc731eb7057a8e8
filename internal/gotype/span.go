package gotype

import (
	"reflect"
	"slices"
)

// ContextValue is the offset of the pointer in the value of a *context.valueCtx.
const ContextValue = 40

// A context of ContextTypes has a parent, but no value.
var ContextTypes = []string{
	"*context.cancelCtx", "*context.timerCtx", "*context.afterFuncCtx", "context.withoutCancelCtx", "context.stopCtx", "*orchestrion.glsContext",
}

// A context of EmptyContexts has no parent.
var EmptyContexts = []string{"*context.emptyCtx", "context.emptyCtx", "context.backgroundCtx", "context.todoCtx"}

// SpanTypes are the types of spans in contexts: of OpenTelemetry's SDK, which records the span or not, of its API, and of
// Datadog before and since 2.12.
var SpanTypes = []string{
	"*go.opentelemetry.io/otel/sdk/trace.recordingSpan", "go.opentelemetry.io/otel/sdk/trace.nonRecordingSpan", "go.opentelemetry.io/otel/trace.nonRecordingSpan",
	"*github.com/DataDog/dd-trace-go/v2/ddtrace/tracer.Span", "*github.com/DataDog/dd-trace-go/v2/ddtrace/tracer.spanCtx",
}

// SpanKeys are the types of the keys of spans in contexts.
var SpanKeys = []string{"trace.traceContextKeyType", "internal.contextKey"}

// SpanPlace is the place of a trace ID of 16 bytes.
type SpanPlace struct {
	At      int64 // the offset in the context of a pointer
	Through int64 // the offset from there of a second pointer, or -1
	ID      int64 // the offset from there of the trace ID
	// Span and Flags are offsets from the trace ID, of the span ID and of the flags. If Flags is 0, the span ID is a number
	// instead of eight bytes, and flags are not known.
	Span, Flags int64
}

// Words returns the number of words from the trace ID on.
func (p *SpanPlace) Words() int { return int(max(p.Span+8, p.Flags+1)+7) / 8 }

// SpanIn returns the place of the trace ID in a span, or in a context that has a span.
func SpanIn(t *Type) (p SpanPlace, ok bool) {
	p = SpanPlace{At: ContextValue, Through: -1}
	for _, name := range []string{"spanContext", "sc", "context", "snapshot", ""} { // context and snapshot are pointers in Datadog's types
		if t.Kind == reflect.Pointer {
			t = t.Elem()
		}
		if t == nil || t.Kind != reflect.Struct {
			return p, false
		}
		i := slices.IndexFunc(t.Fields, func(f Field) bool { return f.Name == name })
		if i < 0 {
			continue
		}
		switch f := t.Fields[i]; {
		case name == "snapshot":
			p.At = f.Offset
		case f.Type.Kind == reflect.Pointer:
			p.Through = f.Offset
		default:
			p.ID = f.Offset
		}
		t = t.Fields[i].Type
	}
	id, ok1 := t.FieldOffset("traceID")
	span, ok2 := t.FieldOffset("spanID")
	flags, ok3 := t.FieldOffset("traceFlags")
	if p.ID += id; ok3 {
		p.Flags = flags - id
	}
	p.Span = span - id
	return p, ok1 && ok2 && p.Span >= 16 && p.Words() <= 8
}
