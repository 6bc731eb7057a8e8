package view

import (
	"reflect"
	"sync/atomic"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/metrics"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
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
	if v.Spans != nil && v.opt.From == "" {
		needs.Probes.Follow, needs.Source.Entries, needs.Values = true, true, v.spanValues
	}
	return needs
}

// spanValues adds the span of the program to the values of a table, where a call has a context and the program has spans.
func (v *Export) spanValues(s *target.Target, features tracefs.Features) (engine.Values, error) {
	values, err := v.Table.values(s, features)
	return func(f *offsets.Func, sites *offsets.Sites) (out uprobe.Values, err error) {
		if out, err = values(f, sites); err != nil {
			return out, err
		}
		sig, unknown := s.Binary.Signature(f)
		if unknown != nil {
			return out, nil
		}
		entry, _, err := s.Builders(capture.DefaultLimits, f, sites, sig, 0, features)
		if err != nil {
			return out, err
		}
		if t, none := entry.Type(capture.TraceParent); none == nil && t.Kind == reflect.String {
			out.Entry, err = entry.Capture([]string{capture.TraceParent}, nil)
		}
		return out, err
	}, err
}

func (v *Export) Begin(s *Scene) error {
	v.begin(s)
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
	case it.Kind == pairing.Began:
		var traceparent []byte
		if entry := v.Plan.Funcs[c.Func].Values.Entry; entry != nil && c.Args != nil {
			traceparent = entry.AppendValues(nil, c.Args, v.memory.Process(c))[0].Bytes
		}
		v.spans.Begin(c, traceparent)
	case it.Kind == pairing.Forgotten:
		v.memory.Forget(it.PID)
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
