package render

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/valuetext"
)

// Thread is where something happened. Goid is the goroutine, 0 for code that runs on a thread's
// own stack.
type Thread struct {
	Goid          uint64
	PID, TID, CPU int
}

// CallLine is what a line tells of a traced call, and where it began.
type CallLine struct {
	// Time is when the call began, by the clock on the wall, Ended when it returned or
	// was seen to be gone; the zero Time if that is not known.
	Time, Ended time.Time
	Function    string
	Thread
	// Depth is the number of traced calls that this one is inside of.
	Depth int
	// NS is how long a call took that has returned. Low and High bound what it would have taken
	// without probes; High is 0 where that is not known. Split divides NS, where that was asked for.
	NS, Low, High int64
	Split         stats.Split
	// End is how the call ended: "return", "unwound" (by a panic or Goexit), "open" (it
	// has not), "lost" (the event of it was). It is "" in a line of the call's begin.
	End string
	// Args are known at the begin and at the end, Results if End is "return".
	Args, Results []capture.Value
	// Stack are the callers, the innermost first; nil if nobody asked for them.
	Stack []stats.Location
	// ArgsNote says why there are none, or more than these; "" if nothing is missing.
	ArgsNote string
}

// splitParts are what latencies are divided into.
var splitParts = [...]struct {
	name, short string
	of          func(stats.Split) int64
}{
	{"running", "run", func(s stats.Split) int64 { return s.Running }},
	{"runnable", "runnable", func(s stats.Split) int64 { return s.Runnable }},
	{"waiting", "wait", func(s stats.Split) int64 { return s.Waiting }},
}

// CallOptions say how a [CallWriter] writes calls.
type CallOptions struct {
	Format Format
	// Begins has a line when a call begins and one when it ends, rather than one line
	// for both at its end. It is for text, as are Times and what follows.
	Begins bool
	// Entries has only lines of begins: calls are not seen to end.
	Entries bool
	// Times begins lines with the time: of the call's begin, in a second line of its end.
	Times bool
	// Tree indents calls by their depth.
	Tree bool
	// Processes names the process too: goroutines of several ones are mixed.
	Processes bool
	// Stacks adds a column of callers to CSV and TSV; the other formats have them where a
	// call does.
	Stacks bool
	// Sched adds what latencies were spent with.
	Sched bool
	// Line, if not nil, is what a line has rather than the call as Go would spell it.
	// There is one line a call: when it ends or, with Entries, when it begins.
	Line *CallFormat
}

// CallWriter writes traced calls, a line each, by one call of Write.
//
// Text ([Table]) is for people and is not aligned beyond the latency; nothing of the
// traced program can end a line, or put into one what is not printable:
//
//	  12.3µs  goroutine 1  main.get(key="bob", n=3) = ("hi bob", nil)
//	> goroutine 1 main.get(key="bob", n=3)
//	< goroutine 1 main.get = ("hi bob", nil) 12.3µs
//
// Callers follow, a line each. JSON is an object a call, CSV and TSV have a row each, with args
// and results as JSON. A latency is that of a call that has returned; others have none.
type CallWriter struct {
	w       io.Writer
	o       CallOptions
	columns []column[*CallLine] // of CSV and TSV
	line    []byte
}

// NewCallWriter returns a CallWriter that writes to w.
func NewCallWriter(w io.Writer, o CallOptions) *CallWriter {
	return &CallWriter{w: w, o: o, columns: callColumns(o)}
}

// Header writes what stands above the first call: the column names of CSV and TSV.
func (w *CallWriter) Header() error { return writeHeader(w.w, w.o.Format, w.columns) }

// Call writes a line. Lines of begins are left out, unless there are two lines a call
// or no others.
func (w *CallWriter) Call(c *CallLine) error {
	if c.End == "" && !w.o.Entries && (w.o.Format != Table || !w.o.Begins || w.o.Line != nil) {
		return nil
	}
	switch w.o.Format {
	case JSON:
		w.line = w.appendCallJSON(w.line[:0], c)
	case CSV, TSV:
		return writeData(w.w, w.o.Format, false, w.columns, c)
	default:
		w.line = appendStack(w.appendText(w.line[:0], c), "            ", c.Stack)
	}
	w.line = append(w.line, '\n')
	return write(w.w, "call", w.line)
}

// jsonTime is RFC 3339 with all nine digits: times of one stream are aligned, and sort
// as text.
const jsonTime = "2006-01-02T15:04:05.000000000Z"

func (w *CallWriter) appendCallJSON(b []byte, c *CallLine) []byte {
	b = append(c.Time.UTC().AppendFormat(append(b, `{"type":"call","time":"`...), jsonTime), '"')
	b = printable.AppendJSON(append(b, `,"function":`...), c.Function)
	b = fmt.Appendf(b, `,"goid":%d,"pid":%d,"tid":%d,"cpu":%d,"depth":%d`, c.Goid, c.PID, c.TID, c.CPU, c.Depth)
	if c.returned() {
		b = strconv.AppendInt(append(b, `,"ns":`...), c.NS, 10)
		if c.High > 0 {
			b = strconv.AppendInt(append(b, `,"ns_low":`...), c.Low, 10)
			b = strconv.AppendInt(append(b, `,"ns_high":`...), c.High, 10)
		}
		if w.o.Sched {
			s := c.Split
			b = fmt.Appendf(b, `,"sched":{"running":%d,"runnable":%d,"waiting":%d}`, s.Running, s.Runnable, s.Waiting)
		}
	}
	if c.End != "" {
		b = printable.AppendJSON(append(b, `,"end":`...), c.End)
	}
	b = valuetext.AppendObject(append(b, `,"args":`...), c.Args)
	if c.ArgsNote != "" {
		b = printable.AppendJSON(append(b, `,"args_note":`...), c.ArgsNote)
	}
	if c.returned() {
		b = valuetext.AppendObject(append(b, `,"results":`...), c.Results)
	}
	if c.Stack != nil {
		b = appendStackJSON(append(b, `,"stack":`...), c.Stack)
	}
	return append(b, '}')
}

