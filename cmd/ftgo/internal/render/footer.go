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

// toldPass is how long a pass over the kernel's counters may take without being told.
const toldPass = time.Millisecond

// footer is text that is written line by line.
type footer struct{ bytes.Buffer }

// line writes a line, if it is to be told.
func (f *footer) line(tell bool, format string, args ...any) {
	if tell {
		fmt.Fprintf(f, format+"\n", args...)
	}
}

// Footer writes, in a few lines meant for stderr, how far the rows of a whole run can be trusted:
// hits and losses, calls without a latency, functions not fully probed, and what the probes cost.
func Footer(w io.Writer, rows []stats.Func, s stats.Summary) error {
	var f footer
	brief := s.Budget > 0 // as few lines as there can be, since a terminal shows them below a table again and again
	ends := withoutLatency(rows, s)
	if brief && ends != "" {
		f.line(true, "%s; %s", hits(s), ends)
	} else {
		f.line(true, "%s", hits(s))
	}
	f.line(s.Hits > 0 && s.Unseen != "", "no call is shown: %s", printable.Text(s.Unseen))
	f.line(!brief && s.Before+s.After > 0, "not counted: %s while probes were put into place, %d while they were removed",
		printable.Plural(s.Before, "hit"), s.After)
	f.line(!brief && s.Pass > toldPass, "the kernel's counters were read within %s: calls of two functions may be of moments so far apart",
		printable.Duration(s.Pass.Nanoseconds()))
	f.whatCallsBecame(rows, s)
	f.line(!brief && ends != "", "calls without a latency: %s", ends)
	f.whatRowsMiss(rows, s.Values)
	f.estimated(rows, s)
	f.limits(rows, s.Skipped)
	if s.AsSeen {
		f.line(true, "latencies are as they were seen: what the probes of nested calls cost is part of them")
	} else {
		f.howNet(rows)
	}
	if s.Probing != nil && brief && s.Probing.CPU > 0 {
		f.briefCost(&s)
	} else if s.Probing != nil {
		f.whatProbesCost(s.Probing)
	}
	f.line(s.Own > 0 && s.Hits > 0 && !(brief && s.Probing != nil), "ftgo itself took %s of CPU time, %s of one CPU", printable.Duration(s.Own.Nanoseconds()), printable.Share(s.OwnShare()))
	f.line(s.Unparsed > 0, "%s not understood", printable.Plural(s.Unparsed, "trace line"))
	if k := s.Kernel; k != nil && len(k.Names) > 0 {
		f.line(true, "%s%s%s", printable.Plural(k.Delivered, "kernel event"),
			some(k.Lost, ", at most %d lost: their counts are too low"), some(k.Unparsed, ", %d not understood"))
	}
	return write(w, "footer", f.Bytes())
}

// some is a text about n things, "" about none.
func some(n uint64, format string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, n)
}

// whatCallsBecame tells of those without a latency, and how exact counts are.
func (f *footer) whatCallsBecame(rows []stats.Func, s stats.Summary) {
	sum := sum(rows)
	calls := printable.Plural(sum.Calls, "call")
	switch measured := s.LatencyMeasured; {
	case measured && sum.Unsure > 0:
		f.line(true, "~ up to %d of %s may be none, as hits at stack checks were lost; latencies come from %d",
			sum.Unsure, calls, sum.Completed)
	case measured && s.Lost > 0:
		f.line(true, "~ call counts are exact; latencies come from %d of %s", sum.Completed, calls)
	case sum.Unsure > 0:
		f.line(true, "~ up to %d of %s may be none, as hits at stack checks were lost", sum.Unsure, calls)
	case s.Streamed && s.Lost == 1 && !measured:
		f.line(true, "~ up to 1 call is missing")
	case s.Streamed && s.Lost > 0 && !measured:
		f.line(true, "~ up to %d calls are missing", s.Lost)
	}
}

// withoutLatency tells which calls have none, "" if all have one.
func withoutLatency(rows []stats.Func, s stats.Summary) string {
	sum := sum(rows)
	if !s.LatencyMeasured {
		return ""
	}
	ends := []string{some(sum.Unwound, "%d left by panic or Goexit"), some(sum.Open, "%d still open at the end")}
	return strings.Join(slices.DeleteFunc(ends, func(text string) bool { return text == "" }), ", ")
}

