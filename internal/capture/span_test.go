package capture

import (
	"reflect"
	"testing"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// Types of contexts and spans, by the last digits of their addresses.
var (
	anyContext  = &gotype.Type{Name: "context.Context", Kind: reflect.Interface, Size: 16, Align: 8, Methods: true}
	otelContext = structOf("trace.SpanContext", 56, at("traceID", 0, 16), at("spanID", 16, 8), at("traceFlags", 24, 1))
	dogContext  = structOf("tracer.SpanContext", 64, at("updated", 0, 8), at("traceID", 8, 32), gotype.Field{Name: "spanID", Offset: 40, Type: basic("uint64")})
	spanTypesOf = map[uint64]*gotype.Type{
		0x7100: basic("int").Named("trace.traceContextKeyType"), 0x7108: basic("int").Named("internal.contextKey"), 0x7110: basic("int"),
		0x7200: gotype.PointerTo(structOf("context.valueCtx", 48)), 0x7208: gotype.PointerTo(structOf("context.cancelCtx", 48)),
		0x7210: structOf("context.backgroundCtx", 0), 0x7218: gotype.PointerTo(structOf("main.myCtx", 48)),
		0x7220: gotype.PointerTo(structOf("context.timerCtx", 48, gotype.Field{Name: "cancelCtx", Type: gotype.PointerTo(inner)})),
		0x7228: gotype.PointerTo(structOf("tracer.spanCtx", 32, gotype.Field{Name: "snapshot", Offset: 24, Type: gotype.PointerTo(dogContext)})),
		0x7300: gotype.PointerTo(structOf("trace.recordingSpan", 200, gotype.Field{Name: "parent", Type: otelContext}, gotype.Field{Name: "spanContext", Offset: 64, Type: otelContext})),
		0x7308: gotype.PointerTo(structOf("tracer.Span", 80, gotype.Field{Name: "context", Offset: 72, Type: gotype.PointerTo(dogContext)})),
		0x7310: structOf("trace.otherSpan", 8), 0x7318: structOf("main.otherValue", 8),
	}
	named = map[string]uint64{gotype.SpanTypes[0]: 0x7300, gotype.SpanTypes[3]: 0x7308, gotype.SpanTypes[4]: 0x7228}
)

func at(name string, offset, size int64) gotype.Field {
	return gotype.Field{Name: name, Offset: offset, Type: &gotype.Type{Kind: reflect.Array, Size: size, Align: 1}}
}

// spanMachine has spans at 0x20000 and 0x20100 with the trace ID 0102…10, and contexts.
func spanMachine() (m *machine, opt Options) {
	m, opt = newMachine(), options
	for addr, t := range spanTypesOf {
		t.Direct = t.Kind == reflect.Pointer
		m.types[addr], m.itabs[addr+0x1000] = t, addr
	}
	opt.Type = func(name string) (*gotype.Type, error) { return m.types[named[name]], none[named[name] == 0] }
	id := []uint64{0x0807060504030201, 0x100f0e0d0c0b0a09}
	m.put(0x20040, id[0], id[1], 0x1817161514131211, 1)
	m.put(0x20148, 0x20200)
	m.put(0x20200, 0, id[0], id[1], 0, 0, 0x1112131415161718)
	m.put(0x20340, 0, 0, 0, 0)
	value := func(at, parent, data, key, typ, val uint64) { m.put(at, parent, data, key, 0, typ, val) }
	value(0x21000, 0x8210, 0x1, 0x7100, 0x7300, 0x20000)     // an OpenTelemetry span
	value(0x21100, 0x8200, 0x21000, 0x7110, 0x7318, 0x20000) // a value behind it
	value(0x21200, 0x8208, 0x21300, 0x7108, 0x7318, 0x20000) // another package's internal.contextKey
	m.put(0x21300, 0x8200, 0x21100, 0, 0, 0, 0)              // a cancelCtx
	value(0x21400, 0x8210, 0x1, 0x7108, 0x7308, 0x20100)     // a Datadog span
	m.put(0x21500, 0x8200, 0x21000, 0, 0x20200, 0, 0)        // a spanCtx
	value(0x21600, 0x8200, 0x21600, 0x7110, 0x7318, 0x20000) // its own parent
	value(0x21700, 0x8210, 0x1, 0x7100, 0x7310, 0x20000)     // an unknown span
	value(0x21800, 0x8210, 0x1, 0x7100, 0x7300, 0x20300)     // no valid trace
	value(0x21900, 0x8200, 0x99000, 0x7110, 0x7318, 0x20000)
	return m, opt
}

// none maps whether there is no type to the error.
var none = map[bool]error{true: offsets.ErrNoDebugInfo}

// TestSpans checks the trace ID in contexts.
func TestSpans(t *testing.T) {
	const id, span = "0102030405060708090a0b0c0d0e0f10", "1112131415161718"
	m, opt := spanMachine()
	for _, c := range []struct {
		name       string
		itab, data uint64
		want       string
	}{
		{"OpenTelemetry", 0x8200, 0x21000, id}, {"behind a value", 0x8200, 0x21100, id}, {"behind a cancelCtx", 0x8200, 0x21200, id},
		{"Datadog", 0x8200, 0x21400, id}, {"Datadog's own context", 0x8228, 0x21500, id},
		{"none", 0x8210, 0x1, "<unreadable: " + noSpan + ">"}, {"not valid", 0x8200, 0x21800, "<unreadable: " + noSpan + ">"},
		{"nil", 0, 0, "<unreadable: " + badPointer + ">"}, {"nowhere", 0x8200, 0x21900, "<unreadable: " + badPointer + ">"},
		{"too far", 0x8200, 0x21600, "<not in the first 8 contexts>"}, {"unknown span", 0x8200, 0x21700, "<not known of a trace.otherSpan>"},
		{"unknown context", 0x8218, 0x21000, "<not known of a *main.myCtx>"}, {"pointer in a context", 0x8220, 0x21000, "<not known of a *context.timerCtx>"},
	} {
		m.registers = map[string]uint64{"ax": c.itab, "bx": c.data}
		m.put(0x22000+0x40, c.itab, c.data)
		capture, err := NewBuilder([]offsets.Variable{inRegisters("n", basic("int"), "cx"), inRegisters("ctx", anyContext, "ax", "bx")}, opt).Capture([]string{"trace", "traceparent"}, nil)
		fixture.NoError(t, err)
		values := capture.AppendValues(nil, m.fetch(t, capture.Args), m)
		want, parent := c.want, c.want
		if want == id {
			want, parent = `"`+id+`"`, `"00-`+id+"-"+span+`-01"`
		}
		if got := values[0].Text(); got != want || values[1].Text() != parent {
			t.Errorf("%s: %s, %s", c.name, got, values[1].Text())
		}
	}
}

// TestNoSpans checks which paths are refused, and that a variable takes precedence.
func TestNoSpans(t *testing.T) {
	_, opt := spanMachine()
	for _, c := range []struct {
		vars []offsets.Variable
		opt  Options
		want string
	}{
		{[]offsets.Variable{inRegisters("n", basic("int"), "ax")}, opt, `read path "trace": no argument is known to be a context.Context or *http.Request`},
		{[]offsets.Variable{inRegisters("trace", basic("int"), "ax")}, opt, ""},
		{[]offsets.Variable{inRegisters("ctx", anyContext, "ax", "bx")}, Options{Type: func(string) (*gotype.Type, error) { return nil, offsets.ErrNoDebugInfo }},
			`read path "trace": the program has no spans of OpenTelemetry or Datadog that ftgo knows`},
	} {
		typ, err := NewBuilder(c.vars, c.opt).Type("trace")
		if err != nil && err.Error() != c.want || err == nil && (c.want != "" || typ.Kind != reflect.Int) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestLabels checks labels in a list and in a map, and that they are known if the arguments are lost.
func TestLabels(t *testing.T) {
	m := newMachine()
	m.put(0x30000, 0x31000)          // g.labels
	m.put(0x31000, 0x32000, 2, 2, 0) // since Go 1.24: a list
	m.put(0x32000, 0x10000, 4, 0x10000, 5, 0x10000, 5, 0x10007, 4, 0x1, 9, 0x1, 9)
	m.put(0x32100, make([]uint64, 24)...)
	m.put(0x30100, 0)       // no labels
	m.put(0x30200, 0x31200) // a list of seven
	m.put(0x31200, 0x32100, 7, 7, 0)
	m.put(0x30300, 0x33000) // before: a pointer to a map
	m.put(0x33000, 0x33100)
	m.put(0x33100, 1, 0, 0x33200, 0)
	m.put(0x33200, 0x05, 0x10000, 5)
	m.put(0x33200+136, 0x10007, 4)
	for _, c := range []struct {
		g    uint64
		list bool
		path string
		want string
	}{
		{0x30000, true, "label:hell", `"hello"`}, {0x30000, true, `label:"hello"`, `"wide"`}, {0x30000, true, "label:wide", "<unreadable: no such label>"},
		{0x30100, true, "label:hello", "<unreadable: no such label>"}, {0x30200, true, "label:hello", "<not among the first 6 labels>"},
		{0x30300, false, "label:hello", `"wide"`}, {0x30300, false, "label:hell", "<unreadable: no such label>"}, {0x30100, false, "label:hello", "<unreadable: no such label>"},
	} {
		opt := options
		opt.Labels = offsets.Variable{Type: basic("uintptr").Named(gotype.LabelList), Pieces: []offsets.Piece{{Size: 8, InMemory: true, Register: "r14"}}}
		if !c.list {
			opt.Labels.Type.Name, opt.Labels.Through = gotype.LabelMap, []int64{0}
		}
		opt.Resume = 0x4000
		m.registers = map[string]uint64{"r14": c.g, "ax": 1, "bx": opt.Resume}
		capture, err := NewBuilder([]offsets.Variable{inRegisters("n", basic("int"), "ax")}, opt).Capture([]string{c.path, "n"}, nil)
		fixture.NoError(t, err)
		values := capture.AppendValues(nil, m.fetch(t, capture.Args), m)
		if got := values[0].Text(); got != c.want || values[1].State == Known {
			t.Errorf("%s of %#x: %s, and n is %s", c.path, c.g, got, values[1].Text())
		}
	}
}
