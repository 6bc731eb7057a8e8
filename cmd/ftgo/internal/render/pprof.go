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
	p := &profile.Profile{
		SampleType:    []*profile.ValueType{{Type: "calls", Unit: "count"}, {Type: "wall", Unit: "nanoseconds"}},
		PeriodType:    &profile.ValueType{Type: "calls", Unit: "count"},
		Period:        1,
		Mapping:       []*profile.Mapping{m},
		TimeNanos:     run.Began.UnixNano(),
		DurationNanos: int64(run.Duration),
	}
	for _, s := range stacks {
		sample := &profile.Sample{Value: []int64{int64(s.Calls), s.Self}}
		for _, l := range append([]stats.Location{s.At}, s.Callers...) {
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
	if err := p.CheckValid(); err != nil {
		return fmt.Errorf("make profile: %w", err)
	}
	// Each location and function is told once.
	if err := p.Compact().Write(w); err != nil {
		return fmt.Errorf("write profile: %w", err)
	}
	return nil
}
