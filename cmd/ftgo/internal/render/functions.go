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
	"github.com/ftgo/ftgo/internal/units"
)

// Options say what [Functions] writes besides the rows.
type Options struct {
	Width    int  // the number of columns a table may take; 0 means no limit
	Latency  bool // latencies (probe); without them there are only counts (count)
	Bucketed bool // the kernel kept latencies: of percentiles, bounds are known
	// Errors adds the number of errors returned to CSV and TSV, CountFirst that of calls that were
	// counted and not timed to JSON, CSV and TSV; the other formats have them where a row does.
	Errors, CountFirst bool
	// Budgeted adds to CSV and TSV how much of the time functions were seen in, since a budget may keep
	// them from it; the other formats have it where it has.
	Budgeted    bool
	Sched       bool     // what latencies were spent with
	Processes   bool     // the process
	Hosts       bool     // the machine
	By, ByStack bool     // the value, which is who called
	Amount      string   // what is added up, "" if nothing is
	AmountHist  bool     // histograms are of it
	NoHeader    bool     // leave out the line with the columns' names
	FullNames   bool     // tables have the whole paths of packages
	Events      []string // the kernel events that Function.Events counts, GROUP:EVENT each
	// Interval is the interval that rows are of, nil where there are none.
	Interval *Interval
	// Trends are the rates of the last intervals, by function, oldest first, for the last
	// column of tables; without it there is none.
	Trends map[string][]float64
}

// Interval is a part of a run: the first is 1, and 0 stands for all of the run.
type Interval struct {
	Number int
	End    time.Time
}

// members are what tells an interval from others, and from the run.
func (i *Interval) members() object {
	switch {
	case i == nil:
		return nil
	case i.Number == 0:
		return object{{"total", true}}
	}
	return object{{"interval", &i.Number}, {"time", &i.End}}
}

// Functions writes a row for each function, in the order given.
func Functions(w io.Writer, f Format, rows []stats.Row, o Options) error {
	switch f {
	case JSON:
		return writeData(w, f, false, o.members, rows...)
	case CSV, TSV:
		return writeData(w, f, !o.NoHeader, o.record, rows...)
	}
	return writeTable(w, o.Width, o.NoHeader, rows, o.columns(rows))
}