// whatRowsMiss tells of values that have no row, and of calls that have none.
func (f *footer) whatRowsMiss(rows []stats.Func, kept *stats.TopValues) {
	var left uint64
	for _, row := range rows {
		if row.Amounts != nil {
			left += row.Amounts.Left
		}
	}
	f.line(left > 0, "not added up: the value of %s, which could not be read or is negative", printable.Plural(left, "call"))
	if kept == nil || kept.Evicted == 0 {
		return
	}
	most := printable.Plural(kept.AtMost, "call")
	switch kept.By {
	case "time":
		most = printable.Duration(int64(min(kept.AtMost, math.MaxInt64)))
	case "sum":
		most = printable.Compact(float64(kept.AtMost))
	}
	f.line(true, "(others): only the %d values with most %s have rows; any other has at most %s, and rows with + may lack as much", kept.Most, kept.By, most)
}

// hits tells how often the probes were hit and what became of it. Counting alone
// streams no events, so that there is nothing to deliver or lose.
func hits(s stats.Summary) string {
	text := "no probe was hit"
	if s.Hits > 0 {
		text = printable.Plural(s.Hits, "probe hit")
	}
	if s.Seconds > 0 { // a recording that was cut off does not tell
		text += " in " + printable.Duration(int64(s.Seconds*1e9))
	}
	if s.Hits == 0 && s.Unseen != "" {
		text += ": " + printable.Text(s.Unseen)
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

// estimated tells, in one line, of rows whose calls were not all seen.
func (f *footer) estimated(rows []stats.Func, s stats.Summary) {
	n, unbounded := 0, false
	for _, row := range rows {
		if row.Whole != nil && row.Number() >= 0.5 {
			n++
			unbounded = unbounded || !row.Whole.Bounded()
		}
	}
	least := ""
	if unbounded {
		least = ", with ≥ the least"
	}
	f.line(n > 0, "≈ %s watched for part of the time, to keep the budget of %s: calls and totals are estimates of all of it%s (bounds in -o json), latencies are of TIMED calls",
		printable.Plural(n, "row"), printable.Share(s.Budget), least)
}

// maxNamed is how many functions the footer names of a kind.
const maxNamed = 5

// limits names the first functions that were skipped, and those whose row has a note, each
// function once.
func (f *footer) limits(rows []stats.Func, skipped []stats.Skipped) {
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
	f.line(len(all) > 0, "%s skipped or limited:", printable.Plural(len(all), "function"))
	for _, l := range all[:min(len(all), maxNamed)] {
		f.line(true, "  %s: %s", printable.Text(l.Function), printable.Text(l.Reason))
	}
	f.line(len(all) > maxNamed, "  and %d more, see -o json", len(all)-maxNamed)
}

// lostMark, approxMark and rawMark mark the first latency of a row: some calls were lost, more was taken off some latency of it than
// is left, or all of them may be what probes cost.
const (
	lostMark   = "~"
	approxMark = "≈"
	rawMark    = "<"
)

// latencyMark is the mark of a row's latencies, the one that says most.
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

// approximate tells whether what probes cost is most of any statistic that a table shows.
func approximate(row stats.Func) bool {
	return row.Bounds != nil && !row.Raw() && slices.ContainsFunc(stats.Statistics[:], func(s stats.Statistic) bool {
		net := s.Of(row.Latency)
		return s.Name != "min" && s.Of(&row.Bounds.Raw)-net > net
	})
}

// howNet tells, in one line, what was taken off latencies.
func (f *footer) howNet(rows []stats.Func) {
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
		text = "latencies are net of what probes cost, as far as that is known (-o json has bounds)"
	}
	for _, m := range []struct {
		is         bool
		mark, what string
	}{{approx, approxMark, "more was taken off than is left"}, {raw, rawMark, "as seen, with what probes cost, which may be nearly all of it"}} {
		if m.is && text != "" {
			text += "; "
		}
		if m.is {
			text += m.mark + " before P50: " + m.what
		}
	}
	f.line(text != "", "%s", text)
}

// briefCost tells in one line what share of the program's time probes took, beside a budget.
func (f *footer) briefCost(s *stats.Summary) {
	p := s.Probing
	text := fmt.Sprintf("probes took about %s of the program's CPU time, %s of %s", printable.Share(p.Share(p.NS)), nanoseconds(p.NS), nanoseconds(p.CPU))
	if p.Beyond(s.Budget, s.Seconds) {
		text += fmt.Sprintf(", more than the budget of %s: a longer run makes up for that", printable.Share(s.Budget))
	}
	if s.Own > 0 {
		text += fmt.Sprintf("; ftgo itself took %s of one CPU", printable.Share(s.OwnShare()))
	}
	f.line(true, "%s", text)
}

// whatProbesCost tells what share of the program's time probes took.
func (f *footer) whatProbesCost(p *stats.Probing) {
	each := fmt.Sprintf("each hit %s, or %s where the kernel single-steps", nanoseconds(p.Emulated), nanoseconds(p.Stepped))
	switch {
	case p.NS == 0:
		f.line(true, "probes cost the program, here, %s", each)
		return
	case p.CPU == 0:
		f.line(true, "probes took about %s of the program's time (%s)", nanoseconds(p.NS), each)
	default:
		f.line(true, "probes took about %s of the program's CPU time, %s of %s (%s)",
			printable.Share(p.Share(p.NS)), nanoseconds(p.NS), nanoseconds(p.CPU), each)
	}
	var most []string
	for _, f := range p.Functions[:min(len(p.Functions), maxNamed)] {
		most = append(most, printable.Text(f.Function)+" "+printable.Share(f.Share))
	}
	if more := len(p.Functions) - maxNamed; more > 0 {
		most = append(most, fmt.Sprintf("%d more", more))
	}
	f.line(most != nil, "  those of %s", strings.Join(most, ", "))
	faults := float64(p.Faults) * p.Fault
	f.line(faults > p.NS/10, "  %s of it for page faults, as %s words of values were behind nil pointers", nanoseconds(faults), printable.Compact(float64(p.Faults)))
	changes := float64(p.Changes) * p.Change
	f.line(changes > p.NS/10, "  %s of it for placing and removing probes, %s times", nanoseconds(changes), printable.Compact(float64(p.Changes)))
	f.line(p.Others > 0, "other processes of the file are probed, too: it took about %s of their time", nanoseconds(p.Others))
}

func nanoseconds(ns float64) string { return printable.Duration(int64(math.Round(ns))) }

// SummaryJSON writes the object that ends a stream of JSON lines, or an interval of it. The other
// formats have no summary among the data; for them there is [Footer].
func SummaryJSON(w io.Writer, s stats.Summary, of *Interval) error {
	summary := Row{
		{"type", "summary"}, {"hits", s.Hits}, {"delivered", s.Delivered}, {"lost", s.Lost},
		{"filtered", Nonzero(s.Filtered)}, {"before", Nonzero(s.Before)}, {"after", Nonzero(s.After)},
		{"pass_ns", Nonzero(s.Pass.Nanoseconds())}, {"vanished", Known(len(s.Vanished) > 0, s.Vanished)},
		{"counted", Nonzero(s.Counted)},
		{"budget", Known(s.Budget > 0, Row{{"percent", 100 * s.Budget}})},
		{"unparsed", s.Unparsed}, {"probes", s.Probes}, {"functions", s.Functions},
		{"skipped", append([]stats.Skipped{}, s.Skipped...)}, // without elements it is [], not null
		{"host", Nonzero(s.Host)}, {"began", Known(!s.Began.IsZero(), &s.Began)}, {"seconds", Nonzero(s.Seconds)}, {"own_cpu_ns", Nonzero(s.Own.Nanoseconds())}, {"own_share", Nonzero(s.OwnShare())},
	}
	if k := s.Values; k != nil {
		summary = append(summary, Row{{"values", Row{{"kept_by", k.By}, {"rows", k.Most}, {"fell_out", k.Evicted}, {"missed_at_most", k.AtMost}}}}...)
	}
	if k := s.Kernel; k != nil { // they are no part of hits
		events := Row{{"delivered", k.Delivered}, {"lost", k.Lost}, {"unparsed", k.Unparsed}}
		summary = append(summary, Row{{"events", events}}...)
	}
	if p := s.Probing; p != nil {
		round := func(ns float64) int64 { return int64(math.Round(ns)) }
		summary = append(summary, Row{{"probing", Row{
			{"ns", round(p.NS)}, {"ns_low", round(p.Low)}, {"ns_high", round(p.High)},
			{"cpu_ns", Nonzero(round(p.CPU))}, {"share", Nonzero(p.Share(p.NS))},
			{"functions", Known(len(p.Functions) > 0, p.Functions)}, {"others_ns", Nonzero(round(p.Others))},
			{"emulated_hit_ns", round(p.Emulated)}, {"stepped_hit_ns", round(p.Stepped)},
			{"faults", Nonzero(p.Faults)}, {"fault_ns", Known(p.Faults > 0, round(p.Fault))},
			{"changes", Nonzero(p.Changes)}, {"change_ns", Known(p.Changes > 0, round(p.Change))},
		}}}...)
	}
	return write(w, "json", append(summary, of.members()...).append(nil, JSON))
}
