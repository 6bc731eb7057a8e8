// Package results reads what -o json has written of runs, and adds runs up: those of many machines, or
// of one at several times.
package results

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/stats"
)

// Run is one, of probe or count.
type Run struct {
	File string // where it is from
	stats.Summary
	Rows []Row
}

// Row is what a run has of a function. Without Latency that was not measured.
type Row struct {
	stats.Function
	Events map[string]uint64 // kernel events, by name
}

// Of is a run whose rows are known, with the names of the kernel events that they have counted.
func Of(file string, rows []stats.Row, s stats.Summary, events []string) *Run {
	r := &Run{File: file, Summary: s}
	for _, row := range rows {
		one := Row{Function: row.Function, Events: make(map[string]uint64)}
		one.Host, one.Latency = s.Host, cmp.Or(row.Net, row.Latency)
		for i, n := range row.Events {
			one.Events[events[i]] = n
		}
		r.Rows = append(r.Rows, one)
	}
	return r
}

// IsJSON tells whether a file that begins so may be one that Read takes.
func IsJSON(begin []byte) bool {
	begin = bytes.TrimLeft(begin, " \t\r\n")
	return len(begin) > 0 && begin[0] == '{'
}

// maxLine is how long a line may be. Those of ftgo are long only where very many functions were skipped.
const maxLine = 64 << 20

// Read reads the runs of a file, each of which ends with its summary. An error names the file and the line.
func Read(from io.Reader, file string) (runs []*Run, err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxLine)
	n, run := 0, &Run{File: file}
	fail := func(err error) error { return fmt.Errorf("read %s:%d: %w", file, n, err) }
	for lines.Scan() {
		n++
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		ended, err := run.take(text)
		if err != nil {
			return nil, fail(err)
		}
		if ended {
			runs = append(runs, run)
			run = &Run{File: file}
		}
	}
	if n++; lines.Err() != nil {
		return nil, fail(lines.Err())
	}
	n--
	switch {
	case len(run.Rows) > 0:
		return nil, fail(errors.New("it ends here, without a summary: it was cut off, or its ftgo killed"))
	case len(runs) == 0:
		return nil, fail(errors.New("no run is in it: rows of the whole run and a summary, as probe and count -o json write them"))
	}
	return runs, nil
}

// take takes a line, and tells whether it was the run's last.
func (r *Run) take(text []byte) (last bool, err error) {
	var kind struct{ Type string }
	if !bytes.HasPrefix(text, []byte(`{"type":"function",`)) {
		if err := decode(text, &kind); err != nil {
			return false, err
		}
	} else {
		kind.Type = "function"
	}
	switch kind.Type {
	case "function":
		return false, r.function(text)
	case "summary":
		return r.summary(text)
	case "stack": // rows of functions have these calls, too
		return false, nil
	case "":
		return false, fmt.Errorf("no line of ftgo: %s", quote(text))
	}
	return false, fmt.Errorf("of type %.20q: only what probe and count write can be added up", kind.Type)
}

func decode(text []byte, to any) error {
	err := json.Unmarshal(text, to)
	if _, syntax := errors.AsType[*json.SyntaxError](err); syntax {
		if IsJSON(text) {
			return fmt.Errorf("the line is cut, or no JSON: it ends with %s", quote(text[max(len(text)-quoted, 0):]))
		}
		return fmt.Errorf("no line of ftgo: %s", quote(text))
	} else if err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	return nil
}

const quoted = 40

func quote(text []byte) string {
	if len(text) > quoted {
		return fmt.Sprintf("%q…", text[:quoted])
	}
	return fmt.Sprintf("%q", text)
}

// most is what no number of calls may exceed, so that those of a thousand runs add up.
const most = 1 << 53

// possible tells whether a number can be one of calls, or a rate.
func possible(x float64) bool { return x >= 0 && x <= most }

// function takes a row, unless it is of an interval.
func (r *Run) function(text []byte) error {
	var f functionLine
	if err := decode(text, &f); err != nil {
		return err
	}
	calls := max(f.Calls, f.Completed, f.Unwound, f.Open, f.Lost, f.Unsure, f.CountedOnly, f.CutShort, f.Low)
	switch {
	case f.Interval != nil:
		return nil
	case f.Function == "":
		return errors.New("a function without a name")
	case f.Value != nil || f.Rest != nil:
		return errors.New("made with --by: rows of values can't be added up")
	case f.SumOf != nil:
		return errors.New("made with --sum: rows with sums can't be added up")
	case f.NS != nil && f.Buckets == nil:
		return errors.New("latencies without buckets: it was written by an older ftgo, or changed")
	case calls > most:
		return fmt.Errorf("%d calls are more than there can be", calls)
	case f.Seen != nil && (*f.Seen > most || f.High != nil && !possible(*f.High) || f.Low > f.Calls || f.High != nil && *f.High < float64(f.Calls)):
		return fmt.Errorf("%d calls, %d at least", f.Calls, f.Low)
	}
	for name, n := range f.Events {
		if n > most {
			return fmt.Errorf("%d of %.60q are more than there can be", n, name)
		}
	}
	row := Row{Function: stats.Function{
		Name: f.Function, Host: f.Host, Calls: f.Calls, Completed: f.Completed, Unwound: f.Unwound, Open: f.Open, Lost: f.Lost, CountedOnly: f.CountedOnly,
		Unsure: f.Unsure, CutShort: f.CutShort,
	}, Events: f.Events}
	if f.Errors != nil {
		row.Errors, row.ReturnsErrors = *f.Errors, true
	}
	if row.Errors > row.Completed {
		return fmt.Errorf("%d errors of %d calls", row.Errors, row.Completed)
	}
	if f.Seen != nil {
		row.Whole = &stats.Whole{Calls: float64(f.Calls), Low: float64(f.Low), High: *cmp.Or(f.High, new(math.Inf(1)))}
		row.Calls = *f.Seen
	}
	if s := f.Sched; s != nil {
		least := min(s.Running, s.Runnable, s.Waiting)
		for _, ns := range s.Waits {
			least = min(least, ns)
		}
		if least < 0 {
			return fmt.Errorf("sched: %d ns", least)
		}
		row.Split, row.Waits = stats.Split{Running: s.Running, Runnable: s.Runnable, Waiting: s.Waiting}, s.Waits
	}
	if f.Buckets != nil {
		if err := row.latencies(f.Buckets); err != nil {
			return fmt.Errorf("%.60q: %w", f.Function, err)
		}
	}
	r.Rows = append(r.Rows, row)
	return nil
}

