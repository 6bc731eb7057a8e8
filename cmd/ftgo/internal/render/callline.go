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
)

// Thread is the place of a call or an event. Goid is the goroutine, 0 for code on a thread's own stack.
type Thread struct {
	Goid          uint64
	PID, TID, CPU int
}

// ThreadOf returns the thread that a call began on.
func ThreadOf(c *pairing.Call) Thread {
	return Thread{Goid: c.Goid, PID: c.PID, TID: c.TID, CPU: c.CPU}
}

// Line is a traced call, or a kernel event between calls, as it is written.
type Line struct {
	// Time is the wall time of the call's begin, or of the event. Ended is when the call returned or was seen
	// to be gone, the zero Time if that is unknown.
	Time, Ended time.Time
	Function    string // of an event, the innermost open call of its thread, or ""
	Thread
	Depth int // the number of traced calls around this one
	// NS is the latency of a call that has returned. Low and High bound the latency without probes; High is 0
	// if that is unknown. Split divides NS, and Waits its time of waiting, with --sched.
	NS, Low, High int64
	Split         stats.Split
	Waits         stats.Waits
	// End is how the call ended: "return", "unwound" (by a panic or Goexit), "open" (it has not), "lost" (its
	// event was lost). It is "" in the line of a call's begin, and of an event.
	End string
	// Args are known at the begin and at the end, Results if End is "return".
	Args, Results []capture.Value
	// Stack are the callers, the innermost first; nil without --stack.
	Stack []stats.Location
	// ArgsNote says why arguments are missing, "" if none are.
	ArgsNote string

	Event  string // GROUP:EVENT of a kernel event, "" for a call
	Known  bool   // the goroutine of the event is known: Goid
	Fields []pairing.KernelField

	// In a [Tree], Level is the depth of the line, 0 for the root. Shown means that an earlier part of the tree
	// had this call while it was open. Branch marks the outermost calls of a goroutine that the call above has
	// started; the first of them has the time of that in Started. GoesOn marks a line that is no call: the
	// goroutine had not ended when the tree stopped waiting for it.
	Level                 int
	Shown, Branch, GoesOn bool
	Started               time.Time
	Outlived              time.Duration // the time from the end of the tree's root to the end of a Branch
}

// splitParts are the parts of a latency with --sched.
var splitParts = [...]struct {
	name, short string
	of          func(stats.Split) int64
}{
	{"running", "run", func(s stats.Split) int64 { return s.Running }},
	{"runnable", "runnable", func(s stats.Split) int64 { return s.Runnable }},
	{"waiting", "wait", func(s stats.Split) int64 { return s.Waiting }},
}

// CallWriter writes traced calls, each with one call of Write.
//
// Text ([Table]) is aligned up to the latency. Values of the traced program cannot end a line, and are escaped
// where they are not printable. The second line is that of a call's begin:
//
//	  12.3µs  goroutine 1  main.get(key="bob", n=3) = ("hi bob", nil)
//	> goroutine 1 main.get(key="bob", n=3)
//
// Callers follow, a line each. JSON has an object for each call, CSV and TSV have a row, with args and results as
// JSON. Only calls that have returned have a latency. Kernel events are text or JSON, with the goroutine if it is
// known:
//
//	event  goroutine 7  main.save  thread 4711 cpu 1  syscalls:sys_enter_write fd=3 buf=0xc000012345 count=5
type CallWriter struct {
	w       io.Writer
	o       Options
	row     Row
	line    []byte
	results []byte // of the line, written first to measure them
	tree    int    // the number of the last tree
	inTree  bool   // lines belong to that tree
}

// stackWidth returns the limit of callers in columns, 0 for none.
func (w *CallWriter) stackWidth() int {
	if w.o.Short == nil {
		return 0
	}
	return w.o.Width
}

// NewCallWriter returns a CallWriter that writes to w.
func NewCallWriter(w io.Writer, o Options) *CallWriter {
	return &CallWriter{w: w, o: o}
}

// Header writes the column names of CSV and TSV.
func (w *CallWriter) Header() error { return writeHeader(w.w, w.o.Format, w.members(&Line{})) }

// Line writes a line.
func (w *CallWriter) Line(l *Line) error {
	what := "call"
	switch f := w.o.Format; {
	case f == CSV || f == TSV:
		what = f.String()
		w.line = w.members(l).append(w.line[:0], f)
	case l.Event != "":
		what = "kernel event"
		w.line = w.event(l)
	case f == JSON:
		w.line = w.members(l).append(w.line[:0], f)
	default:
		w.line = append(appendStack(w.appendText(w.line[:0], l), "            ", l.Stack, w.stackWidth()), '\n')
	}
	return write(w.w, what, w.line)
}

