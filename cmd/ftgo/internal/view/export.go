package view

import (
	"sync/atomic"
	"time"

	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/metrics"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Export updates the numbers of a metrics source at each interval, and writes nothing.
type Export struct {
	*Table
	// Spans, if set, returns the exporter of calls as spans. names are the functions by index, and wall converts the time
	// stamp of an event to the time of day. If Spans is nil, calls are not exported.
	Spans  func(names []string, wall func(ticks uint64) time.Time) *metrics.Spans
	source *metrics.Source
	armed  atomic.Bool
	spans  *metrics.Spans
}

// NewExport returns a view that updates a source.
func NewExport(o *Options, source *metrics.Source) *Export {
	return &Export{Table: NewTable(o, uprobe.Latency), source: source}
}

// Armed reports whether an interval has ended, so that the probes must have been placed. It may be called from another
// goroutine.
func (v *Export) Armed() bool { return v.armed.Load() }

func (v *Export) Needs() Needs {
	needs := v.Table.Needs()
	needs.Totals.Intervals = false // Interval exports the numbers of the whole run
	needs.Probes.Follow = v.Spans != nil && v.opt.From == ""
	return needs
}

func (v *Export) Begin(s *Scene) error {
	v.Scene, v.memory = s, engine.NewMemories(s.Target.Binary, false)
	names := make([]string, len(s.Plan.Funcs))
	for i := range names {
		names[i] = s.Plan.Funcs[i].Name
	}
	if v.Spans != nil {
		v.spans = v.Spans(names, s.Clock.Wall)
	}
	file := s.Plan.Binary.File()
	_, version := s.Plan.Binary.GoVersion()
	v.source.Describe(metrics.File{Path: file.Path(), BuildID: file.BuildID(), GoVersion: version})
	return nil
}

// Take sends ended calls to the spans.
func (v *Export) Take(it *pairing.Item) error {
	switch c := it.Call; {
	case v.spans == nil:
	case it.Kind == pairing.Ended:
		v.spans.Add(c, v.Plan.Funcs[c.Func].Values.Fails && len(c.Results) > 0 && c.Results[0] != 0)
	case it.Kind == pairing.Read:
		v.spans.Flush()
	}
	return nil
}

func (v *Export) Interval(t *trace.Reading) error {
	v.source.Update(t.At, t.Whole, &t.Summary, t.Used)
	v.armed.Store(true)
	return nil
}

func (v *Export) End(t *trace.Reading) error { return v.Interval(t) }

// Close closes the spans. It must be called after the run, even if the run failed.
func (v *Export) Close() {
	if v.spans != nil {
		v.spans.Close()
	}
}
