package render

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// longPass is a limit: the footer mentions a pass over the kernel's counters that took longer.
const longPass = time.Millisecond

// Notes are the conditional lines of a footer.
type Notes struct{ text bytes.Buffer }

// Line adds a line if cond is true.
func (f *Notes) Line(cond bool, format string, args ...any) {
	if cond {
		fmt.Fprintf(&f.text, format+"\n", args...)
	}
}

// Write writes the lines with one call of Write.
func (f *Notes) Write(w io.Writer) error { return write(w, "footer", f.text.Bytes()) }

// Footer writes the lines after a table, which say how complete and exact it is: hits and lost hits, calls without a
// latency, functions that were not fully probed, and the cost of probes.
func Footer(w io.Writer, rows []stats.Func, s stats.Summary) error {
	var f Notes
	brief := s.Budget > 0 // runs with a budget are common, so their footer has fewer lines
	ends := withoutLatency(rows, s)
	if brief && ends != "" {
		f.Line(true, "%s; %s", hits(s), ends)
	} else {
		f.Line(true, "%s", hits(s))
	}
	f.Line(s.Hits > 0 && s.NoCallsReason != "", "no call is shown: %s", printable.Text(s.NoCallsReason))
	f.Line(!brief && s.Before+s.After > 0, "not counted: %s while probes were put into place, %d while they were removed",
		printable.Plural(s.Before, "hit"), s.After)
	f.Line(!brief && s.Pass > longPass, "reading the kernel's counters took %s: the counts of two functions may be from moments this far apart",
		printable.Duration(s.Pass.Nanoseconds()))
	f.countNotes(rows, s)
	f.Line(!brief && ends != "", "calls without a latency: %s", ends)
	f.valueNotes(rows, s.Values)
	f.estimated(rows, s)
	f.limits(rows, s.Skipped)
	if s.RawLatencies {
		f.Line(true, "latencies include the cost of probes in nested calls")
	} else {
		f.netNotes(rows)
	}
	if s.Probing != nil && brief && s.Probing.CPU > 0 {
		f.briefCost(&s)
	} else if s.Probing != nil {
		f.probeCost(s.Probing)
	}
	f.Line(s.OwnCPU > 0 && s.Hits > 0 && !(brief && s.Probing != nil), "ftgo itself took %s of CPU time, %s of one CPU", printable.Duration(s.OwnCPU.Nanoseconds()), printable.Share(s.OwnShare()))
	f.Line(s.Unparsed > 0, "%s not understood", printable.Plural(s.Unparsed, "trace line"))
	if k := s.Kernel; k != nil && len(k.Names) > 0 {
		f.Line(true, "%s%s%s", printable.Plural(k.Delivered, "kernel event"),
			some(k.Lost, ", at most %d lost: their counts are too low"), some(k.Unparsed, ", %d not understood"))
	}
	return f.Write(w)
}

// some formats n, or returns "" for 0.
func some(n uint64, format string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, n)
}

// countNotes adds a line about calls that are missing or may not have happened.
func (f *Notes) countNotes(rows []stats.Func, s stats.Summary) {
	sum := sum(rows)
	calls := printable.Plural(sum.Calls, "call")
	switch measured := s.LatencyMeasured; {
	case measured && sum.Unsure > 0:
		f.Line(true, "~ up to %d of %s may be none, as hits at stack checks were lost; latencies come from %d",
			sum.Unsure, calls, sum.Completed)
	case measured && s.Lost > 0:
		f.Line(true, "~ call counts are exact; latencies come from %d of %s", sum.Completed, calls)
	case sum.Unsure > 0:
		f.Line(true, "~ up to %d of %s may be none, as hits at stack checks were lost", sum.Unsure, calls)
	case s.Streamed && s.Lost == 1 && !measured:
		f.Line(true, "~ up to 1 call is missing")
	case s.Streamed && s.Lost > 0 && !measured:
		f.Line(true, "~ up to %d calls are missing", s.Lost)
	}
}

