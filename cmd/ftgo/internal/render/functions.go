package render

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// RowOptions say which numbers [Functions] and [Histograms] write.
type RowOptions struct {
	Style
	Latency bool // write latencies (probe), not only counts (count)
	// Errors adds the number of errors to CSV and TSV. The other formats contain this number for each row whose
	// function returns errors.
	Errors bool
	// Budgeted adds the number of traced calls, and bounds of the number of all calls, to CSV and TSV, because a run with a
	// budget may not trace all calls. The other formats contain them for each row with an estimate.
	Budgeted bool
	Sched    bool      // add the parts of latencies
	Hosts    bool      // add the host
	By       bool      // add the value of --by
	Amount   string    // the expression of --sum, or ""
	Hist     bool      // add histograms of Amount, or of latencies if Amount is ""
	Events   []string  // the kernel events in Func.Events, each as GROUP:EVENT
	Interval *Interval // the interval of the rows, nil in a run without intervals; only the first has the header of CSV and TSV
}

// Interval identifies an interval of a run.
type Interval struct {
	Number int // 1 for the first, 0 for the whole run
	End    time.Time
}

// members returns the members that identify the interval.
func (i *Interval) members() Row {
	switch {
	case i == nil:
		return nil
	case i.Number == 0:
		return Row{{"total", true}}
	}
	return Row{{"interval", &i.Number}, {"time", &i.End}}
}

// Functions writes a row for each function.
func Functions(w io.Writer, rows []stats.Func, o RowOptions) error {
	switch o.Format {
	case JSON:
		return WriteRows(w, o.Format, false, o.members, rows...)
	case CSV, TSV:
		return WriteRows(w, o.Format, o.Interval == nil || o.Interval.Number <= 1, o.record, rows...)
	}
	return WriteTable(w, o.Width, rows, o.columns(rows))
}

// columns returns a function that converts a row to cells of a table. The columns of errors only exist if
// a function returns errors, and the columns of calls without a latency only if a row has such calls. ≈ marks an estimated
// number of calls, see [stats.Estimate]. The sums of a row with an estimate are estimates, too, and TIMED is the number of
// the row's latencies. [latencyMark] returns the mark of the first latency.
func (o RowOptions) columns(rows []stats.Func) func(stats.Func) Row {
	all := Sum(rows)
	single := o.By && len(rows) > 0 && !slices.ContainsFunc(rows, func(r stats.Func) bool { return r.Func != rows[0].Func })
	short := ShortNames(o.Full, rows, func(r stats.Func) string { return r.Name })
	compact := func(n uint64) string { return printable.Compact(float64(n)) } // leaves space for names; JSON has exact numbers
	return func(r stats.Func) Row {
		calls := any(r.Calls)
		if r.Estimate != nil {
			calls = estimate(r.Estimate)
		}
		if r.Missed > 0 {
			calls = fmt.Sprint(calls, "+")
		}
		amount, mean := amountCells(r)
		row := Row{
			{"FUNCTION", ColumnIf(!single, cmp.Or(short[r.Name], r.Name))}, {"VALUE", ColumnIf(o.By, o.valueCell(r, single))}, {"HOST", ColumnIf(o.Hosts, printable.Text(r.Host))},
			{"CALLS", calls}, {"RATE/s", rate(r)},
			{"SUM", ColumnIf(o.Amount != "", amount)}, {"AVG", ColumnIf(o.Amount != "", mean)},
		}
		for _, s := range stats.Statistics {
			if o.Latency && s.Name != "min" && s.Name != "sum" && s.Name != "mean" { // a table is not wide enough for min, sum and mean
				row.add(strings.ToUpper(s.Name), latency(r, s))
			}
		}
		if o.Latency {
			total, ns := sumCell(r)
			row.add("TOTAL", total)
			// The share of the wall time, over 100% if several goroutines call the function at once.
			row.add("SHARE", ValueIf(ns >= 0 && r.Seconds > 0, printable.Percent(uint64(ns), uint64(r.Seconds*1e9))))
			row.add("TIMED", ColumnIf(all.Estimate != nil, compact(r.Completed)))
		}
		if o.Sched {
			spent := r.ShownSplit()
			for _, p := range splitParts {
				row.add(strings.ToUpper(p.short)+"%", ValueIf(spent.Sum() > 0, printable.Percent(uint64(max(p.ns(spent), 0)), uint64(spent.Sum()))))
			}
		}
		ends := r.ReturnsErrors && r.Completed > 0
		row.add("ERRORS", ColumnIf(all.ReturnsErrors, ValueIf(ends, compact(r.Errors))))
		row.add("ERR%", ColumnIf(all.ReturnsErrors, ValueIf(ends, printable.Percent(r.Errors, r.Completed))))
		row.add("UNWOUND", ColumnIf(all.Unwound > 0, compact(r.Unwound)))
		row.add("OPEN", ColumnIf(all.Open > 0, compact(r.Open)))
		row.add("LOST", ColumnIf(all.Lost > 0, compact(r.Lost)))
		row.add("COUNTED", ColumnIf(all.CountedOnly > 0 && all.Estimate == nil, compact(r.CountedOnly))) // else TIMED replaces it
		for _, event := range o.Events {
			_, name, _ := strings.Cut(event, ":")
			perCall := printable.Rate(float64(r.Events[event]) / float64(r.Calls-min(r.CountedOnly, r.Calls)))
			row.add(name+"/call", ValueIf(r.Calls > r.CountedOnly, perCall))
		}
		row.add("WAITS FOR", ColumnIf(all.Waits != nil, Nonzero(reasons(r.Waits))))
		return row
	}
}