// latencies takes buckets.
func (r *Row) latencies(b *buckets) (err error) {
	if b.NS == nil || (b.Raw == nil) != (b.Low == nil) || (b.Raw == nil) != (b.High == nil) {
		return errors.New("buckets: some are missing")
	}
	if !(b.Waited >= 0 && b.Waited <= 1) {
		return fmt.Errorf("buckets: %v of the time waited", b.Waited)
	}
	of := func(name string, h *histogram) *stats.Histogram {
		if h == nil || err != nil {
			return nil
		}
		made, wrong := stats.NewFine(h.Counts, stats.Totals{Min: h.Min, Max: h.Max, Sum: h.Sum})
		if wrong == nil && made.Count() > r.Completed {
			wrong = fmt.Errorf("of %d calls, where %d returned", made.Count(), r.Completed)
		}
		if wrong != nil {
			err = fmt.Errorf("buckets, %s: %w", name, wrong)
		}
		return made
	}
	net, low, high, raw := of("ns", b.NS), of("low", b.Low), of("high", b.High), of("raw", b.Raw)
	if err != nil {
		return err
	}
	if r.Latency, r.Self = net, b.Self; raw != nil {
		r.Bounds = &stats.Bounds{Raw: *raw, Low: *low, High: *high, Waiting: b.Waited}
	}
	return nil
}

// summary takes what ends a run, unless it is of an interval.
func (r *Run) summary(text []byte) (last bool, err error) {
	var s summaryLine
	if err := decode(text, &s); err != nil || s.Interval != nil {
		return false, err
	}
	switch h := s.hits; {
	case s.Seconds == nil || s.Began.IsZero():
		return false, errors.New("a summary that does not tell when the run was: it is of a recording that was cut off, or of an older ftgo, or changed")
	case !(*s.Seconds >= shortest && *s.Seconds <= longest):
		return false, fmt.Errorf("a run of %v seconds", *s.Seconds)
	case max(h.Hits, h.Delivered, h.Lost, h.Filtered, h.Counted, h.Before, h.After, h.Unparsed) > most:
		return false, errors.New("more hits than there can be")
	case min(s.Own, s.Pass) < 0 || s.Own > mostTime || s.Probing != nil && !s.Probing.possible():
		return false, errors.New("other CPU time than there can be")
	case !possible(s.Budget.Percent):
		return false, fmt.Errorf("a budget of %v%%", s.Budget.Percent)
	case s.Probes < 0 || s.Funcs < 0 || max(s.Probes, s.Funcs) > 1e9:
		return false, errors.New("more probes than there can be")
	}
	timed := slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Latency != nil })
	r.Summary = stats.Summary{
		Hits: s.Hits, Delivered: s.Delivered, Lost: s.Lost, Filtered: s.Filtered, Counted: s.Counted, Before: s.Before, After: s.After, Unparsed: s.Unparsed,
		Host: s.Host, Began: s.Began, Seconds: *s.Seconds, Probes: s.Probes, Functions: s.Funcs, Skipped: s.Skipped,
		Budget: s.Budget.Percent / 100, Vanished: s.Vanished, Own: time.Duration(s.Own), Pass: time.Duration(s.Pass),
		LatencyMeasured: timed, Streamed: timed || s.Counted < s.Hits,
	}
	if p := s.Probing; p != nil {
		r.Probing = &stats.Probing{NS: p.NS, Low: p.Low, High: p.High, CPU: p.CPU, Others: p.Others, Emulated: p.Emulated, Stepped: p.Stepped}
		r.Probing.Fit() // an older ftgo did not
	}
	if e := s.Events; e != nil {
		r.Kernel = &stats.KernelEvents{Delivered: e.Delivered, Lost: e.Lost, Unparsed: e.Unparsed}
	}
	r.done()
	return true, nil
}

// done completes the rows of a run by its summary.
func (r *Run) done() {
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Host == "" {
			row.Host = r.Host
		}
	}
}
