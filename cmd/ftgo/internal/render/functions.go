package render

import (
	"cmp"
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

// Options are for [Functions], [List] and a [CallWriter].
type Options struct {
	Format  Format
	Width   int  // the limit of tables in columns, and of calls as far as values can be cut; 0 means no limit
	Latency bool // write latencies (probe), not only counts (count)
	// Errors adds the number of errors to CSV and TSV; the other formats have it where a row has.
	Errors bool
	// Budgeted adds the number of calls seen, and bounds of the number of all calls, to CSV and TSV, because with a budget
	// some calls may not be seen; the other formats have them where a row has.
	Budgeted    bool
	Sched       bool     // add the parts of latencies
	Processes   bool     // lines name the process
	Hosts       bool     // add the host
	By, ByStack bool     // add the value, which is the callers with ByStack
	Amount      string   // the expression of --sum, or ""
	Hist        bool     // add histograms of Amount, or of latencies without one
	NoHeader    bool     // omit the header of CSV and TSV
	FullNames   bool     // do not shorten names in tables
	Events      []string // the kernel events in Func.Events, each as GROUP:EVENT
	// Interval is the interval of the rows, nil in a run without intervals.
	Interval *Interval
	// Trends are the rates of the last intervals by function, the oldest first. They add a column to tables.
	Trends map[string][]float64

	Times  bool // begin the text of a call with its time
	Stacks bool // add callers to CSV and TSV of calls; the other formats have them where a call has
	// Short has short names by names, for the text of calls.
	Short map[string]string
	// Line, if not nil, is the format of calls in text.
	Line *CallFormat
}

// Interval is a part of a run, with a number from 1 on, or 0 for the whole run.
type Interval struct {
	Number int
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

// Functions writes a row for each function, in the order given.
func Functions(w io.Writer, rows []stats.Func, o Options) error {
	switch o.Format {
	case JSON:
		return WriteRows(w, o.Format, false, o.members, rows...)
	case CSV, TSV:
		return WriteRows(w, o.Format, !o.NoHeader, o.record, rows...)
	}
	return WriteTable(w, o.Width, rows, o.columns(rows))
}

// columns returns the function that makes rows of a table. There are columns of errors, and of calls without a latency, only if a
// function has such calls. An estimated number of calls is marked with ≈, see [stats.Whole]; then all sums of the row are estimates, and
// TIMED is the number of latencies. [latencyMark] marks the first latency.
func (o Options) columns(rows []stats.Func) func(r stats.Func, compact bool) Row {
	all := sum(rows)
	single := o.By && len(rows) > 0 && !slices.ContainsFunc(rows, func(r stats.Func) bool { return r.Func != rows[0].Func })
	events := eventsShown(rows, o.Events)
	short := ShortNames(o.FullNames, rows, func(r stats.Func) string { return r.Name })
	var names []string
	for _, s := range stats.Statistics {
		names = append(names, strings.ToUpper(s.Name))
	}
	var row Row // reused for each row
	return func(r stats.Func, compact bool) Row {
		calls := any(r.Calls)
		if r.Whole != nil {
			calls = estimate(r.Whole)
		} else if compact {
			calls = printable.Compact(float64(r.Calls))
		}
		if r.Missed > 0 {
			calls = fmt.Sprint(calls, "+")
		}
		row = append(row[:0], Row{
			{"FUNCTION", Shown(!single, cmp.Or(short[r.Name], r.Name))}, {"VALUE", Shown(o.By, o.valueCell(r, single))}, {"HOST", Shown(o.Hosts, printable.Text(r.Host))},
			{"CALLS", calls}, {"RATE/s", rate(r)},
			{"SUM", Shown(o.Amount != "", amountSum(r))}, {"AVG", Shown(o.Amount != "", amountMean(r))},
		}...)
		for i, s := range stats.Statistics {
			if o.Latency && s.Name != "min" && s.Name != "sum" && s.Name != "mean" { // there is no room for these
				row = append(row, Row{{names[i], latency(r, s)}}...)
			}
		}
		if o.Latency {
			share := any(nil) // of the wall time; several goroutines together may take more than all of it
			total, known := sumCell(r)
			if known >= 0 && r.Seconds > 0 {
				share = printable.Percent(uint64(known), uint64(r.Seconds*1e9))
			}
			row = append(row, Row{{"TOTAL", total}, {"SHARE", share}}...)
			row = append(row, Row{{"TIMED", Shown(all.Whole != nil, printable.Compact(float64(r.Completed)))}}...)
		}
		spent := r.Spent()
		for i := 0; i < len(splitParts) && o.Sched; i++ {
			p, sum := splitParts[i], spent.Sum()
			share := printable.Percent(uint64(max(p.of(spent), 0)), uint64(sum))
			row = append(row, Row{{strings.ToUpper(p.short) + "%", Known(sum > 0, share)}}...)
		}
		if ends := r.ReturnsErrors && r.Completed > 0; all.ReturnsErrors {
			row = append(row, Row{{"ERRORS", Known(ends, printable.Compact(float64(r.Errors)))}}...)
			row = append(row, Row{{"ERR%", Known(ends, printable.Percent(r.Errors, r.Completed))}}...)
		}
		// Large numbers of calls without a latency are written as 1.25M, to leave room for names. The exact ones
		// are in [Footer] and JSON.
		counted := all.CountedOnly
		if all.Whole != nil { // TIMED shows them
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
		for _, event := range events {
			_, name, _ := strings.Cut(event, ":")
			perCall := printable.Rate(float64(r.Events[event]) / float64(r.Calls-min(r.CountedOnly, r.Calls)))
			row = append(row, Row{{name + "/call", Known(r.Calls > r.CountedOnly, perCall)}}...)
		}
		row = append(row, Row{{"TREND", Shown(o.Trends != nil, spark(o.Trends[r.Name]))}}...)
		row = append(row, Row{{"WAITS FOR", Shown(all.Waits != nil, Nonzero(reasons(r.Waits)))}}...)
		return row
	}
}

// sum adds up functions without their latencies.
func sum(rows []stats.Func) (all stats.Func) {
	for _, r := range rows {
		r.Latency, r.Amounts = nil, nil
		all.Add(&r)
	}
	return all
}

// Limits of a value in columns: without a column of functions, and with one.
const aloneColumns, besideColumns = 100, 32

// valueCell returns the text of a row's value.
func (o Options) valueCell(r stats.Func, alone bool) string {
	text := printable.Text(r.Value)
	if names := strings.Split(text, stats.Calls); o.ByStack {
		for i, name := range names {
			names[i] = printable.Short(name)
		}
		text = strings.Join(names, stats.Calls)
	}
	switch r.Kind {
	case stats.NoValue:
		text = "(not known: " + text + ")"
	case stats.Others:
		text = "(others)"
	}
	if alone {
		return printable.Cut(text, aloneColumns)
	}
	return printable.Cut(text, besideColumns)
}

// amountText returns the text of a sum, which may have reached the limit of an int64.
func amountText(n int64) string {
	text := printable.Compact(float64(n))
	if n == math.MaxInt64 {
		text = "≥" + text
	}
	return text
}

// maxEvents is the limit of columns of kernel events in a table, which has the most frequent ones. JSON and CSV have
// all.
const maxEvents = 5

// eventsShown returns the kernel events for a table, in the order of names.
func eventsShown(rows []stats.Func, names []string) []string {
	totals := make(map[string]uint64)
	for _, row := range rows {
		for name, n := range row.Events {
			totals[name] += n
		}
	}
	most := slices.Clone(names)
	slices.SortStableFunc(most, func(a, b string) int { return cmp.Compare(totals[b], totals[a]) })
	most = most[:min(len(most), maxEvents)]
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(most, name) })
}

// kindNames are the names of rows without a value.
var kindNames = [...]string{stats.NoValue: "unknown", stats.Others: "others"}

// counts returns the first members of records and JSON.
func (o Options) counts(kind any, r stats.Func) Row {
	return Row{
		{"type", kind}, {"function", r.Name}, {"value", Shown(o.By, Known(r.Kind == stats.Valued, &r.Value))},
		{"rest", Shown(o.By, Nonzero(kindNames[r.Kind]))}, {"missed_at_most", Shown(o.By, Nonzero(r.Missed))},
		{"host", Shown(o.Hosts, &r.Host)},
		{"calls", r.Count()}, {"completed", r.Completed},
		{"unwound", r.Unwound}, {"open", r.Open}, {"lost", r.Lost},
	}
}

// timed reports whether a function has latencies. Without them its cells are empty, not 0.
func timed(r stats.Func) bool { return r.Latency != nil && r.Latency.Count() > 0 }

var noLatencies, noBounds, noAmounts = &stats.Histogram{}, &stats.Bounds{}, &stats.Amounts{}

// thousandths returns a rate with three decimals.
func thousandths(rate float64) verbatim { return verbatim(strconv.FormatFloat(rate, 'f', 3, 64)) }

// record returns the record of a function in CSV and TSV.
func (o Options) record(r stats.Func) Row {
	sum, _, _ := r.AmountTotal()
	row := append(o.counts(Hidden, r), Row{
		{"rate", Known(rated(r), thousandths(r.Rate()))}, {"sum_of", Shown(o.Amount != "", sum)}, {"left_out", Shown(o.Amount != "", cmp.Or(r.Amounts, noAmounts).Left)},
	}...)
	var bounds Row
	for _, s := range stats.Statistics {
		value, low, high := statistic(r, s)
		row = append(row, Row{{s.Name + "_ns", Shown(o.Latency, value)}}...)
		bounds = append(bounds, Row{{s.Name + "_low_ns", Shown(o.Latency, low)}, {s.Name + "_high_ns", Shown(o.Latency, high)}}...)
	}
	for _, p := range splitParts {
		row = append(row, Row{{p.name + "_ns", Shown(o.Sched, Known(r.Completed > 0, p.of(r.Spent())))}}...)
	}
	row = append(row, Row{{"errors", Shown(o.Errors, Known(r.ReturnsErrors, r.Errors))}}...)
	for _, name := range o.Events {
		row = append(row, Row{{name, r.Events[name]}}...)
	}
	low, high := callBounds(r)
	return append(append(append(row, bounds...), Row{
		{"raw", Shown(o.Latency, Known(timed(r), r.Raw() || r.Bounds == nil))},
		{"seen", Shown(o.Budgeted, r.Calls)}, {"calls_low", Shown(o.Budgeted, low)}, {"calls_high", Shown(o.Budgeted, high)},
	}...), o.Interval.members()...)
}

// members returns the members of a function in JSON.
func (o Options) members(r stats.Func) Row {
	timed, estimated := o.Latency && timed(r), r.Whole != nil
	bounded := timed && r.Bounds != nil
	buckets := bucketsOf(cmp.Or(r.Shown(), noLatencies))
	var exact, low, high, raw Row
	for _, s := range stats.Statistics {
		value, least, most := statistic(r, s)
		exact, low, high = append(exact, Row{{s.Name, value}}...), append(low, Row{{s.Name, least}}...), append(high, Row{{s.Name, most}}...)
		raw = append(raw, Row{{s.Name, s.Of(&cmp.Or(r.Bounds, noBounds).Raw)}}...)
	}
	events := make(map[string]uint64) // without those that never happened
	for name, n := range r.Events {
		if n > 0 {
			events[name] = n
		}
	}
	amounts := cmp.Or(r.Amounts, noAmounts)
	least, most := callBounds(r)
	return append(append(o.counts("function", r), Row{
		{"unsure", Nonzero(r.Unsure)}, {"errors", Known(r.ReturnsErrors, r.Errors)},
		{"counted_only", Nonzero(r.CountedOnly)}, {"cut_short", Nonzero(r.CutShort)},
		{"seen", Known(estimated, r.Calls)}, {"calls_low", Known(estimated, least)}, {"calls_high", Known(estimated, most)},
		{"why", Known(r.Kind == stats.NoValue, &r.Value)},
		{"sum_of", Known(o.Amount != "", amountMembers(r, amounts))}, {"histogram_of", Known(o.Hist && amounts.Count() > 0, bucketsOf(&amounts.Histogram))},
		{"rate", Known(rated(r), r.Rate())}, {"ns", Known(timed, exact)},
		// ns_low and ns_high bound the latencies without probes. ns_raw includes the cost of probes, and so does ns
		// if raw is true.
		{"ns_low", Known(bounded, low)}, {"ns_high", Known(bounded, high)}, {"ns_raw", Known(bounded, raw)},
		{"self_ns", self(r)}, {"raw", Known(bounded, Nonzero(r.Raw()))},
		{"sched", Known(timed && o.Sched, splitMembers(r.Spent(), r.Waits))},
		{"histogram", Known(timed && buckets != nil, buckets)}, {"buckets", Known(timed && (o.Interval == nil || o.Interval.Number == 0), bucketMembers(r))},
		{"events", Known(len(o.Events) > 0, events)},
	}...), o.Interval.members()...)
}

func bucketsOf(h *stats.Histogram) (buckets []Row) {
	for _, b := range h.Buckets(1) {
		buckets = append(buckets, Row{{"from", b.From}, {"to", b.To}, {"count", b.Count}})
	}
	return buckets
}

// bucketMembers returns the histograms of latencies with all buckets, from which report adds up runs.
func bucketMembers(r stats.Func) any {
	if r.Latency == nil {
		return nil
	}
	b := cmp.Or(r.Bounds, noBounds)
	return Row{
		{"ns", r.Latency}, {"low", Known(r.Bounds != nil, &b.Low)}, {"high", Known(r.Bounds != nil, &b.High)},
		{"raw", Known(r.Bounds != nil, &b.Raw)}, {"waited", Nonzero(b.Waiting)}, {"self", Known(r.Bounds != nil, r.Self)},
	}
}

// amountMembers returns the members of a sum.
func amountMembers(r stats.Func, of *stats.Amounts) Row {
	sum, low, high := r.AmountTotal()
	o := Row{{"calls", of.Count()}, {"left_out", of.Left}}
	for _, s := range stats.Statistics {
		n := s.Of(&of.Histogram)
		if s.Name == "sum" {
			n = sum
		}
		o = append(o, Row{{s.Name, Known(of.Count() > 0, n)}}...)
	}
	estimated := r.Whole != nil && of.Count() > 0
	return append(o, Row{{"sum_low", Known(estimated, low)}, {"sum_high", Known(estimated && r.Whole.Bounded(), high)}}...)
}

// latency returns the cell of a statistic. That of the median, the first of a row, has the row's mark.
func latency(row stats.Func, s stats.Statistic) any {
	if !timed(row) {
		return nil
	}
	mark := ""
	if s.Name == "p50" {
		mark = latencyMark(row)
	}
	return mark + printable.Duration(s.Of(row.Shown()))
}
