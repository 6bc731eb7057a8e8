package render

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/offsets"
)

// framesOf returns the functions of a stack, the innermost first. A location has several functions if the compiler has
// inlined calls there.
func framesOf(stack []stats.Location) (frames []offsets.Frame) {
	for _, l := range stack {
		if l.Addr == 0 && len(l.Frames) == 0 {
			frames = append(frames, offsets.Frame{Function: "…"}) // stands for callers that are not known
		}
		frames = append(frames, l.Frames...)
	}
	return frames
}

// StackNames returns the names of the functions of a stack, the innermost first. An ellipsis stands for unknown callers.
func StackNames(stack []stats.Location) (names []string) {
	for _, f := range framesOf(stack) {
		names = append(names, f.Function)
	}
	return names
}

// minFrameWidth is the smallest limit in columns for the name of a caller in a stack.
const minFrameWidth = 16

// appendStack appends a newline and a line for each function of a stack. It shortens names so that lines fit into width
// columns. A width of 0 means no limit.
func appendStack(b []byte, indent string, stack []offsets.Frame, width int) []byte {
	for _, f := range stack {
		b = appendFrame(append(b, '\n'), indent, f, width)
	}
	return b
}

// appendFrame appends a function and its place. It shortens the name so that the line fits into width columns, unless width is 0.
func appendFrame(b []byte, indent string, f offsets.Frame, width int) []byte {
	name, place := printable.Text(f.Function), ""
	if f.File != "" {
		place = fmt.Sprintf(" %s:%d", printable.Text(path.Base(f.File)), f.Line)
	}
	if width > 0 {
		name = printable.Shorten(name, max(width-len(indent)-printable.Columns(place), minFrameWidth))
	}
	return append(append(append(b, indent...), name...), place...)
}

// frameObjects returns the functions of a stack as JSON objects.
func frameObjects(stack []stats.Location) (o []Row) {
	frames := framesOf(stack)
	for i := range frames {
		f, known := &frames[i], frames[i].File != ""
		o = append(o, Row{{"function", &f.Function}, {"file", ColumnIf(known, &f.File)}, {"line", ColumnIf(known, &f.Line)}})
	}
	return o
}

// StackText writes the name of each function, and below the name the stacks of the function's calls:
//
//	main.get: 3 stacks, the first 1
//	     600 calls  total 1.2ms  mean 2.0µs  max 10µs
//	        main.handle server.go:42
//	        main.main main.go:7
//
// In stacks, all stacks of a function must follow one another. StackText writes the first top stacks of each function, or
// all of them if top is 0. It shortens the names of callers so that their lines fit into width columns, unless width is 0.
// If amount, the expression of --sum, is not "", StackText also writes the sum for each stack.
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
		b = append(appendStack(b, "        ", framesOf(s.Callers), width), '\n')
	}
	return write(w, b)
}

// StackJSON writes a JSON object for each stack. The objects contain sum_of unless amount is "".
func StackJSON(w io.Writer, stacks []stats.StackRow, amount string) error {
	return WriteRows(w, JSON, false, func(s stats.StackRow) Row {
		bounded := s.Raw > s.Low
		return Row{
			{"type", "stack"}, {"function", &s.Function},
			{"calls", s.Calls}, {"completed", s.Completed}, {"unwound", s.Unwound}, {"open", s.Open},
			{"sum_of", ValueIf(amount != "", s.Amount)},
			{"ns", ValueIf(s.Completed > 0, Row{
				{"min", s.Min}, {"mean", s.Sum / int64(max(s.Completed, 1))}, {"max", s.Max}, {"sum", s.Sum}, {"self", s.Self},
				{"sum_low", ValueIf(bounded, s.Low)}, {"sum_high", ValueIf(bounded, s.High)}, {"sum_raw", ValueIf(bounded, s.Raw)},
			})},
			{"stack", &s.Callers},
		}
	}, stacks...)
}

