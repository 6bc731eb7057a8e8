package render

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/offsets"
)

// framesOf are the functions of a stack, innermost first.
func framesOf(stack []stats.Location) (frames []offsets.Frame) {
	for _, l := range stack {
		if l.Addr == 0 && len(l.Frames) == 0 {
			frames = append(frames, offsets.Frame{Function: "…"}) // callers that are not known
		}
		frames = append(frames, l.Frames...)
	}
	return frames
}

// leastFrame is how many columns the name of a caller has at least.
const leastFrame = 16

// appendStack writes the functions of a stack, a line each, and each with a newline before. Names are
// shortened for width columns, unless that is 0.
func appendStack(b []byte, indent string, stack []stats.Location, width int) []byte {
	for _, f := range framesOf(stack) {
		name, place := printable.Text(f.Function), ""
		if f.File != "" {
			place = fmt.Sprintf(" %s:%d", printable.Text(path.Base(f.File)), f.Line)
		}
		if width > 0 {
			name = printable.Shorten(name, max(width-len(indent)-printable.Columns(place), leastFrame))
		}
		b = append(append(append(append(b, '\n'), indent...), name...), place...)
	}
	return b
}

// frameObjects are the functions of a stack.
func frameObjects(stack []stats.Location) (o []Row) {
	frames := framesOf(stack)
	for i := range frames {
		f, known := &frames[i], frames[i].File != ""
		o = append(o, Row{{"function", &f.Function}, {"file", Shown(known, &f.File)}, {"line", Shown(known, &f.Line)}})
	}
	return o
}

// StackText writes, for people, each function's stacks under its name, in the order given:
//
//	main.get: 3 stacks
//	      600 calls  total 1.2ms  mean 2.0µs  max 10µs
//	        main.handle server.go:42
//	        main.main main.go:7
//
// Callers keep to width columns, and stacks of a function to the first top, unless these are 0.
func StackText(w io.Writer, stacks []stats.StackRow, amount string, width, top int) error {
	var b []byte
	first := 0
	for i, s := range stacks {
		if i == 0 || stacks[i-1].Func != s.Func {
			n := 1
			for i+n < len(stacks) && stacks[i+n].Func == s.Func {
				n++
			}
			b = fmt.Appendf(b, "\n%s: %s", printable.Text(s.Function), printable.Plural(uint64(n), "stack"))
			if top > 0 && n > top {
				b = fmt.Appendf(b, ", the first %d", top)
			}
			b, first = append(b, '\n'), i
		}
		if top > 0 && i-first >= top {
			continue
		}
		b = fmt.Appendf(b, "%8d call", s.Calls)
		if s.Calls != 1 {
			b = append(b, 's')
		}
		if s.Completed > 0 {
			b = fmt.Appendf(b, "  total %s  mean %s  max %s", printable.Duration(s.Sum), printable.Duration(s.Sum/int64(s.Completed)), printable.Duration(s.Max))
		}
		if amount != "" {
			b = fmt.Appendf(b, "  sum %s", amountText(s.Amount))
		}
		b = append(appendStack(b, "        ", s.Callers, width), '\n')
	}
	return write(w, "stacks", b)
}

// StackJSON writes an object for each stack.
func StackJSON(w io.Writer, stacks []stats.StackRow, amount string) error {
	return WriteRows(w, JSON, false, func(s stats.StackRow) Row {
		bounded := s.Raw > s.Low
		return Row{
			{"type", verbatim(`"stack"`)}, {"function", &s.Function},
			{"calls", s.Calls}, {"completed", s.Completed}, {"unwound", s.Unwound}, {"open", s.Open},
			{"sum_of", Known(amount != "", s.Amount)},
			{"ns", Known(s.Completed > 0, Row{
				{"min", s.Min}, {"mean", s.Sum / int64(max(s.Completed, 1))}, {"max", s.Max}, {"sum", s.Sum}, {"self", s.Self},
				{"sum_low", Known(bounded, s.Low)}, {"sum_high", Known(bounded, s.High)}, {"sum_raw", Known(bounded, s.Raw)},
			})},
			{"stack", &s.Callers},
		}
	}, stacks...)
}

