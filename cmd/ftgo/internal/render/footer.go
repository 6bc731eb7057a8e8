package render

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// Notes are the conditional lines of a footer.
type Notes struct{ text bytes.Buffer }

// Line adds a line if cond is true.
func (f *Notes) Line(cond bool, format string, args ...any) {
	if cond {
		fmt.Fprintf(&f.text, format+"\n", args...)
	}
}

// Write writes the lines with one call of Write.
func (f *Notes) Write(w io.Writer) error { return write(w, f.text.Bytes()) }

// Footer writes the lines after a table, which say how complete and exact it is: hits and lost hits, calls without a
// latency, functions that were not fully probed, and the cost of probes.
func Footer(w io.Writer, rows []stats.Func, s stats.Summary) error {
	var f Notes
	all := Sum(rows)
	f.Line(true, "%s", hits(s))
	f.Line(s.Hits > 0 && s.NoCallsReason != "", "no call is shown: %s", printable.Text(s.NoCallsReason))
	calls := printable.Plural(all.Calls, "call")
	f.Line(all.Unsure > 0, "~ up to %d of %s may be none, as hits at stack checks were lost", all.Unsure, calls)
	f.Line(s.LatencyMeasured && all.Unsure+s.Lost > 0, "~ latencies come from %d of %s", all.Completed, calls)
	f.Line(!s.LatencyMeasured && s.Streamed && s.Lost > 0 && all.Unsure == 0, "~ calls may be missing: up to %d", s.Lost)
	f.pairs(s.Pairs, s.Lost)
	f.Line(s.LatencyMeasured && s.Pairs == nil && all.Unwound+all.Open > 0, "calls without a latency: %d left by panic or Goexit, %d still open at the end", all.Unwound, all.Open)
	f.valueNotes(rows, s.Values)
	f.estimated(rows, s)
	f.limits(rows, s.Skipped)
	f.latencyNotes(rows, s.RawLatencies)
	f.cost(&s)
	f.Line(s.Unparsed > 0, "%s not understood", printable.Plural(s.Unparsed, "trace line"))
	if k := s.Kernel; k != nil && len(k.Names) > 0 {
		f.Line(true, "%s", printable.Plural(k.Delivered, "kernel event"))
		f.Line(k.Lost+k.Unparsed > 0, "at most %d kernel events lost, so their counts are too low, and %d not understood", k.Lost, k.Unparsed)
	}
	return f.Write(w)
}

// pairs adds a line about the calls of a pair, and hits that are none.
func (f *Notes) pairs(p *stats.Pairs, lost uint64) {
	if p == nil {
		return
	}
	text, before := fmt.Sprintf("%d arrived", p.Arrived), "%d had begun before the run"
	if p.Outdated {
		before += " or arrived long ago"
	}
	for _, part := range []struct {
		n    uint64
		text string
	}{
		{p.NotArrived, "%d had not arrived at the end"}, {p.Again, "%d began again before they arrived"},
		{p.Forgotten, "%d were forgotten, because too many others were under way"}, {p.Late, "%d of them arrived"},
		{p.Twice, "%d arrived again"}, {p.Before, before}, {p.Unread, "the value of %d could not be read"},
	} {
		if part.n > 0 {
			text += ", " + fmt.Sprintf(part.text, part.n)
		}
	}
	if lost > 0 {
		text = "~ " + text + "; lost events change these numbers"
	}
	f.Line(true, "%s", text)
}

// valueNotes adds lines about calls without an amount, and about values without a row.
func (f *Notes) valueNotes(rows []stats.Func, values *stats.TopValues) {
	var left uint64
	for _, row := range rows {
		if row.Amounts != nil {
			left += row.Amounts.Missing
		}
	}
	f.Line(left > 0, "not added up: the value of %s, which could not be read or is negative", printable.Plural(left, "call"))
	if values == nil || values.Evicted == 0 {
		return
	}
	most := printable.Plural(values.AtMost, "call")
	switch values.By {
	case "time":
		most = printable.Duration(int64(min(values.AtMost, math.MaxInt64)))
	case "sum":
		most = printable.Compact(float64(values.AtMost))
	}
	f.Line(true, "(others): only the %d values with most %s have rows; any other has at most %s, and rows with + may lack as much", values.Most, values.By, most)
}

