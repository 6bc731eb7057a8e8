package render

import (
	"fmt"
	"io"
	"time"

	"github.com/google/pprof/profile"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// Profiled is what a profile says of the program and the run.
type Profiled struct {
	// Path and BuildID are of the file; its code is at Start up to Limit, from Offset of
	// the file on.
	Path, BuildID        string
	Start, Limit, Offset uint64
	// Began is when the probes were armed, Duration for how long.
	Began    time.Time
	Duration time.Duration
}

// PprofStacks writes stacks as a gzip-compressed profile.proto (github.com/google/pprof): a
// sample for each, of calls in number and of their wall time in nanoseconds. The latter is
// without that of traced calls nested in them, which have samples of their own: so the sums
// that pprof makes, of all that a function has called, are right. Addresses are
// those in the file, and functions and lines are all told.
func PprofStacks(w io.Writer, stacks []Stack, run Profiled) error {
	m := &profile.Mapping{
		ID: 1, Start: run.Start, Limit: run.Limit, Offset: run.Offset, File: run.Path, BuildID: run.BuildID,
		HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true,
	}
	b := pprofBuilder{
		p: &profile.Profile{
			SampleType:    []*profile.ValueType{{Type: "calls", Unit: "count"}, {Type: "wall", Unit: "nanoseconds"}},
			PeriodType:    &profile.ValueType{Type: "calls", Unit: "count"},
			Period:        1,
			Mapping:       []*profile.Mapping{m},
			TimeNanos:     run.Began.UnixNano(),
			DurationNanos: int64(run.Duration),
		},
		locations: make(map[locationKey]*profile.Location), functions: make(map[stats.Frame]*profile.Function),
	}
	for _, s := range stacks {
		sample := &profile.Sample{Value: []int64{int64(s.Calls), s.Self}}
		for _, l := range append([]stats.Location{s.At}, s.Callers...) {
			sample.Location = append(sample.Location, b.location(l))
		}
		b.p.Sample = append(b.p.Sample, sample)
	}
	if err := b.p.CheckValid(); err != nil {
		return fmt.Errorf("make profile: %w", err)
	}
	if err := b.p.Write(w); err != nil {
		return fmt.Errorf("write profile: %w", err)
	}
	return nil
}

// pprofBuilder gives each location and function one number.
type pprofBuilder struct {
	p         *profile.Profile
	locations map[locationKey]*profile.Location
	functions map[stats.Frame]*profile.Function
}

// locationKey tells locations apart: the frames at one address are the same but for wrappers,
// which are not always left out.
type locationKey struct {
	addr   uint64
	frames int
}

func (b *pprofBuilder) location(l stats.Location) *profile.Location {
	key := locationKey{l.Addr, len(l.Frames)}
	if known := b.locations[key]; known != nil {
		return known
	}
	loc := &profile.Location{ID: uint64(len(b.p.Location) + 1), Address: l.Addr}
	frames := l.Frames
	if l.Addr == 0 {
		frames = []stats.Frame{{Function: unknownCallers}}
	} else {
		loc.Mapping = b.p.Mapping[0]
	}
	for _, f := range frames {
		loc.Line = append(loc.Line, profile.Line{Function: b.function(f), Line: int64(f.Line)})
	}
	b.p.Location, b.locations[key] = append(b.p.Location, loc), loc
	return loc
}

func (b *pprofBuilder) function(f stats.Frame) *profile.Function {
	f.Line = 0
	if known := b.functions[f]; known != nil {
		return known
	}
	fn := &profile.Function{ID: uint64(len(b.p.Function) + 1), Name: printable.Text(f.Function), SystemName: printable.Text(f.Function), Filename: printable.Text(f.File)}
	b.p.Function, b.functions[f] = append(b.p.Function, fn), fn
	return fn
}