// FoldedStacks writes a line for each stack as flamegraph.pl and its kin take them: the
// functions from the outermost to the one called, between semicolons, and the number of
// calls, or their sum of an amount. Stacks that differ in nothing but source lines are one.
func FoldedStacks(w io.Writer, stacks []stats.StackRow, amount string) error {
	weights := make(map[string]uint64)
	for _, s := range stacks {
		var line string
		for _, f := range slices.Backward(framesOf(s.Callers)) {
			line += foldedName(f.Function) + ";"
		}
		weight := s.Calls
		if amount != "" {
			weight = uint64(s.Amount)
		}
		weights[line+foldedName(s.Function)] += weight
	}
	lines := slices.SortedFunc(maps.Keys(weights), func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), strings.Compare(a, b))
	})
	var b []byte
	for _, line := range lines {
		b = fmt.Appendf(b, "%s %d\n", line, weights[line])
	}
	return write(w, "stacks", b)
}

// foldedName is a name without what separates names: type arguments have semicolons,
// "struct { A int; B int }".
func foldedName(name string) string { return strings.ReplaceAll(printable.Text(name), ";", ",") }

// Profiled is what a profile says of the program and the run.
type Profiled struct {
	Amount               string        // what is added up beside calls, "" if nothing is
	Path, BuildID        string        // of the file
	Start, Limit, Offset uint64        // its code is at Start up to Limit, from Offset of the file on
	Began                time.Time     // when the probes were armed
	Duration             time.Duration // for how long
}

// PprofStacks writes stacks as a gzip-compressed profile.proto (github.com/google/pprof): a
// sample for each, of calls in number and of their wall time in nanoseconds. The latter is
// without that of traced calls nested in them, which have samples of their own: so the sums
// that pprof makes, of all that a function has called, are right. Addresses are
// those in the file, and functions and lines are all told. While its goroutine could have gone on with a CPU,
// a call is shown as if it had called [runnable].
func PprofStacks(w io.Writer, stacks []stats.StackRow, run Profiled) error {
	m := &profile.Mapping{
		ID: 1, Start: run.Start, Limit: run.Limit, Offset: run.Offset, File: run.Path, BuildID: run.BuildID,
		HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true,
	}
	p := &profile.Profile{
		SampleType:    []*profile.ValueType{{Type: "calls", Unit: "count"}, {Type: "wall", Unit: "nanoseconds"}},
		PeriodType:    &profile.ValueType{Type: "calls", Unit: "count"},
		Period:        1,
		Mapping:       []*profile.Mapping{m},
		TimeNanos:     run.Began.UnixNano(),
		DurationNanos: int64(run.Duration),
	}
	if run.Amount != "" {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: run.Amount, Unit: "count"})
		p.DefaultSampleType = run.Amount
	}
	runnable := stats.Location{Frames: []offsets.Frame{{Function: "[runnable]"}}}
	add := func(s *stats.StackRow, values []int64, above ...stats.Location) {
		sample := &profile.Sample{Value: values[:len(p.SampleType)]}
		for _, l := range slices.Concat(above, []stats.Location{s.At}, s.Callers) {
			loc := &profile.Location{ID: uint64(len(p.Location) + 1), Address: l.Addr, Mapping: m}
			if l.Addr == 0 {
				loc.Mapping = nil
			}
			for _, f := range framesOf([]stats.Location{l}) {
				name := printable.Text(f.Function)
				fn := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name, SystemName: name, Filename: printable.Text(f.File)}
				p.Function = append(p.Function, fn)
				loc.Line = append(loc.Line, profile.Line{Function: fn, Line: int64(f.Line)})
			}
			p.Location, sample.Location = append(p.Location, loc), append(sample.Location, loc)
		}
		p.Sample = append(p.Sample, sample)
	}
	for i := range stacks {
		s := &stacks[i]
		add(s, []int64{int64(s.Calls), s.Self - s.Runnable, s.Amount})
		if s.Runnable > 0 {
			add(s, []int64{0, s.Runnable, 0}, runnable)
		}
	}
	if err := p.CheckValid(); err != nil {
		return fmt.Errorf("make profile: %w", err)
	}
	// Each location and function is told once.
	if err := p.Compact().Write(w); err != nil {
		return fmt.Errorf("write profile: %w", err)
	}
	return nil
}