// hits returns the numbers of hits, delivered hits and lost hits as text. If calls were only counted, no event could be
// lost, so it returns only the number of hits.
func hits(s stats.Summary) string {
	text := "no probe was hit"
	if s.Hits > 0 {
		text = printable.Plural(s.Hits, "probe hit")
	}
	if s.Seconds > 0 { // 0 for a truncated recording
		text += " in " + printable.Duration(int64(s.Seconds*1e9))
	}
	if s.Hits == 0 && s.NoCallsReason != "" {
		text += ": " + printable.Text(s.NoCallsReason)
	}
	if !s.LatencyMeasured && !s.Streamed || s.Hits == 0 {
		return text
	}
	if s.Clock != "" && s.LatencyMeasured {
		text += fmt.Sprintf(" (clock %s)", printable.Text(s.Clock))
	}
	switch {
	case s.Filtered > 0:
		return text + fmt.Sprintf(", %d dropped by the kernel's filter, %d delivered, %d lost", s.Filtered, s.Delivered, s.Lost)
	case s.Lost == 0:
		return text + ", all delivered"
	}
	return text + fmt.Sprintf(", %d delivered, %d lost (%s)", s.Delivered, s.Lost, printable.Percent(s.Lost, s.Hits))
}

// estimated adds a line about rows with estimated numbers of calls.
func (f *Notes) estimated(rows []stats.Func, s stats.Summary) {
	n, unbounded := 0, false
	for _, row := range rows {
		if row.Estimate != nil && row.Number() >= 0.5 {
			n++
			unbounded = unbounded || !row.Estimate.Bounded()
		}
	}
	least := ""
	if unbounded {
		least = ", with ≥ the least"
	}
	f.Line(n > 0, "≈ %s watched for part of the time, to keep the budget of %s: calls and totals are estimates of all of it%s (bounds in -o json), latencies are of TIMED calls",
		printable.Plural(n, "row"), printable.Share(s.Budget), least)
}

// maxNamed is the largest number of functions in a line or a list of the footer.
const maxNamed = 5

// limits adds a list of the functions that were skipped or whose row has a note.
func (f *Notes) limits(rows []stats.Func, skipped []stats.Skipped) {
	all := slices.Clone(skipped)
	named := make(map[string]bool)
	for _, s := range skipped {
		named[s.Function] = true
	}
	for _, row := range rows {
		if row.Note != "" && !named[row.Name] {
			all = append(all, stats.Skipped{Function: row.Name, Reason: row.Note})
			named[row.Name] = true
		}
	}
	f.Line(len(all) > 0, "%s skipped or limited:", printable.Plural(len(all), "function"))
	for _, l := range all[:min(len(all), maxNamed)] {
		f.Line(true, "  %s: %s", printable.Text(l.Function), printable.Text(l.Reason))
	}
	f.Line(len(all) > maxNamed, "  and %d more, see -o json", len(all)-maxNamed)
}

// latencyMark returns the mark of the first latency of a row, or "". If several marks apply, a lost call is more important
// than latencies with the cost of probes, and these are more important than a large correction.
func latencyMark(row stats.Func) string {
	switch {
	case row.Lost > 0:
		return "~"
	case row.Raw():
		return "<"
	case approximate(row):
		return "≈"
	}
	return ""
}

// approximate reports whether the cost of probes is larger than a corrected statistic, other than the minimum. If latencies
// are not corrected, it returns false.
func approximate(row stats.Func) bool {
	return row.Bounds != nil && !row.Raw() && slices.ContainsFunc(stats.Statistics[:], func(s stats.Statistic) bool {
		net := s.Of(row.Latency)
		return s.Name != "min" && s.Of(&row.Bounds.Raw)-net > net
	})
}

// latencyNotes adds lines about the correction of latencies. If asSeen is true, none is corrected.
func (f *Notes) latencyNotes(rows []stats.Func, asSeen bool) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(row stats.Func) bool { return asSeen || row.Bounds == nil })
	f.Line(asSeen, "latencies include the cost of probes in nested calls")
	f.Line(slices.ContainsFunc(rows, func(row stats.Func) bool { return !row.Raw() }), "latencies are net of the cost of probes (-o json has bounds)")
	f.Line(slices.ContainsFunc(rows, approximate), "≈ before P50: more was taken off than is left")
	f.Line(slices.ContainsFunc(rows, func(row stats.Func) bool { return row.Raw() }), "< before P50: as measured; the cost of probes may be most of it")
}

