package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// Options are the options of [Functions], [List] and [CallWriter].
type Options struct {
	Format  Format
	Width   int  // the width limit of tables and calls in columns, 0 means no limit
	Latency bool // write latencies (probe), not only counts (count)
	// Errors adds the number of errors to CSV and TSV. The other formats contain this number for each row whose
	// function returns errors.
	Errors bool
	// Budgeted adds the number of traced calls, and bounds of the number of all calls, to CSV and TSV, because a run with a
	// budget may not trace all calls. The other formats contain them for each row with an estimate.
	Budgeted    bool
	Sched       bool     // add the parts of latencies
	Processes   bool     // add the process to the text of calls
	Hosts       bool     // add the host
	By, ByStack bool     // By adds the value of --by; if ByStack is true, the value is a stack of callers
	Amount      string   // the expression of --sum, or ""
	Hist        bool     // add histograms of Amount, or of latencies if Amount is ""
	NoHeader    bool     // omit the header of CSV and TSV
	FullNames   bool     // do not shorten names in tables
	Events      []string // the kernel events in Func.Events, each as GROUP:EVENT
	// Interval is the interval of the rows, nil in a run without intervals.
	Interval *Interval
	// Trends are the rates of the last intervals by function, the oldest first. If not nil, they add a column to tables.
	Trends map[string][]float64

	Times  bool              // begin the text of a call with its time
	Stacks bool              // add callers to CSV and TSV of calls; the other formats contain the callers of each Line.Stack
	Short  map[string]string // short names of functions for the text of calls; nil means whole names
	Line   *CallFormat       // the format of calls in text, nil for the usual format
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
func Functions(w io.Writer, rows []stats.Func, o Options) error {
	switch o.Format {
	case JSON:
		return WriteRows(w, o.Format, false, o.members, rows...)
	case CSV, TSV:
		return WriteRows(w, o.Format, !o.NoHeader, o.record, rows...)
	}
	return WriteTable(w, o.Width, rows, o.columns(rows))
}

// columns returns a function that converts a row to cells of a table. The columns of errors only exist if
// a function returns errors, and the columns of calls without a latency only if a row has such calls. ≈ marks an estimated
// number of calls, see [stats.Estimate]. The sums of a row with an estimate are estimates, too, and TIMED is the number of
// the row's latencies. [latencyMark] returns the mark of the first latency.
func (o Options) columns(rows []stats.Func) func(r stats.Func, compact bool) Row {
	all := sum(rows)
	single := o.By && len(rows) > 0 && !slices.ContainsFunc(rows, func(r stats.Func) bool { return r.Func != rows[0].Func })
	short := ShortNames(o.FullNames, rows, func(r stats.Func) string { return r.Name })
	var row Row // reused for each row
	return func(r stats.Func, compact bool) Row {
		calls := any(r.Calls)
		if r.Estimate != nil {
			calls = estimate(r.Estimate)
		} else if compact {
			calls = printable.Compact(float64(r.Calls))
		}
		if r.Missed > 0 {
			calls = fmt.Sprint(calls, "+")
		}
		row = append(row[:0], Row{
			{"FUNCTION", ColumnIf(!single, cmp.Or(short[r.Name], r.Name))}, {"VALUE", ColumnIf(o.By, o.valueCell(r, single))}, {"HOST", ColumnIf(o.Hosts, printable.Text(r.Host))},
			{"CALLS", calls}, {"RATE/s", rate(r)},
			{"SUM", ColumnIf(o.Amount != "", amountSum(r))}, {"AVG", ColumnIf(o.Amount != "", amountMean(r))},
		}...)
		for _, s := range stats.Statistics {
			if o.Latency && s.Name != "min" && s.Name != "sum" && s.Name != "mean" { // a table is not wide enough for min, sum and mean
				row = append(row, Row{{strings.ToUpper(s.Name), latency(r, s)}}...)
			}
		}
		if o.Latency {
			share := any(nil) // the share of the wall time, over 100% if several goroutines call the function at once
			total, known := sumCell(r)
			if known >= 0 && r.Seconds > 0 {
				share = printable.Percent(uint64(known), uint64(r.Seconds*1e9))
			}
			row = append(row, Row{{"TOTAL", total}, {"SHARE", share}}...)
			row = append(row, Row{{"TIMED", ColumnIf(all.Estimate != nil, printable.Compact(float64(r.Completed)))}}...)
		}
		spent := r.ShownSplit()
		for i := 0; i < len(splitParts) && o.Sched; i++ {
			p, sum := splitParts[i], spent.Sum()
			share := printable.Percent(uint64(max(p.ns(spent), 0)), uint64(sum))
			row = append(row, Row{{strings.ToUpper(p.short) + "%", ValueIf(sum > 0, share)}}...)
		}
		if ends := r.ReturnsErrors && r.Completed > 0; all.ReturnsErrors {
			row = append(row, Row{{"ERRORS", ValueIf(ends, printable.Compact(float64(r.Errors)))}}...)
			row = append(row, Row{{"ERR%", ValueIf(ends, printable.Percent(r.Errors, r.Completed))}}...)
		}
		// Large numbers of calls without a latency are shortened, like 1.25M, to leave space for names. [Footer] and
		// JSON have the exact numbers.
		counted := all.CountedOnly
		if all.Estimate != nil { // the column TIMED replaces COUNTED
			counted = 0
		}
		for _, c := range [...]struct {
			name   string
			n, all uint64
		}{
			{"UNWOUND", r.Unwound, all.Unwound}, {"OPEN", r.Open, all.Open},
			{"LOST", r.Lost, all.Lost}, {"COUNTED", r.CountedOnly, counted},
		} {
			if c.all > 0 {
				row = append(row, Row{{c.name, printable.Compact(float64(c.n))}}...)
			}
		}
		for _, event := range o.Events {
			_, name, _ := strings.Cut(event, ":")
			perCall := printable.Rate(float64(r.Events[event]) / float64(r.Calls-min(r.CountedOnly, r.Calls)))
			row = append(row, Row{{name + "/call", ValueIf(r.Calls > r.CountedOnly, perCall)}}...)
		}
		row = append(row, Row{{"TREND", ColumnIf(o.Trends != nil, spark(o.Trends[r.Name]))}}...)
		row = append(row, Row{{"WAITS FOR", ColumnIf(all.Waits != nil, Nonzero(reasons(r.Waits)))}}...)
		return row
	}
}

// sum returns the sum of rows, without latencies and amounts.
func sum(rows []stats.Func) (all stats.Func) {
	for _, r := range rows {
		r.Latency, r.Amounts = nil, nil
		all.Add(&r)
	}
	return all
}

// Width limits of a value in columns: without a column of functions, and with one.
const valueAlone, valueBesideFunction = 100, 32

// valueCell returns the cell VALUE of a row. If alone is true, the table has no column of functions.
func (o Options) valueCell(r stats.Func, alone bool) string {
	text := printable.Text(r.Value)
	if names := strings.Split(text, stats.StackSeparator); o.ByStack {
		for i, name := range names {
			names[i] = printable.Short(name)
		}
		text = strings.Join(names, stats.StackSeparator)
	}
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
func (o Options) counts(kind any, r stats.Func) Row {
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

// thousandths returns a rate with three decimals.
func thousandths(rate float64) json.Number { return json.Number(strconv.FormatFloat(rate, 'f', 3, 64)) }

// record returns a row in CSV and TSV.
func (o Options) record(r stats.Func) Row {
	sum, _, _ := r.AmountTotal()
	row := append(o.counts(NoColumn, r), Row{
		{"rate", ValueIf(rated(r), thousandths(r.Rate()))}, {"sum_of", ColumnIf(o.Amount != "", sum)}, {"left_out", ColumnIf(o.Amount != "", cmp.Or(r.Amounts, noAmounts).Missing)},
	}...)
	var bounds Row
	for _, s := range stats.Statistics {
		value, low, high := statistic(r, s)
		row = append(row, Row{{s.Name + "_ns", ColumnIf(o.Latency, value)}}...)
		bounds = append(bounds, Row{{s.Name + "_low_ns", ColumnIf(o.Latency, low)}, {s.Name + "_high_ns", ColumnIf(o.Latency, high)}}...)
	}
	for _, p := range splitParts {
		row = append(row, Row{{p.name + "_ns", ColumnIf(o.Sched, ValueIf(r.Completed > 0, p.ns(r.ShownSplit())))}}...)
	}
	row = append(row, Row{{"errors", ColumnIf(o.Errors, ValueIf(r.ReturnsErrors, r.Errors))}}...)
	for _, name := range o.Events {
		row = append(row, Row{{name, r.Events[name]}}...)
	}
	low, high := callBounds(r)
	return append(append(append(row, bounds...), Row{
		{"raw", ColumnIf(o.Latency, ValueIf(timed(r), r.Raw() || r.Bounds == nil))},
		{"seen", ColumnIf(o.Budgeted, r.Calls)}, {"calls_low", ColumnIf(o.Budgeted, low)}, {"calls_high", ColumnIf(o.Budgeted, high)},
	}...), o.Interval.members()...)
}

// members returns the members of a row in JSON.
func (o Options) members(r stats.Func) Row {
	timed, estimated := o.Latency && timed(r), r.Estimate != nil
	bounded := timed && r.Bounds != nil
	buckets := bucketsOf(cmp.Or(r.ShownLatency(), noLatencies))
	var exact, low, high, raw Row
	for _, s := range stats.Statistics {
		value, least, most := statistic(r, s)
		exact, low, high = append(exact, Row{{s.Name, value}}...), append(low, Row{{s.Name, least}}...), append(high, Row{{s.Name, most}}...)
		raw = append(raw, Row{{s.Name, s.Of(&cmp.Or(r.Bounds, noBounds).Raw)}}...)
	}
	events := make(map[string]uint64) // the events that happened at least once
	for name, n := range r.Events {
		if n > 0 {
			events[name] = n
		}
	}
	amounts := cmp.Or(r.Amounts, noAmounts)
	least, most := callBounds(r)
	return append(append(o.counts("function", r), Row{
		{"unsure", Nonzero(r.Unsure)}, {"errors", ValueIf(r.ReturnsErrors, r.Errors)},
		{"counted_only", Nonzero(r.CountedOnly)}, {"cut_short", Nonzero(r.CutShort)},
		{"seen", ValueIf(estimated, r.Calls)}, {"calls_low", ValueIf(estimated, least)}, {"calls_high", ValueIf(estimated, most)},
		{"why", ValueIf(r.Kind == stats.NoValue, &r.Value)},
		{"sum_of", ValueIf(o.Amount != "", amountMembers(r, amounts))}, {"histogram_of", ValueIf(o.Hist && amounts.Count() > 0, bucketsOf(&amounts.Histogram))},
		{"rate", ValueIf(rated(r), r.Rate())}, {"ns", ValueIf(timed, exact)},
		// ns_low and ns_high bound the latencies without probes. ns_raw includes the cost of probes. If raw is true, ns
		// includes that cost, too.
		{"ns_low", ValueIf(bounded, low)}, {"ns_high", ValueIf(bounded, high)}, {"ns_raw", ValueIf(bounded, raw)},
		{"self_ns", self(r)}, {"raw", ValueIf(bounded, Nonzero(r.Raw()))},
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
func bucketMembers(r stats.Func) any {
	if r.Latency == nil {
		return nil
	}
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
		o = append(o, Row{{s.Name, ValueIf(amounts.Count() > 0, n)}}...)
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