// Sum returns the sum of rows, without latencies and amounts.
func Sum(rows []stats.Func) (all stats.Func) {
	for _, r := range rows {
		r.Latency, r.Amounts = nil, nil
		all.Add(&r)
	}
	return all
}

// Width limits of a value in columns: without a column of functions, and with one.
const valueAlone, valueBesideFunction = 100, 32

// valueCell returns the cell VALUE of a row. If alone is true, the table has no column of functions.
func (o RowOptions) valueCell(r stats.Func, alone bool) string {
	text := printable.Text(r.Value)
	switch r.Kind {
	case stats.NoValue:
		text = "(not known: " + text + ")"
	case stats.Others:
		text = "(others)"
	}
	if alone {
		return printable.Cut(text, valueAlone)
	}
	return printable.Cut(text, valueBesideFunction)
}

// amountText returns a sum as text. It marks the largest int64 as a lower bound, because sums do not grow beyond it.
func amountText(n int64) string {
	text := printable.Compact(float64(n))
	if n == math.MaxInt64 {
		text = "≥" + text
	}
	return text
}

// kindNames are the names of the kinds of rows without a value.
var kindNames = [...]string{stats.NoValue: "unknown", stats.Others: "others"}

// counts returns the first members of a row in JSON, CSV and TSV.
func (o RowOptions) counts(kind any, r stats.Func) Row {
	return Row{
		{"type", kind}, {"function", r.Name}, {"value", ColumnIf(o.By, ValueIf(r.Kind == stats.Valued, &r.Value))},
		{"rest", ColumnIf(o.By, Nonzero(kindNames[r.Kind]))}, {"missed_at_most", ColumnIf(o.By, Nonzero(r.Missed))},
		{"host", ColumnIf(o.Hosts, &r.Host)},
		{"calls", r.Count()}, {"completed", r.Completed},
		{"unwound", r.Unwound}, {"open", r.Open}, {"lost", r.Lost},
	}
}

// timed reports whether a row has latencies. Without latencies, its cells are empty instead of 0.
func timed(r stats.Func) bool { return r.Latency != nil && r.Latency.Count() > 0 }

var noLatencies, noBounds, noAmounts = &stats.Histogram{}, &stats.Bounds{}, &stats.Amounts{}

// record returns a row in CSV and TSV.
func (o RowOptions) record(r stats.Func) Row {
	sum, _, _ := r.AmountTotal()
	row := append(o.counts(NoColumn, r), Row{
		{"rate", ValueIf(r.Seconds > 0, strconv.FormatFloat(r.Rate(), 'f', 3, 64))}, {"sum_of", ColumnIf(o.Amount != "", sum)}, {"left_out", ColumnIf(o.Amount != "", cmp.Or(r.Amounts, noAmounts).Missing)},
	}...)
	var bounds Row
	for _, s := range stats.Statistics {
		value, low, high := statistic(r, s)
		row.add(s.Name+"_ns", ColumnIf(o.Latency, value))
		bounds.add(s.Name+"_low_ns", ColumnIf(o.Latency, low))
		bounds.add(s.Name+"_high_ns", ColumnIf(o.Latency, high))
	}
	for _, p := range splitParts {
		row.add(p.name+"_ns", ColumnIf(o.Sched, ValueIf(r.Completed > 0, p.ns(r.ShownSplit()))))
	}
	row.add("errors", ColumnIf(o.Errors, ValueIf(r.ReturnsErrors, r.Errors)))
	for _, name := range o.Events {
		row.add(name, r.Events[name])
	}
	low, high := callBounds(r)
	return slices.Concat(row, bounds, Row{
		{"raw", ColumnIf(o.Latency, ValueIf(timed(r), r.Raw() || r.Bounds == nil))},
		{"seen", ColumnIf(o.Budgeted, r.Calls)}, {"calls_low", ColumnIf(o.Budgeted, low)}, {"calls_high", ColumnIf(o.Budgeted, high)},
	}, o.Interval.members())
}

