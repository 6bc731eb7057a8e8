package render

import (
	"cmp"
	"fmt"
	"io"
	"path"

	"github.com/google/pprof/profile"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/offsets"
)

// AllocationOptions say how [Allocations] writes rows.
type AllocationOptions struct {
	Style
	Lines    bool              // rows are source lines
	Sort     int               // the index of the value by which the rows are sorted
	Total    stats.Allocations // of the whole process
	Changing bool              // see [engine.Heap]
}

// Allocations writes rows of allocations.
func Allocations(w io.Writer, rows []stats.Allocations, o AllocationOptions) error {
	place := func(a stats.Allocations) offsets.Frame { return framesOf(append(a.Stack, stats.Location{}))[0] } // a header has none
	short := ShortNames(o.Full, rows, func(a stats.Allocations) string { return place(a).Function })
	if o.Format != Table {
		return WriteRows(w, o.Format, true, func(a stats.Allocations) Row {
			f := place(a)
			row := Row{
				{"type", ColumnIf(o.Format == JSON, "allocations")}, {"function", f.Function},
				{"file", ColumnIf(o.Lines, Nonzero(f.File))}, {"line", ColumnIf(o.Lines, Nonzero(f.Line))}, {"size", Nonzero(a.Size)},
			}
			for i, name := range stats.AllocationValues {
				row.add(name, a.Values[i])
			}
			return append(row, Row{{"changing", Nonzero(o.Changing)}, {"stack", ColumnIf(o.Format == JSON, &a.Stack)}}...)
		}, rows...)
	}
	return WriteTable(w, o.Width, rows, func(a stats.Allocations) Row {
		f, c := place(a), [4]string{}
		for i, v := range a.Values {
			c[i] = printable.Compact(float64(v)) + [...]string{"", "B"}[i%2]
		}
		return Row{
			{"FUNCTION", cmp.Or(short[f.Function], f.Function)},
			{"POSITION", ColumnIf(o.Lines, ValueIf(f.File != "", fmt.Sprintf("%s:%d", path.Base(f.File), f.Line)))},
			{"IN USE", c[3]}, {"OBJECTS", c[2]}, {"ALLOCATED", c[1]}, {"OBJECTS", c[0]},
			{"SHARE", printable.Percent(uint64(max(a.Values[o.Sort], 0)), uint64(max(o.Total.Values[o.Sort], 1)))},
		}
	})
}

// FoldedAllocations writes the stacks of allocations like [FoldedStacks], with one of their values.
func FoldedAllocations(w io.Writer, all []stats.Allocations, value int) error {
	var stacks []stats.StackRow
	for _, a := range all {
		if a.Values[value] > 0 && len(a.Stack) > 0 {
			stacks = append(stacks, stats.StackRow{Function: framesOf(a.Stack)[0].Function, Callers: a.Stack[1:], Amount: a.Values[value]})
		}
	}
	return FoldedStacks(w, stacks, stats.AllocationValues[value])
}

// PprofAllocations writes allocations as runtime/pprof does (writeHeapProto in runtime/pprof/protomem.go). rate is the
// runtime's MemProfileRate.
func PprofAllocations(w io.Writer, all []stats.Allocations, value int, rate int64, run Profiled) error {
	p := run.profile(&profile.ValueType{Type: "space", Unit: "bytes"}, rate)
	for i, name := range stats.AllocationValues {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: name, Unit: [...]string{"count", "bytes"}[i%2]})
	}
	p.DefaultSampleType = stats.AllocationValues[value]
	for i := range all {
		if s := addSample(p, all[i].Stack, all[i].Values[:]...); all[i].Size != 0 {
			s.NumLabel = map[string][]int64{"bytes": {all[i].Size}}
		}
	}
	return writeProfile(w, p)
}