// FoldedStacks writes a line for each stack in the format of flamegraph.pl. A line contains the functions from the outermost
// caller to the called function, separated by semicolons. The number of calls follows, or the sum of the amount if amount
// is not "". If stacks differ only in source lines, FoldedStacks writes one line for all of them.
func FoldedStacks(w io.Writer, stacks []stats.StackRow, amount string) error {
	weights := make(map[string]uint64)
	for _, s := range stacks {
		var line string
		for _, name := range slices.Backward(StackNames(s.Callers)) {
			line += foldedName(name) + ";"
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
	return write(w, b)
}

// foldedName replaces semicolons in a name by commas. Type arguments may contain semicolons: "struct { A int; B int }".
func foldedName(name string) string { return strings.ReplaceAll(printable.Text(name), ";", ",") }

// Profiled describes the program and the run of a profile.
type Profiled struct {
	Type                 string // what is counted in place of calls and their time, or ""
	Amount               string // the expression of --sum, or ""
	Path, BuildID        string // of the binary
	Start, Limit, Offset uint64 // the first address and the end of the code, and the offset of the code in the binary
	Began                time.Time
	Duration             time.Duration
}

// NewProfiled returns a Profiled of the binary. addr is an address in its code.
func NewProfiled(b *offsets.Binary, addr uint64, began time.Time) Profiled {
	file := b.File()
	p := Profiled{Path: file.Path(), BuildID: file.BuildID(), Began: began}
	p.Start, p.Limit, p.Offset = file.Segment(addr)
	if name, err := os.Readlink(p.Path); err == nil && path.IsAbs(name) { // of /proc/PID/exe; viewers compare build IDs
		p.Path = name
	}
	return p
}

// PprofStacks writes stacks as a gzip-compressed profile.proto (github.com/google/pprof). Each stack is a sample with the
// number of calls and their wall time in nanoseconds. The time excludes nested traced calls, because these calls have
// samples of their own, and pprof adds the samples of a call to its callers. A call may wait for a CPU although it is
// runnable. This time is a separate sample, with the innermost function "[runnable]". Addresses are addresses in the
// binary, not in a process.
func PprofStacks(w io.Writer, stacks []stats.StackRow, run Profiled) error {
	p := run.profile(&profile.ValueType{Type: cmp.Or(run.Type, "calls"), Unit: "count"}, 1)
	p.SampleType = []*profile.ValueType{p.PeriodType}
	if run.Type == "" {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: "wall", Unit: "nanoseconds"})
	}
	if run.Amount != "" {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: run.Amount, Unit: "count"})
		p.DefaultSampleType = run.Amount
	}
	runnable := stats.Location{Frames: []offsets.Frame{{Function: "[runnable]"}}}
	for i := range stacks {
		s := &stacks[i]
		stack := slices.Concat([]stats.Location{s.At}, s.Callers)
		addSample(p, stack, int64(s.Calls), s.Self-s.Runnable, s.Amount)
		if s.Runnable > 0 {
			addSample(p, slices.Insert(stack, 0, runnable), 0, s.Runnable, 0)
		}
	}
	return writeProfile(w, p)
}

// profile returns a profile of the run without samples and their types.
func (run Profiled) profile(of *profile.ValueType, period int64) *profile.Profile {
	m := &profile.Mapping{
		ID: 1, Start: run.Start, Limit: run.Limit, Offset: run.Offset, File: run.Path, BuildID: run.BuildID,
		HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true,
	}
	return &profile.Profile{
		PeriodType: of, Period: period, Mapping: []*profile.Mapping{m}, TimeNanos: run.Began.UnixNano(), DurationNanos: int64(run.Duration),
	}
}

// addSample adds a sample with a value for each type that the profile has. The stack begins with the innermost function.
func addSample(p *profile.Profile, stack []stats.Location, values ...int64) *profile.Sample {
	sample := &profile.Sample{Value: values[:len(p.SampleType)]}
	for _, l := range stack {
		loc := &profile.Location{ID: uint64(len(p.Location) + 1), Address: l.Addr, Mapping: p.Mapping[0]}
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
	return sample
}

// writeProfile writes a profile. Compact merges equal locations and functions.
func writeProfile(w io.Writer, p *profile.Profile) error {
	if err := p.Compact().Write(w); err != nil {
		return fmt.Errorf("write profile: %w", err)
	}
	return nil
}
