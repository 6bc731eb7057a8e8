package render

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/valuetext"
)

// CallLine is what a line tells of a traced call.
type CallLine struct {
	// Time is when the call began, by the clock on the wall, Ended when it returned or
	// was seen to be gone; the zero Time if that is not known.
	Time, Ended time.Time
	Function    string
	// Goid is the goroutine, 0 for code that runs on a thread's own stack.
	Goid          uint64
	PID, TID, CPU int
	// Depth is the number of traced calls that this one is inside of.
	Depth int
	CallTime
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

// CallTime is how long a call took that has returned.
type CallTime struct {
	NS int64
	// Low and High bound what it would have taken without probes; High is 0 where that is
	// not known.
	Low, High int64
	// Split divides NS, where that was asked for.
	Split stats.Split
}

// CallOptions say how a [CallWriter] writes calls.
type CallOptions struct {
	Format Format
	// TwoLines has a line when a call begins and one when it ends, rather than one line
	// for both at its end. It is for text, as are Times and what follows.
	TwoLines bool
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
// Callers follow, a line each. JSON is an object a call, CSV and TSV have a row each, with args and results as JSON.
// A latency is that of a call that has returned; others have none.
type CallWriter struct {
	w    io.Writer
	o    CallOptions
	line []byte
}

// NewCallWriter returns a CallWriter that writes to w.
func NewCallWriter(w io.Writer, o CallOptions) *CallWriter { return &CallWriter{w: w, o: o} }

var callHeader = []string{"time", "function", "goid", "pid", "tid", "cpu", "depth", "ns", "end", "args", "results"}

// Header writes what stands above the first call: the column names of CSV and TSV.
func (w *CallWriter) Header() error {
	if w.o.Format != CSV && w.o.Format != TSV {
		return nil
	}
	header := callHeader
	if w.o.Sched {
		header = append(slices.Clip(header), splitHeader...)
	}
	if w.o.Stacks {
		header = append(slices.Clip(header), "stack")
	}
	return writeRecords(w.w, w.o.Format, [][]string{header})
}

// Call writes a line. Lines of begins are left out, unless there are two lines a call
// or no others.
func (w *CallWriter) Call(c *CallLine) error {
	if c.End == "" && !w.o.Entries && (w.o.Format != Table || !w.o.TwoLines || w.o.Line != nil) {
		return nil
	}
	w.line = w.line[:0]
	switch w.o.Format {
	case JSON:
		w.line = w.appendCallJSON(w.line, c)
	case CSV, TSV:
		return writeRecords(w.w, w.o.Format, [][]string{w.callRecord(c)})
	default:
		w.line = appendStack(w.appendText(w.line, c), "            ", c.Stack)
	}
	w.line = append(w.line, '\n')
	if _, err := w.w.Write(w.line); err != nil {
		return fmt.Errorf("write call: %w", err)
	}
	return nil
}

// jsonTime is RFC 3339 with all nine digits: times of one stream are aligned, and sort
// as text.
const jsonTime = "2006-01-02T15:04:05.000000000Z"

func (w *CallWriter) appendCallJSON(b []byte, c *CallLine) []byte {
	b = append(c.Time.UTC().AppendFormat(append(b, `{"type":"call","time":"`...), jsonTime), '"')
	b = printable.AppendJSON(append(b, `,"function":`...), c.Function)
	b = fmt.Appendf(b, `,"goid":%d,"pid":%d,"tid":%d,"cpu":%d,"depth":%d`, c.Goid, c.PID, c.TID, c.CPU, c.Depth)
	if c.End == "return" {
		b = strconv.AppendInt(append(b, `,"ns":`...), c.NS, 10)
		if c.High > 0 {
			b = strconv.AppendInt(append(b, `,"ns_low":`...), c.Low, 10)
			b = strconv.AppendInt(append(b, `,"ns_high":`...), c.High, 10)
		}
		if w.o.Sched {
			b = appendSplitJSON(b, c.Split)
		}
	}
	if c.End != "" {
		b = printable.AppendJSON(append(b, `,"end":`...), c.End)
	}
	b = valuetext.AppendObject(append(b, `,"args":`...), c.Args)
	if c.ArgsNote != "" {
		b = printable.AppendJSON(append(b, `,"args_note":`...), c.ArgsNote)
	}
	if c.End == "return" {
		b = valuetext.AppendObject(append(b, `,"results":`...), c.Results)
	}
	if c.Stack != nil {
		b = appendStackJSON(append(b, `,"stack":`...), c.Stack)
	}
	return append(b, '}')
}

func (w *CallWriter) callRecord(c *CallLine) []string {
	// Objects: no formula begins with a brace. Of what is not known there is none.
	unknown := len(c.Args) == 0 && c.ArgsNote != ""
	object := func(values []capture.Value) string {
		if len(values) == 0 && unknown {
			return ""
		}
		return string(valuetext.AppendObject(nil, values))
	}
	ns, results := "", ""
	if c.End == "return" {
		ns = strconv.FormatInt(c.NS, 10)
		results = object(c.Results)
	}
	record := []string{
		c.Time.UTC().Format(jsonTime), textCell(c.Function), strconv.FormatUint(c.Goid, 10),
		strconv.Itoa(c.PID), strconv.Itoa(c.TID), strconv.Itoa(c.CPU), strconv.Itoa(c.Depth), ns, c.End,
		object(c.Args), results,
	}
	if w.o.Sched {
		record = append(record, splitRecord(c.Split, c.End == "return")...)
	}
	if c.Stack != nil {
		record = append(record, string(appendStackJSON(nil, c.Stack)))
	}
	return record
}