// columns has columns of errors, and of calls that have no latency, where any function has
// such calls. A latency is marked with ~ if calls of its function were lost: it speaks for the
// others only; with * if its function was left to counting for its rate; with ≈ if probes took
// more than it is, and with < if it has in it what probes cost, which may be all of it. With
// o.Bucketed there is MEAN, which is exact, and the others have ≤.
func (o Options) columns(rows []stats.Row) func(r stats.Row, compact bool) object {
	all := sum(rows)
	single := o.By && len(rows) > 0 && !slices.ContainsFunc(rows, func(r stats.Row) bool { return r.Func != rows[0].Func })
	events := eventsShown(rows, o.Events)
	short := shortNames(o.FullNames, rows, func(r stats.Row) string { return r.Name })
	var names []string
	for _, s := range stats.Statistics {
		names = append(names, strings.ToUpper(s.Name))
	}
	var row object // of one row after the other
	return func(r stats.Row, compact bool) object {
		calls := any(r.Calls)
		if compact {
			calls = units.Compact(float64(r.Calls))
		}
		if r.Missed > 0 {
			calls = fmt.Sprint(calls, "+")
		}
		row = append(row[:0], object{
			{"FUNCTION", shown(!single, cmp.Or(short[r.Name], r.Name))}, {"VALUE", shown(o.By, o.valueCell(r, single))}, {"HOST", shown(o.Hosts, printable.Text(r.Host))}, {"PID", shown(o.Processes, cmp.Or(nonzero(r.PID), any("others")))},
			{"CALLS", calls}, {"RATE/s", units.Rate(r.Rate)},
			{"SUM", shown(o.Amount != "", amountCell(r, (*stats.Histogram).Sum))}, {"AVG", shown(o.Amount != "", amountCell(r, (*stats.Histogram).Mean))},
		}...)
		for i, s := range stats.Statistics {
			// There is no room for a mean where percentiles are more than bounds.
			if o.Latency && s.Name != "min" && s.Name != "sum" && (s.Name != "mean" || o.Bucketed) {
				row = append(row, member{names[i], latency(r, s, o)})
			}
		}
		if o.Latency {
			share := any(nil) // of the time that the row is of: that of several goroutines may be more than all
			if timed(r) && r.Seconds > 0 {
				share = units.Percent(uint64(max(r.Latency.Sum(), 0)), uint64(r.Seconds*1e9))
			}
			row = append(row, member{"TOTAL", latency(r, sumOf, o)}, member{"SHARE", share})
		}
		for i := 0; i < len(splitParts) && o.Sched; i++ {
			p, sum := splitParts[i], r.Split.Sum()
			share := units.Percent(uint64(max(p.of(r.Split), 0)), uint64(sum))
			row = append(row, member{strings.ToUpper(p.short) + "%", known(sum > 0, share)})
		}
		if ends := r.ReturnsErrors && r.Completed > 0; all.ReturnsErrors {
			row = append(row, member{"ERRORS", known(ends, units.Compact(float64(r.Errors)))})
			row = append(row, member{"ERR%", known(ends, units.Percent(r.Errors, r.Completed))})
		}
		// Calls that have no latency are told with large counts as 1.25M, to leave room for names;
		// [Footer] and JSON have the exact ones.
		for _, c := range [...]struct {
			name   string
			n, all uint64
		}{
			{"UNWOUND", r.Unwound, all.Unwound}, {"OPEN", r.Open, all.Open}, {"UNFINISHED", r.Unfinished, all.Unfinished},
			{"LOST", r.Lost, all.Lost}, {"COUNTED", r.CountedOnly, all.CountedOnly},
		} {
			if c.all > 0 {
				row = append(row, member{c.name, units.Compact(float64(c.n))})
			}
		}
		timed, counted := r.Seen.Shares()
		row = append(row, object{
			{"TIMED%", shown(all.Seen.Of > 0 && o.Latency, shareCell(timed))}, {"SEEN%", shown(all.Seen.Of > 0, shareCell(counted))},
			{"UNSEEN", shown(all.Seen.Of > 0, known(r.Seen.Missed >= 0.5, "≈"+units.Compact(math.Round(r.Seen.Missed))))},
		}...)
		for _, i := range events {
			_, name, _ := strings.Cut(o.Events[i], ":")
			perCall := units.Rate(float64(eventCount(r, i)) / float64(r.Calls))
			row = append(row, member{name + "/call", known(r.Calls > 0, perCall)})
		}
		row = append(row, member{"TREND", shown(o.Trends != nil, spark(o.Trends[r.Name]))})
		row = append(row, member{"WAITS FOR", shown(all.Waits != nil, nonzero(reasons(r.Waits)))})
		return row
	}
}

// sum adds up the calls of functions, and tells whether any returns errors, or has waited.
func sum(rows []stats.Row) (all stats.Function) {
	for _, r := range rows {
		all.Calls, all.Completed = all.Calls+r.Calls, all.Completed+r.Completed
		all.Unwound, all.Open = all.Unwound+r.Unwound, all.Open+r.Open
		all.Unfinished, all.Unsure = all.Unfinished+r.Unfinished, all.Unsure+r.Unsure
		all.Lost, all.CountedOnly = all.Lost+r.Lost, all.CountedOnly+r.CountedOnly
		all.ReturnsErrors = all.ReturnsErrors || r.ReturnsErrors
		if len(r.Waits) > 0 {
			all.Waits = r.Waits
		}
		all.Seen.Of += r.Seen.Of
	}
	return all
}

// shareCell is a share of the time, rounded down: only all of it is 100.
func shareCell(share float64) string {
	return strconv.FormatFloat(math.Floor(share*1e3+1e-3)/10, 'f', -1, 64)
}

// seen is how much of the time a function was seen in.
func seen(of stats.Seen) object {
	timed, counted := of.Shares()
	round := func(share float64) float64 { return math.Floor(share*1e4+1e-3) / 1e4 }
	return object{{"timed", round(timed)}, {"counted", round(counted)}, {"missed_estimate", uint64(math.Round(of.Missed))}}
}

// How many columns of a value are shown: without functions, and beside them.
const aloneColumns, besideColumns = 100, 32

// valueCell is what a row is of.
func (o Options) valueCell(r stats.Row, alone bool) string {
	text := printable.Text(r.Value)
	if names := strings.Split(text, stats.Calls); o.ByStack {
		for i, name := range names {
			names[i] = printable.Short(name)
		}
		text = strings.Join(names, stats.Calls)
	}
	switch r.Rest {
	case stats.Unvalued:
		text = "(not known: " + text + ")"
	case stats.Others:
		text = "(others)"
	}
	if alone {
		return printable.Cut(text, aloneColumns)
	}
	return printable.Cut(text, besideColumns)
}