// withoutLatency returns the numbers of calls without a latency as text, "" if there are none or latencies are not
// measured.
func withoutLatency(rows []stats.Func, s stats.Summary) string {
	sum := sum(rows)
	if !s.LatencyMeasured {
		return ""
	}
	ends := []string{some(sum.Unwound, "%d left by panic or Goexit"), some(sum.Open, "%d still open at the end")}
	return strings.Join(slices.DeleteFunc(ends, func(text string) bool { return text == "" }), ", ")
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

// Marks of the first latency of a row.
const (
	lostMark   = "~" // some calls of the row were lost
	approxMark = "≈" // the correction for the cost of probes is larger than a corrected latency
	rawMark    = "<" // latencies include the cost of probes
)

// latencyMark returns the mark of a row, or "". If several marks apply, a lost call is more important than raw latencies,
// and these are more important than a large correction.
func latencyMark(row stats.Func) string {
	switch {
	case row.Lost > 0:
		return lostMark
	case row.Raw():
		return rawMark
	case approximate(row):
		return approxMark
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

// netNotes adds a line about the correction of latencies.
func (f *Notes) netNotes(rows []stats.Func) {
	var net, approx, raw bool
	for _, row := range rows {
		if row.Bounds == nil {
			continue
		}
		raw = raw || row.Raw()
		net = net || !row.Raw()
		approx = approx || approximate(row)
	}
	text := ""
	if net {
		text = "latencies are net of the cost of probes (-o json has bounds)"
	}
	for _, m := range []struct {
		found         bool
		mark, meaning string
	}{{approx, approxMark, "more was taken off than is left"}, {raw, rawMark, "as measured; the cost of probes may be most of it"}} {
		if m.found && text != "" {
			text += "; "
		}
		if m.found {
			text += m.mark + " before P50: " + m.meaning
		}
	}
	f.Line(text != "", "%s", text)
}

// briefCost adds a single line on the cost of probes and of ftgo, for runs with a budget.
func (f *Notes) briefCost(s *stats.Summary) {
	p := s.Probing
	text := fmt.Sprintf("probes took about %s of the program's CPU time, %s of %s", printable.Share(p.Share(p.NS)), nanoseconds(p.NS), nanoseconds(p.CPU))
	if p.Beyond(s.Budget, s.Seconds) {
		text += fmt.Sprintf(", more than the budget of %s: a longer run makes up for that", printable.Share(s.Budget))
	}
	if s.OwnCPU > 0 {
		text += fmt.Sprintf("; ftgo itself took %s of one CPU", printable.Share(s.OwnShare()))
	}
	f.Line(true, "%s", text)
}

// probeCost adds lines on the cost of probes.
func (f *Notes) probeCost(p *stats.Probing) {
	perHit := fmt.Sprintf("each hit %s, or %s where the kernel single-steps", nanoseconds(p.Emulated), nanoseconds(p.Stepped))
	switch {
	case p.NS == 0:
		f.Line(true, "probes cost the program, here, %s", perHit)
		return
	case p.CPU == 0:
		f.Line(true, "probes took about %s of the program's time (%s)", nanoseconds(p.NS), perHit)
	default:
		f.Line(true, "probes took about %s of the program's CPU time, %s of %s (%s)",
			printable.Share(p.Share(p.NS)), nanoseconds(p.NS), nanoseconds(p.CPU), perHit)
	}
	var most []string
	for _, f := range p.Functions[:min(len(p.Functions), maxNamed)] {
		most = append(most, printable.Text(f.Function)+" "+printable.Share(f.Share))
	}
	if more := len(p.Functions) - maxNamed; more > 0 {
		most = append(most, fmt.Sprintf("%d more", more))
	}
	f.Line(most != nil, "  those of %s", strings.Join(most, ", "))
	faults := float64(p.Faults) * p.Fault
	f.Line(faults > p.NS/10, "  %s of it for page faults, as %s words of values were behind nil pointers", nanoseconds(faults), printable.Compact(float64(p.Faults)))
	changes := float64(p.Changes) * p.Change
	f.Line(changes > p.NS/10, "  %s of it for placing and removing probes, %s times", nanoseconds(changes), printable.Compact(float64(p.Changes)))
	f.Line(p.Others > 0, "other processes of the file are probed, too: it took about %s of their time", nanoseconds(p.Others))
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
		summary = append(summary, Row{{"values", Row{{"kept_by", k.By}, {"rows", k.Most}, {"fell_out", k.Evicted}, {"missed_at_most", k.AtMost}}}}...)
	}
	if k := s.Kernel; k != nil { // kernel events are not hits
		events := Row{{"delivered", k.Delivered}, {"lost", k.Lost}, {"unparsed", k.Unparsed}}
		summary = append(summary, Row{{"events", events}}...)
	}
	if p := s.Probing; p != nil {
		round := func(ns float64) int64 { return int64(math.Round(ns)) }
		summary = append(summary, Row{{"probing", Row{
			{"ns", round(p.NS)}, {"ns_low", round(p.Low)}, {"ns_high", round(p.High)},
			{"cpu_ns", Nonzero(round(p.CPU))}, {"share", Nonzero(p.Share(p.NS))},
			{"functions", ValueIf(len(p.Functions) > 0, p.Functions)}, {"others_ns", Nonzero(round(p.Others))},
			{"emulated_hit_ns", round(p.Emulated)}, {"stepped_hit_ns", round(p.Stepped)},
			{"faults", Nonzero(p.Faults)}, {"fault_ns", ValueIf(p.Faults > 0, round(p.Fault))},
			{"changes", Nonzero(p.Changes)}, {"change_ns", ValueIf(p.Changes > 0, round(p.Change))},
		}}}...)
	}
	return write(w, "json", append(summary, interval.members()...).append(nil, JSON))
}