func callColumns(o CallOptions) []column[*CallLine] {
	columns := []column[*CallLine]{
		{"time", true, func(c *CallLine) any { return c.Time.UTC().Format(jsonTime) }},
		{"function", true, func(c *CallLine) any { return c.Function }},
		{"goid", true, func(c *CallLine) any { return c.Goid }},
		{"pid", true, func(c *CallLine) any { return c.PID }},
		{"tid", true, func(c *CallLine) any { return c.TID }},
		{"cpu", true, func(c *CallLine) any { return c.CPU }},
		{"depth", true, func(c *CallLine) any { return c.Depth }},
		{"ns", true, func(c *CallLine) any { return known(c.returned(), c.NS) }},
		{"end", true, func(c *CallLine) any { return c.End }},
		{"args", true, func(c *CallLine) any { return c.object(c.Args) }},
		{"results", true, func(c *CallLine) any { return known(c.returned(), c.object(c.Results)) }},
	}
	for _, p := range splitParts {
		columns = append(columns, column[*CallLine]{p.name + "_ns", o.Sched, func(c *CallLine) any {
			return known(c.returned(), p.of(c.Split))
		}})
	}
	return append(columns, column[*CallLine]{"stack", o.Stacks, func(c *CallLine) any {
		return known(c.Stack != nil, string(appendStackJSON(nil, c.Stack)))
	}})
}

func (c *CallLine) returned() bool { return c.End == "return" }

// object is values as JSON, nothing if they are not known. No formula begins with a brace.
func (c *CallLine) object(values []capture.Value) any {
	if len(values) == 0 && len(c.Args) == 0 && c.ArgsNote != "" {
		return nil
	}
	return string(valuetext.AppendObject(nil, values))
}

// EventLine is what a line tells of a kernel event.
type EventLine struct {
	Time time.Time
	// Name is GROUP:EVENT.
	Name string
	// Known: it is known what the thread ran. Goid is its goroutine then, and Function the
	// innermost traced call there, "" if none was open.
	Known    bool
	Function string
	Thread
	Fields []pairing.KernelField
}

// Event writes a kernel event between the calls: text or JSON.
//
//	event  goroutine 7  main.save  thread 4711 cpu 1  syscalls:sys_enter_write fd=3 buf=0xc000012345 count=5
//
// A goroutine is named if it is certain.
func (w *CallWriter) Event(e *EventLine) error {
	if w.o.Format == JSON {
		w.line = append(appendEventJSON(w.line[:0], e), '\n')
		return write(w.w, "kernel event", w.line)
	}
	b := append(w.appendTime(w.line[:0], &e.Time), "   event  "...)
	if w.o.Processes {
		b = fmt.Appendf(b, "pid %d ", e.PID)
	}
	if e.Goid != 0 {
		b = fmt.Appendf(b, "goroutine %d  ", e.Goid)
	}
	if e.Function != "" {
		b = append(append(b, printable.Text(e.Function)...), "  "...)
	}
	b = appendEventText(fmt.Appendf(b, "thread %d cpu %d  ", e.TID, e.CPU), e)
	w.line = append(b, '\n')
	return write(w.w, "kernel event", w.line)
}

// appendEventText writes what happened.
func appendEventText(b []byte, e *EventLine) []byte {
	b = append(b, printable.Text(e.Name)...)
	for i := range e.Fields {
		b = append(append(append(b, ' '), e.Fields[i].Name...), '=')
		b = append(b, e.Fields[i].String()...)
	}
	return b
}

func appendEventJSON(b []byte, e *EventLine) []byte {
	b = append(e.Time.UTC().AppendFormat(append(b, `{"type":"event","time":"`...), jsonTime), '"')
	b = printable.AppendJSON(append(b, `,"name":`...), e.Name)
	b = fmt.Appendf(b, `,"pid":%d,"tid":%d,"cpu":%d`, e.PID, e.TID, e.CPU)
	if e.Known {
		b = strconv.AppendUint(append(b, `,"goid":`...), e.Goid, 10)
	}
	if e.Function != "" {
		b = printable.AppendJSON(append(b, `,"function":`...), e.Function)
	}
	return append(appendFieldsJSON(append(b, `,"fields":`...), e.Fields), '}')
}

// appendFieldsJSON writes an object: strings as such, with bytes that are no UTF-8 replaced,
// addresses and other bytes in hexadecimal.
func appendFieldsJSON(b []byte, fields []pairing.KernelField) []byte {
	b = append(b, '{')
	for i := range fields {
		f := &fields[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(printable.AppendJSON(b, f.Name), ':')
		switch {
		case f.Text != nil:
			b = printable.AppendJSON(b, string(f.Text))
		case f.Bytes != nil, f.Hex:
			b = printable.AppendJSON(b, f.String())
		default:
			b = append(b, f.String()...)
		}
	}
	return append(b, '}')
}