// cost adds lines on the cost of probes and of ftgo.
func (f *Notes) cost(s *stats.Summary) {
	if p := s.Probing; p != nil && p.NS > 0 {
		text := fmt.Sprintf("probes took about %s of the program's time", nanoseconds(p.NS))
		if p.CPU > 0 {
			text = fmt.Sprintf("probes took about %s of the program's CPU time, %s of %s", printable.Share(p.Share(p.NS)), nanoseconds(p.NS), nanoseconds(p.CPU))
		}
		if s.Budget > 0 && p.Beyond(s.Budget, s.Seconds) {
			text += fmt.Sprintf(", more than the budget of %s: a longer run makes up for that", printable.Share(s.Budget))
		}
		f.Line(true, "%s", text)
		var most []string
		for _, f := range p.Functions[:min(len(p.Functions), maxNamed)] {
			most = append(most, printable.Text(f.Function)+" "+printable.Share(f.Share))
		}
		f.Line(most != nil, "  those of %s", strings.Join(most, ", "))
		f.Line(p.Others > 0, "other processes of the file are probed, too: it took about %s of their time", nanoseconds(p.Others))
	}
	f.Line(s.OwnCPU > 0 && s.Hits > 0, "ftgo itself took %s of CPU time, %s of one CPU", printable.Duration(s.OwnCPU.Nanoseconds()), printable.Share(s.OwnShare()))
}

func nanoseconds(ns float64) string { return printable.Duration(int64(math.Round(ns))) }

// SummaryJSON writes the summary of a run, the last line of JSON, or the summary of an interval. Other formats have a
// [Footer] instead.
func SummaryJSON(w io.Writer, s stats.Summary, interval *Interval) error {
	summary := Row{
		{"type", "summary"}, {"hits", s.Hits}, {"delivered", s.Delivered}, {"lost", s.Lost},
		{"filtered", Nonzero(s.Filtered)}, {"before", Nonzero(s.Before)}, {"after", Nonzero(s.After)},
		{"pass_ns", Nonzero(s.Pass.Nanoseconds())}, {"vanished", ValueIf(len(s.Vanished) > 0, s.Vanished)},
		{"counted", Nonzero(s.Counted)},
		{"budget", ValueIf(s.Budget > 0, Row{{"percent", 100 * s.Budget}})},
		{"unparsed", s.Unparsed}, {"probes", s.Probes}, {"functions", s.Functions},
		{"skipped", append([]stats.Skipped{}, s.Skipped...)}, // [] instead of null
		{"host", Nonzero(s.Host)}, {"began", ValueIf(!s.Began.IsZero(), &s.Began)}, {"seconds", Nonzero(s.Seconds)}, {"own_cpu_ns", Nonzero(s.OwnCPU.Nanoseconds())}, {"own_share", Nonzero(s.OwnShare())},
	}
	if k := s.Values; k != nil {
		summary.add("values", Row{{"kept_by", k.By}, {"rows", k.Most}, {"fell_out", k.Evicted}, {"missed_at_most", k.AtMost}})
	}
	if k := s.Kernel; k != nil { // kernel events are not hits
		summary.add("events", Row{{"delivered", k.Delivered}, {"lost", k.Lost}, {"unparsed", k.Unparsed}})
	}
	if s.Pairs != nil {
		summary.add("pairs", s.Pairs)
	}
	if p := s.Probing; p != nil {
		round := func(ns float64) int64 { return int64(math.Round(ns)) }
		summary.add("probing", Row{
			{"ns", round(p.NS)}, {"ns_low", round(p.Low)}, {"ns_high", round(p.High)},
			{"cpu_ns", Nonzero(round(p.CPU))}, {"share", Nonzero(p.Share(p.NS))},
			{"functions", ValueIf(len(p.Functions) > 0, p.Functions)}, {"others_ns", Nonzero(round(p.Others))},
			{"emulated_hit_ns", round(p.Emulated)}, {"stepped_hit_ns", round(p.Stepped)},
			{"faults", Nonzero(p.Faults)}, {"fault_ns", ValueIf(p.Faults > 0, round(p.Fault))},
			{"changes", Nonzero(p.Changes)}, {"change_ns", ValueIf(p.Changes > 0, round(p.Change))},
		})
	}
	return write(w, append(summary, interval.members()...).append(nil, JSON))
}