// amountCell is a statistic of what is added up.
func amountCell(r stats.Row, of func(*stats.Histogram) int64) any {
	if r.Amounts == nil || r.Amounts.Count() == 0 {
		return nil
	}
	return amountText(of(&r.Amounts.Histogram))
}

// amountText writes a sum, which may be more than there can be.
func amountText(n int64) string {
	text := units.Compact(float64(n))
	if n == math.MaxInt64 {
		text = "≥" + text
	}
	return text
}

// sumOf is the statistic that TOTAL shows.
var sumOf = stats.Statistics[len(stats.Statistics)-1]

// maxEvents is how many kinds of kernel events a table has columns for: those that most
// happened of. JSON and CSV have all.
const maxEvents = 5

// eventsShown are the indexes of the kernel events that a table tells of.
func eventsShown(rows []stats.Row, names []string) []int {
	order := make([]int, len(names))
	totals := make([]uint64, len(names))
	for i := range names {
		order[i] = i
		for _, row := range rows {
			totals[i] += eventCount(row, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(totals[b], totals[a]) })
	order = order[:min(len(order), maxEvents)]
	slices.Sort(order)
	return order
}

func eventCount(row stats.Row, i int) uint64 {
	if i >= len(row.Events) {
		return 0
	}
	return row.Events[i]
}

// restNames say of what a row is that is of no value.
var restNames = [...]string{stats.Unvalued: "unknown", stats.Others: "others"}

// counts are what records and JSON begin with.
func (o Options) counts(kind any, r stats.Row) object {
	return object{
		{"type", kind}, {"function", r.Name}, {"value", shown(o.By, known(r.Rest == stats.Valued, &r.Value))},
		{"rest", shown(o.By, nonzero(restNames[r.Rest]))}, {"missed_at_most", shown(o.By, nonzero(r.Missed))},
		{"host", shown(o.Hosts, &r.Host)}, {"pid", shown(o.Processes, r.PID)},
		{"calls", r.Calls}, {"completed", r.Completed},
		{"unwound", shown(!o.Bucketed, r.Unwound)}, {"open", shown(!o.Bucketed, r.Open)},
		{"unfinished", shown(o.Bucketed, r.Unfinished)}, {"lost", r.Lost},
	}
}

// timed tells whether a function has latencies. Without them its cells are empty, not 0.
func timed(r stats.Row) bool { return r.Latency != nil && r.Latency.Count() > 0 }

var noLatencies, noBounds, noAmounts = &stats.Histogram{}, &stats.Bounds{}, &stats.Amounts{}

// thousandths writes a rate.
func thousandths(rate float64) verbatim { return verbatim(strconv.FormatFloat(rate, 'f', 3, 64)) }

// record is what CSV and TSV have of a function.
func (o Options) record(r stats.Row) object {
	latencies, bounds := cmp.Or(r.Latency, noLatencies), cmp.Or(r.Bounds, noBounds)
	bounded := timed(r) && r.Bounds != nil // else it is not known what probes cost
	net := o.Latency && !o.Bucketed
	amounts := cmp.Or(r.Amounts, noAmounts)
	row := append(o.counts(hidden{}, r), object{
		{"rate", thousandths(r.Rate)}, {"sum_of", shown(o.Amount != "", amounts.Sum())}, {"left_out", shown(o.Amount != "", amounts.Left)},
	}...)
	for _, s := range stats.Statistics {
		name := s.Name + "_ns"
		if o.Bucketed && s.Bucketed == stats.AtMost {
			name += "_at_most"
		}
		show := o.Latency && !(o.Bucketed && s.Bucketed == stats.Unknown)
		row = append(row, member{name, shown(show, known(timed(r), s.Of(latencies)))})
	}
	for _, p := range splitParts {
		row = append(row, member{p.name + "_ns", shown(o.Sched, known(r.Completed > 0, p.of(r.Split)))})
	}
	row = append(row, member{"errors", shown(o.Errors, known(r.ReturnsErrors, r.Errors))})
	for i, name := range o.Events {
		row = append(row, member{name, eventCount(r, i)})
	}
	for _, s := range stats.Statistics {
		low, high := bounds.Of(s)
		row = append(row, member{s.Name + "_low_ns", shown(net, known(bounded, low))})
		row = append(row, member{s.Name + "_high_ns", shown(net, known(bounded, high))})
	}
	return append(append(row, object{
		{"raw", shown(net, known(timed(r), r.Raw || r.Bounds == nil))},
		{"counted_only", shown(o.CountFirst, r.CountedOnly)},
		{"too_often", shown(o.CountFirst, known(r.TooOften > 0, thousandths(r.TooOften)))},
		{"timed_share", shown(o.Budgeted && o.Latency, known(r.Seen.Of > 0, seen(r.Seen)[0].value))},
		{"counted_share", shown(o.Budgeted, known(r.Seen.Of > 0, seen(r.Seen)[1].value))},
		{"missed_estimate", shown(o.Budgeted, known(r.Seen.Of > 0, seen(r.Seen)[2].value))},
	}...), o.Interval.members()...)
}

// members are what JSON has of a function.
func (o Options) members(r stats.Row) object {
	latencies, bounds := cmp.Or(r.Latency, noLatencies), cmp.Or(r.Bounds, noBounds)
	timed := o.Latency && timed(r)
	bounded := timed && r.Bounds != nil
	buckets := bucketsOf(latencies)
	amounts := cmp.Or(r.Amounts, noAmounts)
	added := object{{"calls", amounts.Count()}, {"left_out", amounts.Left}}
	for _, s := range stats.Statistics {
		added = append(added, member{s.Name, known(amounts.Count() > 0, s.Of(&amounts.Histogram))})
	}
	events := make(map[string]uint64) // without an entry for what never happened
	for i, name := range o.Events {
		if n := eventCount(r, i); n > 0 {
			events[name] = n
		}
	}
	var exact, atMost, low, high, raw object
	for _, s := range stats.Statistics {
		ns := s.Of(latencies)
		exact = append(exact, member{s.Name, known(!o.Bucketed || s.Bucketed == stats.Exact, ns)})
		atMost = append(atMost, member{s.Name, known(s.Bucketed == stats.AtMost, ns)})
		from, to := bounds.Of(s)
		low, high = append(low, member{s.Name, from}), append(high, member{s.Name, to})
		raw = append(raw, member{s.Name, s.Of(&bounds.Raw)})
	}
	return append(append(o.counts("function", r), object{
		{"unsure", nonzero(r.Unsure)}, {"errors", known(r.ReturnsErrors, r.Errors)},
		{"counted_only", shown(o.CountFirst || r.CountedOnly > 0, r.CountedOnly)}, {"too_often", nonzero(r.TooOften)},
		{"seen", known(r.Seen.Of > 0, seen(r.Seen))},
		{"why", known(r.Rest == stats.Unvalued, &r.Value)},
		{"sum_of", known(o.Amount != "", added)}, {"histogram_of", known(o.AmountHist && amounts.Count() > 0, bucketsOf(&amounts.Histogram))},
		{"rate", r.Rate}, {"ns", known(timed, exact)},
		// Between low and high is what the calls took without probes; raw is with them, and so is
		// ns if it says raw.
		{"ns_low", known(bounded, low)}, {"ns_high", known(bounded, high)}, {"ns_raw", known(bounded, raw)},
		{"self_ns", known(bounded && !r.Raw, r.Self)}, {"raw", known(bounded, nonzero(r.Raw))},
		{"sched", known(timed && o.Sched, splitOf{&r.Split, r.Waits})},
		{"ns_at_most", known(timed && o.Bucketed, atMost)},
		{"histogram", known(timed && buckets != nil, buckets)}, {"buckets", known(timed && o.whole(), fine(r))},
		{"events", known(len(o.Events) > 0, events)},
	}...), o.Interval.members()...)
}

// latency returns the cell of a statistic.
func latency(row stats.Row, s stats.Statistic, o Options) any {
	mark := ""
	if row.TooOften > 0 {
		mark = "*"
	}
	if !timed(row) {
		return nonzero(mark)
	}
	if row.Lost > 0 {
		mark += "~"
	}
	ns := s.Of(row.Latency)
	if o.Bucketed && s.Bucketed == stats.AtMost {
		return mark + atMost(ns)
	}
	return mark + correctionMark(row, s.Of) + units.Duration(ns)
}

// atMost writes a bound of ns nanoseconds, rounded up to what [Duration] shows of it.
func atMost(ns int64) string {
	step := int64(1)
	for ns/step > 999 {
		step *= 10
	}
	if rest := ns % step; rest > 0 && ns <= math.MaxInt64-step {
		ns += step - rest
	}
	return "≤" + units.Duration(ns)
}