// members returns the members of a call in JSON, CSV and TSV.
func (w *CallWriter) members(c *Line) Row {
	json, sched, returned := w.o.Format == JSON, w.o.Sched, c.returned()
	// Cells are empty if no argument is known.
	args := json || len(c.Args) > 0 || c.ArgsNote == ""
	split := Hidden
	if json && sched && returned {
		split = splitMembers(c.Split, c.Waits)
	}
	w.row = append(w.row[:0], Row{
		{"type", Shown(json, verbatim(`"call"`))}, {"time", &c.Time}, {"function", &c.Function},
		{"goid", &c.Goid}, {"pid", &c.PID}, {"tid", &c.TID}, {"cpu", &c.CPU}, {"depth", &c.Depth},
		{"tree", Shown(json, Known(w.inTree, &w.tree))}, {"level", Shown(json, Known(w.inTree, &c.Level))},
		{"outlived_ns", Shown(json, Nonzero(c.Outlived.Nanoseconds()))},
		{"ns", Known(returned, &c.NS)},
		{"ns_low", Shown(json, Known(returned && c.High > 0, &c.Low))},
		{"ns_high", Shown(json, Known(returned && c.High > 0, &c.High))},
		{"sched", split},
		{"end", Known(c.End != "", &c.End)},
		{"args", Known(args, &c.Args)},
		{"args_note", Shown(json && c.ArgsNote != "", &c.ArgsNote)},
		{"results", Known(returned && (args || len(c.Results) > 0), &c.Results)},
		{"running_ns", Shown(!json && sched, Known(returned, &c.Split.Running))},
		{"runnable_ns", Shown(!json && sched, Known(returned, &c.Split.Runnable))},
		{"waiting_ns", Shown(!json && sched, Known(returned, &c.Split.Waiting))},
		{"stack", Shown(json || w.o.Stacks, Known(c.Stack != nil, &c.Stack))},
	}...)
	return w.row
}

func (c *Line) returned() bool { return c.End == "return" }

// latency returns the text of the latency, "-" for a call that has not returned.
func (c *Line) latency() string {
	if !c.returned() {
		return "-"
	}
	return printable.Duration(c.NS)
}

// event returns the line of a kernel event.
func (w *CallWriter) event(e *Line) []byte {
	if w.o.Format == JSON {
		return Row{
			{"type", verbatim(`"event"`)}, {"time", &e.Time}, {"name", &e.Event}, {"pid", &e.PID}, {"tid", &e.TID}, {"cpu", &e.CPU},
			{"goid", Known(e.Known, &e.Goid)}, {"function", Known(e.Function != "", &e.Function)},
			{"tree", Known(w.inTree, &w.tree)}, {"level", Known(w.inTree, &e.Level)}, {"fields", fieldObject(e.Fields)},
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

// fieldObject returns fields as members: strings with invalid UTF-8 replaced, addresses and other bytes in
// hexadecimal.
func fieldObject(fields []pairing.KernelField) Row {
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
			o[i].Value = verbatim(f.String())
		}
	}
	return o
}

// VariableLine is the value of a package variable at a moment.
type VariableLine struct {
	Time  time.Time
	PID   int
	Name  string
	Value capture.Value
	// PerSecond is the change of a number or a length since the last line of this variable in this process,
	// nil if that is unknown.
	PerSecond *float64
}

// members returns the members in JSON, CSV and TSV. JSON has more digits of PerSecond.
func (l *VariableLine) members(f Format) Row {
	var perSecond any
	if l.PerSecond != nil {
		perSecond = verbatim(strconv.FormatFloat(*l.PerSecond, 'g', 6, 64))
		if f == JSON {
			perSecond = verbatim(strconv.FormatFloat(*l.PerSecond, 'f', 3, 64))
		}
	}
	return Row{
		{"type", Shown(f == JSON, verbatim(`"variable"`))}, {"time", &l.Time}, {"pid", &l.PID}, {"name", &l.Name},
		{"value", &l.Value}, {"per_second", perSecond},
	}
}

// VariableHeader writes the column names of CSV and TSV.
func VariableHeader(w io.Writer, f Format) error {
	return writeHeader(w, f, new(VariableLine).members(f))
}

// Variable writes the line of a package variable. Text has the process if named is true:
//
//	12:00:01.000123  main.counter = 1234  +1000/s
func Variable(w io.Writer, f Format, named bool, l *VariableLine) error {
	if f != Table {
		return write(w, "variable", l.members(f).append(nil, f))
	}
	b := l.Time.AppendFormat(nil, "15:04:05.000000  ")
	if named {
		b = fmt.Appendf(b, "pid %d  ", l.PID)
	}
	b = fmt.Appendf(b, "%s = %s", printable.Text(l.Name), l.Value.Text())
	if l.PerSecond != nil {
		b = fmt.Appendf(b, "  %+.6g/s", *l.PerSecond)
	}
	return write(w, "variable", append(b, '\n'))
}