// members returns the members of a row in JSON.
func (o RowOptions) members(r stats.Func) Row {
	timed, estimated := o.Latency && timed(r), r.Estimate != nil
	bounded := timed && r.Bounds != nil
	buckets := bucketsOf(cmp.Or(r.ShownLatency(), noLatencies))
	var exact, low, high, raw Row
	for _, s := range stats.Statistics {
		value, least, most := statistic(r, s)
		exact.add(s.Name, value)
		low.add(s.Name, least)
		high.add(s.Name, most)
		raw.add(s.Name, s.Of(&cmp.Or(r.Bounds, noBounds).Raw))
	}
	events := make(map[string]uint64) // the events that happened at least once
	maps.Copy(events, r.Events)
	maps.DeleteFunc(events, func(_ string, n uint64) bool { return n == 0 })
	amounts := cmp.Or(r.Amounts, noAmounts)
	least, most := callBounds(r)
	self, selfKnown := r.SelfTotal() // without nested timed calls
	return append(append(o.counts("function", r), Row{
		{"unsure", Nonzero(r.Unsure)}, {"errors", ValueIf(r.ReturnsErrors, r.Errors)},
		{"counted_only", Nonzero(r.CountedOnly)}, {"cut_short", Nonzero(r.CutShort)},
		{"seen", ValueIf(estimated, r.Calls)}, {"calls_low", ValueIf(estimated, least)}, {"calls_high", ValueIf(estimated, most)},
		{"why", ValueIf(r.Kind == stats.NoValue, &r.Value)},
		{"sum_of", ValueIf(o.Amount != "", amountMembers(r, amounts))}, {"histogram_of", ValueIf(o.Hist && amounts.Count() > 0, bucketsOf(&amounts.Histogram))},
		{"rate", ValueIf(r.Seconds > 0, r.Rate())}, {"ns", ValueIf(timed, exact)},
		// ns_low and ns_high bound the latencies without probes. ns_raw includes the cost of probes. If raw is true, ns
		// includes that cost, too.
		{"ns_low", ValueIf(bounded, low)}, {"ns_high", ValueIf(bounded, high)}, {"ns_raw", ValueIf(bounded, raw)},
		{"self_ns", ValueIf(selfKnown, self)}, {"raw", ValueIf(bounded, Nonzero(r.Raw()))},
		{"sched", ValueIf(timed && o.Sched, splitMembers(r.ShownSplit(), r.Waits))},
		{"histogram", ValueIf(timed && buckets != nil, buckets)}, {"buckets", ValueIf(timed && (o.Interval == nil || o.Interval.Number == 0), bucketMembers(r))},
		{"events", ValueIf(len(o.Events) > 0, events)},
	}...), o.Interval.members()...)
}

func bucketsOf(h *stats.Histogram) (buckets []Row) {
	for _, b := range h.Buckets(1) {
		buckets = append(buckets, Row{{"from", b.From}, {"to", b.To}, {"count", b.Count}})
	}
	return buckets
}

// bucketMembers returns the histograms of latencies with all buckets. The command report merges runs from them.
func bucketMembers(r stats.Func) Row {
	b := cmp.Or(r.Bounds, noBounds)
	return Row{
		{"ns", r.Latency}, {"low", ValueIf(r.Bounds != nil, &b.Low)}, {"high", ValueIf(r.Bounds != nil, &b.High)},
		{"raw", ValueIf(r.Bounds != nil, &b.Raw)}, {"waited", Nonzero(b.Waiting)}, {"self", ValueIf(r.Bounds != nil, r.Self)},
	}
}

// amountMembers returns the members of an object with the numbers of --sum.
func amountMembers(r stats.Func, amounts *stats.Amounts) Row {
	sum, low, high := r.AmountTotal()
	o := Row{{"calls", amounts.Count()}, {"left_out", amounts.Missing}}
	for _, s := range stats.Statistics {
		n := s.Of(&amounts.Histogram)
		if s.Name == "sum" {
			n = sum
		}
		o.add(s.Name, ValueIf(amounts.Count() > 0, n))
	}
	estimated := r.Estimate != nil && amounts.Count() > 0
	return append(o, Row{{"sum_low", ValueIf(estimated, low)}, {"sum_high", ValueIf(estimated && r.Estimate.Bounded(), high)}}...)
}

// latency returns the cell of a latency statistic. The cell P50, the first of a row, includes the mark of the row.
func latency(row stats.Func, s stats.Statistic) any {
	if !timed(row) {
		return nil
	}
	mark := ""
	if s.Name == "p50" {
		mark = latencyMark(row)
	}
	return mark + printable.Duration(s.Of(row.ShownLatency()))
}
