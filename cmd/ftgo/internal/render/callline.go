package render

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/parse"
)

// Thread is the goroutine, process, thread and CPU of a call or an event. Goid is 0 for code on a thread's system stack,
// and for an event whose goroutine is unknown.
type Thread struct {
	Goid          uint64
	PID, TID, CPU int
}

// ThreadOf returns the thread that a call began on.
func ThreadOf(c *pairing.Call) Thread {
	return Thread{Goid: c.Goid, PID: c.PID, TID: c.TID, CPU: c.CPU}
}

// Line is a traced call or a kernel event.
type Line struct {
	Time     time.Time // the wall time at which the call began, or of the event
	Function string    // for an event, the function of the innermost open call of its thread, or ""
	Thread
	Depth int // the number of traced calls around this one
	// NS is the latency of a call that returned, in nanoseconds. Low and High are bounds of the latency that the call
	// would have without probes. If they are unknown, High is 0. With --sched, Split has the parts of NS, and Waits the
	// parts of Split.Waiting.
	NS, Low, High int64
	Split         stats.Split
	Waits         stats.Waits
	// End is "return", "unwound" (by a panic or Goexit), "open" (the call has not ended) or "lost" (the event of its end
	// was lost). It is "" for a call that begins, and for an event.
	End           string
	Args, Results []capture.Value // Results are set if End is "return"
	// HiddenArgs and HiddenResults were fetched for expressions and are not shown. ErrorName is the name of the last
	// result if its type is error, else "".
	HiddenArgs, HiddenResults []capture.Value
	ErrorName                 string
	Stack                     []stats.Location // the callers, the innermost first; nil without --stack
	ArgsNote                  string           // the reason why arguments are missing, or ""

	Event     string // GROUP:EVENT of a kernel event, "" for a call
	GoidKnown bool   // whether Goid of an event is known; a known 0 is a system stack. Calls do not use it.
	Fields    []parse.Field

	// The fields below are for lines of a [Tree].

	Level    int           // the depth in the tree, 0 for the root
	Branch   bool          // an outermost call of a goroutine that the call above started
	GoesOn   bool          // not a call, but a goroutine that still ran when the tree was written
	Outlived time.Duration // the time from the end of the root to the end of this call; 0 unless Branch is true
}

// splitParts are the parts of a latency with --sched.
var splitParts = [...]struct {
	name, short string
	ns          func(stats.Split) int64
}{
	{"running", "run", func(s stats.Split) int64 { return s.Running }},
	{"runnable", "runnable", func(s stats.Split) int64 { return s.Runnable }},
	{"waiting", "wait", func(s stats.Split) int64 { return s.Waiting }},
}

// LineOptions say what the lines of calls contain.
type LineOptions struct {
	Style
	Times     bool              // begin text with the time
	Processes bool              // add the process to text
	Stacks    bool              // add callers to CSV and TSV; the other formats contain the callers of each Line.Stack
	Sched     bool              // add the parts of latencies
	Short     map[string]string // short names of functions for text; nil means whole names
	Template  *CallFormat       // the format of text, nil for the usual format
}

// CallWriter writes traced calls and kernel events, each with one call of Write.
//
// In text ([Table]), latencies are aligned. Runes of values that are not printable are escaped, so that no value ends a
// line. The line of a call that begins has no latency:
//
//	  12.3µs  goroutine 1  main.get(key="bob", n=3) = ("hi bob", nil)
//	> goroutine 1 main.get(key="bob", n=3)
//
// Callers follow on separate lines. JSON contains an object for each call. CSV and TSV contain a row for each call, with
// args and results as JSON. Kernel events are written as text or JSON, with their goroutine if it is known:
//
//	event  goroutine 7  main.save  thread 4711 cpu 1  syscalls:sys_enter_write fd=3 buf=0xc000012345 count=5
type CallWriter struct {
	w       io.Writer
	o       LineOptions
	row     Row
	line    []byte
	results []byte // a buffer for the results, which are written first to measure them
	tree    int    // the number of the last tree
	inTree  bool   // Tree is writing the lines of tree number tree
}

// NewCallWriter returns a CallWriter that writes to w.
func NewCallWriter(w io.Writer, o LineOptions) *CallWriter {
	return &CallWriter{w: w, o: o}
}

// Header writes the column names of CSV and TSV.
func (w *CallWriter) Header() error {
	return WriteRows(w.w, w.o.Format, true, func(Line) Row { return w.members(&Line{}) })
}

// Line writes a call or a kernel event.
func (w *CallWriter) Line(l *Line) error {
	switch f := w.o.Format; {
	case l.Event != "" && (f == Table || f == JSON):
		w.line = w.event(l)
	case f == Table:
		w.line = append(appendStack(w.appendText(w.line[:0], l), "            ", framesOf(l.Stack), w.o.Width), '\n')
	default:
		w.line = w.members(l).append(w.line[:0], f)
	}
	return write(w.w, w.line)
}

