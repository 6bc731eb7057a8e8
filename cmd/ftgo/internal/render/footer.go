package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/units"
)

// toldPass is how long a pass over the kernel's counters may take without being told.
const toldPass = time.Millisecond

// maxLimits is how many functions the footer names as skipped or limited.
const maxLimits = 5

// Footer writes, in a few lines meant for stderr, how far the rows of a whole run
// can be trusted: hits and losses, calls without a latency, functions not fully
// probed, and what the probes cost.
func Footer(w io.Writer, rows []stats.Row, s stats.Summary) error {
	var text bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }

	line("%s", hits(s))
	if s.Before+s.After > 0 {
		line("not counted: %s while probes were put into place, %d while they were removed", units.Plural(s.Before, "hit"), s.After)
	}
	if s.Pass > toldPass {
		line("the kernel's counters were read within %s: calls of two functions may be of moments so far apart", units.Duration(s.Pass.Nanoseconds()))
	}
	var calls, completed, unwound, open, unfinished, unsure uint64
	for _, row := range rows {
		unsure += row.Unsure
		calls, completed = calls+row.Calls, completed+row.Completed
		unwound, open, unfinished = unwound+row.Unwound, open+row.Open, unfinished+row.Unfinished
	}
	if unfinished > 0 {
		line("unfinished: %s left by panic or Goexit, or still open, which the kernel does not tell apart", units.Plural(unfinished, "call"))
	}
	if s.LatencyMeasured {
		switch {
		case s.Bucketed && s.Lost > 0:
			line("~ the kernel's table of open calls was full: call counts are exact, latencies are those of the calls that it could hold")
		case unsure > 0:
			line("~ up to %d of %s may be none, as hits at stack checks were lost; latencies come from %d", unsure, units.Plural(calls, "call"), completed)
		case s.Lost > 0:
			line("~ call counts are exact; latencies come from %d of %s", completed, units.Plural(calls, "call"))
		}
		var ends []string
		if unwound > 0 {
			ends = append(ends, fmt.Sprintf("%d left by panic or Goexit", unwound))
		}
		if open > 0 {
			ends = append(ends, fmt.Sprintf("%d still open at the end", open))
		}
		if len(ends) > 0 {
			line("calls without a latency: %s", strings.Join(ends, ", "))
		}
	}
	if lost := s.Lost; s.Streamed && !s.LatencyMeasured && lost > 0 {
		line("~ up to %s missing", are(lost, "call"))
	}
	leftToCounting(line, rows, s)
	writeLimits(line, limits(rows, s.Skipped))
	switch {
	case s.Bucketed:
		line("kept in the kernel: counts and means are exact, percentiles are powers of two that they do not exceed; latencies include what the probes cost")
	case s.AsSeen:
		line("latencies are as they were seen: what the probes of nested calls cost is part of them")
	default:
		howNet(line, rows)
	}
	whatProbesCost(line, s)
	if s.Unparsed > 0 {
		line("%s not understood", units.Plural(s.Unparsed, "trace line"))
	}
	if k := s.Kernel; k != nil && len(k.Names) > 0 {
		line("%s", kernelEvents(k))
	}
	if _, err := w.Write(text.Bytes()); err != nil {
		return fmt.Errorf("write footer: %w", err)
	}
	return nil
}

// are is so many things, with their verb.
func are(n uint64, thing string) string {
	if n == 1 {
		return units.Plural(n, thing) + " is"
	}
	return units.Plural(n, thing) + " are"
}

// hits tells how often the probes were hit and what became of it. Counting alone
// streams no events, so that there is nothing to deliver or lose.
func hits(s stats.Summary) string {
	var b strings.Builder
	if s.Hits == 0 {
		b.WriteString("no probe was hit")
	} else {
		b.WriteString(units.Plural(s.Hits, "probe hit"))
	}
	fmt.Fprintf(&b, " in %s", units.Duration(int64(s.Seconds*1e9)))
	if !s.LatencyMeasured && !s.Streamed || s.Hits == 0 {
		return b.String()
	}
	if s.Clock != "" && s.LatencyMeasured {
		fmt.Fprintf(&b, " (clock %s)", printable.Text(s.Clock))
	}
	switch lost := s.Lost; {
	case s.Filtered > 0:
		fmt.Fprintf(&b, ", %d dropped by the kernel's filter, %d delivered, %d lost", s.Filtered, s.Delivered, lost)
	case lost == 0:
		b.WriteString(", all delivered")
	default:
		fmt.Fprintf(&b, ", %d delivered, %d lost (%s)", s.Delivered, lost, units.Percent(lost, s.Hits))
	}
	return b.String()
}

// kernelEvents tells what became of the events of --with.
func kernelEvents(k *stats.KernelEvents) string {
	text := units.Plural(k.Delivered, "kernel event")
	if k.Lost > 0 {
		text += fmt.Sprintf(", at most %d lost: their counts are too low", k.Lost)
	}
	if k.Unparsed > 0 {
		text += fmt.Sprintf(", %d not understood", k.Unparsed)
	}
	return text
}

// limits returns the skipped functions and those whose row has a note, each
// function once.
func limits(rows []stats.Row, skipped []stats.Skipped) []stats.Skipped {
	all := append([]stats.Skipped{}, skipped...)
	named := map[string]bool{}
	for _, s := range skipped {
		named[s.Function] = true
	}
	for _, row := range rows {
		if row.Note != "" && !named[row.Name] {
			all = append(all, stats.Skipped{Function: row.Name, Reason: row.Note})
		}
	}
	return all
}

// writeLimits names the first functions that were skipped or limited.
func writeLimits(line func(format string, args ...any), limited []stats.Skipped) {
	if len(limited) == 0 {
		return
	}
	line("%s skipped or limited:", units.Plural(uint64(len(limited)), "function"))
	for _, f := range limited[:min(len(limited), maxLimits)] {
		line("  %s: %s", printable.Text(f.Function), printable.Text(f.Reason))
	}
	if more := len(limited) - maxLimits; more > 0 {
		line("  and %d more, see -o json", more)
	}
}