// members returns the members of a call in JSON, CSV and TSV.
func (w *CallWriter) members(c *Line) Row {
	asJSON, sched, returned := w.o.Format == JSON, w.o.Sched, c.returned()
	// Without known arguments, the cell in CSV and TSV is empty.
	args := asJSON || len(c.Args) > 0 || c.ArgsNote == ""
	split := NoColumn
	if asJSON && sched && returned {
		split = splitMembers(c.Split, c.Waits)
	}
	w.row = append(w.row[:0], Row{
		{"type", ColumnIf(asJSON, "call")}, {"time", &c.Time}, {"function", &c.Function},
		{"goid", &c.Goid}, {"pid", &c.PID}, {"tid", &c.TID}, {"cpu", &c.CPU}, {"depth", &c.Depth},
		{"tree", ColumnIf(asJSON, ValueIf(w.inTree, &w.tree))}, {"level", ColumnIf(asJSON, ValueIf(w.inTree, &c.Level))},
		{"outlived_ns", ColumnIf(asJSON, Nonzero(c.Outlived.Nanoseconds()))},
		{"ns", ValueIf(returned, &c.NS)},
		{"ns_low", ColumnIf(asJSON, ValueIf(returned && c.High > 0, &c.Low))},
		{"ns_high", ColumnIf(asJSON, ValueIf(returned && c.High > 0, &c.High))},
		{"sched", split},
		{"end", ValueIf(c.End != "", &c.End)},
		{"args", ValueIf(args, &c.Args)},
		{"args_note", ColumnIf(asJSON && c.ArgsNote != "", &c.ArgsNote)},
		{"results", ValueIf(returned && (args || len(c.Results) > 0), &c.Results)},
		{"running_ns", ColumnIf(!asJSON && sched, ValueIf(returned, &c.Split.Running))},
		{"runnable_ns", ColumnIf(!asJSON && sched, ValueIf(returned, &c.Split.Runnable))},
		{"waiting_ns", ColumnIf(!asJSON && sched, ValueIf(returned, &c.Split.Waiting))},
		{"stack", ColumnIf(asJSON || w.o.Stacks, ValueIf(c.Stack != nil, &c.Stack))},
	}...)
	return w.row
}

func (c *Line) returned() bool { return c.End == "return" }

// latency returns the latency as text, "-" for a call that has not returned.
func (c *Line) latency() string {
	if !c.returned() {
		return "-"
	}
	return printable.Duration(c.NS)
}

// event returns the line of a kernel event as text or JSON.
func (w *CallWriter) event(e *Line) []byte {
	if w.o.Format == JSON {
		return Row{
			{"type", "event"}, {"time", &e.Time}, {"name", &e.Event}, {"pid", &e.PID}, {"tid", &e.TID}, {"cpu", &e.CPU},
			{"goid", ValueIf(e.GoidKnown, &e.Goid)}, {"function", ValueIf(e.Function != "", &e.Function)},
			{"tree", ValueIf(w.inTree, &w.tree)}, {"level", ValueIf(w.inTree, &e.Level)}, {"fields", fieldObject(e.Fields)},
		}.append(w.line[:0], JSON)
	}
	b := append(w.appendTime(w.line[:0], &e.Time), "   event  "...)
	if w.o.Processes {
		b = fmt.Appendf(b, "pid %d ", e.PID)
	}
	if e.Goid != 0 {
		b = fmt.Appendf(b, "goroutine %d  ", e.Goid)
	}
	if e.Function != "" {
		b = append(append(b, w.function(e.Function)...), "  "...)
	}
	return append(appendEventText(fmt.Appendf(b, "thread %d cpu %d  ", e.TID, e.CPU), e), '\n')
}

// appendEventText appends the name and the fields of an event.
func appendEventText(b []byte, e *Line) []byte {
	b = append(b, printable.Text(e.Event)...)
	for i := range e.Fields {
		b = append(append(append(b, ' '), e.Fields[i].Name...), '=')
		b = append(b, e.Fields[i].String()...)
	}
	return b
}

// fieldObject returns the fields of an event as members of a JSON object. Text becomes a string. Addresses, and bytes that
// are not text, become strings of hexadecimal digits. All other fields become numbers.
func fieldObject(fields []parse.Field) Row {
	o := make(Row, len(fields))
	for i := range fields {
		f := &fields[i]
		o[i].Key = f.Name
		switch {
		case f.Text != nil:
			o[i].Value = new(string(f.Text))
		case f.Bytes != nil, f.Hex:
			o[i].Value = new(f.String())
		default:
			o[i].Value = json.Number(f.String())
		}
	}
	return o
}

// VariableLine is the value of a package variable at some time.
type VariableLine struct {
	Time  time.Time
	PID   int
	Name  string
	Value capture.Value
}

// members returns the members in JSON, CSV and TSV.
func (l *VariableLine) members(f Format) Row {
	return Row{{"type", ColumnIf(f == JSON, "variable")}, {"time", &l.Time}, {"pid", &l.PID}, {"name", &l.Name}, {"value", &l.Value}}
}

// VariableHeader writes the column names of CSV and TSV.
func VariableHeader(w io.Writer, f Format) error {
	return WriteRows(w, f, true, func(VariableLine) Row { return new(VariableLine).members(f) })
}

// Variable writes the line of a package variable. If processes is true, a line of text also has the PID. Without it:
//
//	12:00:01.000123  main.counter = 1234
func Variable(w io.Writer, f Format, processes bool, l *VariableLine) error {
	if f != Table {
		return write(w, l.members(f).append(nil, f))
	}
	b := l.Time.AppendFormat(nil, "15:04:05.000000  ")
	if processes {
		b = fmt.Appendf(b, "pid %d  ", l.PID)
	}
	return write(w, fmt.Appendf(b, "%s = %s\n", printable.Text(l.Name), l.Value.Text()))
}
