package compare

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

	"github.com/ftgo/ftgo/internal/stats"
)

// Run is a run of probe or count, or the sum of several such runs.
type Run struct {
	File string // the file that the run was read from, "" for a sum
	stats.Summary
	Funcs []stats.Func
}

// IsJSON reports whether Read may accept a file that starts with begin.
func IsJSON(begin []byte) bool {
	begin = bytes.TrimLeft(begin, " \t\r\n")
	return len(begin) > 0 && begin[0] == '{'
}

// maxLine is the limit of a line in bytes. Only a summary with very many skipped functions is long.
const maxLine = 64 << 20

// Read reads the runs of a file. Each run ends with its summary. An error names the file and the line.
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
	switch {
	case lines.Err() != nil:
		n++
		return nil, fail(lines.Err())
	case len(run.Funcs) > 0:
		return nil, fail(errors.New("it ends here, without a summary: it was cut off, or its ftgo killed"))
	case len(runs) == 0:
		return nil, fail(errors.New("no run is in it: rows of the whole run and a summary, as probe and count -o json write them"))
	}
	return runs, nil
}

// take reads a line into the run. last is true if it was the run's last line.
func (r *Run) take(text []byte) (last bool, err error) {
	var kind struct{ Type string }
	if err := decode(text, &kind); err != nil {
		return false, err
	}
	switch kind.Type {
	case "function":
		return false, r.function(text)
	case "summary":
		return r.summary(text)
	case "stack": // the rows of functions include these calls
		return false, nil
	}
	return false, fmt.Errorf("a line of type %.20q: only output of probe and count -o json can be added up", kind.Type)
}

func decode(text []byte, to any) error {
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("parse as output of -o json: %w", err)
	}
	return nil
}

// most is the largest number of calls that is accepted. The sum of a thousand runs does not overflow then.
const most = 1 << 53

// Limits of a run in seconds, so that rates are finite.
const longest, shortest = 1e10, 1e-9

// mostTime is the largest CPU time in ns that is accepted. A thousand CPUs use less in ten years.
const mostTime = 1 << 58

func possible(x float64) bool { return x >= 0 && x <= most }

// function reads the line of a function. It ignores lines of intervals.
func (r *Run) function(text []byte) error {
	var line struct {
		stats.Func
		Value, Rest, NS json.RawMessage // only their presence matters
		SumOf           json.RawMessage `json:"sum_of"`
		Interval        *int64
		Errors, Seen    *uint64
		Low             uint64   `json:"calls_low"`
		High            *float64 `json:"calls_high"`
		Sched           struct {
			stats.Split
			Waits stats.Waits
		}
		Buckets struct {
			NS, Low, High, Raw *stats.Histogram
			Waited             float64
			Self               int64
		}
	}
	if err := decode(text, &line); err != nil || line.Interval != nil {
		return err
	}
	f, s, b := &line.Func, &line.Sched, &line.Buckets
	f.Split, f.Waits = s.Split, s.Waits
	if line.Errors != nil {
		f.Errors, f.ReturnsErrors = *line.Errors, true
	}
	largest := max(slices.Max(counts(f)), line.Low, *cmp.Or(line.Seen, new(uint64)))
	shortest := min(s.Running, s.Runnable, s.Waiting)
	for _, ns := range s.Waits {
		shortest = min(shortest, ns)
	}
	switch {
	case f.Name == "":
		return errors.New("a function without a name")
	case line.Value != nil || line.Rest != nil:
		return errors.New("made with --by: rows of values can't be added up")
	case line.SumOf != nil:
		return errors.New("made with --sum: rows with sums can't be added up")
	case line.NS != nil && b.NS == nil:
		return errors.New("latencies without buckets: it was written by an older ftgo, or changed")
	case largest > most:
		return fmt.Errorf("%d calls or events are more than there can be", largest)
	case f.Errors > f.Completed:
		return fmt.Errorf("%d errors of %d calls", f.Errors, f.Completed)
	case shortest < 0:
		return fmt.Errorf("sched: %d ns", shortest)
	}
	if line.Seen != nil {
		calls, high := float64(f.Calls), *cmp.Or(line.High, new(math.Inf(1)))
		if line.High != nil && !possible(high) || float64(line.Low) > calls || high < calls {
			return fmt.Errorf("%d calls, %d at least", f.Calls, line.Low)
		}
		f.Estimate = &stats.Estimate{Calls: calls, Low: float64(line.Low), High: high}
		f.Calls = *line.Seen
	}
	bounded := b.Low != nil || b.High != nil || b.Raw != nil
	for _, h := range []*stats.Histogram{b.NS, b.Low, b.High, b.Raw} {
		if (h != nil || bounded) && (h == nil || h.Count() > f.Completed) {
			return fmt.Errorf("buckets of %.60q: missing, or of more than %d calls", f.Name, f.Completed)
		}
	}
	if !(b.Waited >= 0 && b.Waited <= 1) {
		return fmt.Errorf("buckets of %.60q: %v of the time waited", f.Name, b.Waited)
	}
	if f.Latency, f.Self = b.NS, b.Self; bounded {
		f.Bounds = &stats.Bounds{Raw: *b.Raw, Low: *b.Low, High: *b.High, Waiting: b.Waited}
	}
	r.Funcs = append(r.Funcs, *f)
	return nil
}

// summary reads the line that ends a run; it ignores summaries of intervals.
func (r *Run) summary(text []byte) (last bool, err error) {
	var line struct {
		stats.Summary
		Seconds  *float64
		Interval *int64
		Budget   struct{ Percent float64 }
	}
	if err := decode(text, &line); err != nil || line.Interval != nil {
		return false, err
	}
	s := &line.Summary
	p := cmp.Or(s.Probing, &stats.Probing{})
	costs := []float64{p.NS, p.Low, p.High, p.CPU, p.Others, p.Emulated, p.Stepped, float64(s.OwnCPU)}
	switch {
	case line.Seconds == nil || s.Began.IsZero():
		return false, errors.New("a summary without the time of its run: the recording was cut off, or ftgo was older, or the file was changed")
	case !(*line.Seconds >= shortest && *line.Seconds <= longest):
		return false, fmt.Errorf("a run of %v seconds", *line.Seconds)
	case slices.Max(summaryCounts(s)) > most:
		return false, errors.New("more hits or events than there can be")
	case min(s.OwnCPU, s.Pass) < 0 || slices.Min(costs) < -mostTime || slices.Max(costs) > mostTime:
		return false, errors.New("other CPU time than there can be")
	case !possible(line.Budget.Percent):
		return false, fmt.Errorf("a budget of %v%%", line.Budget.Percent)
	}
	s.Seconds, s.Budget = *line.Seconds, line.Budget.Percent/100
	s.LatencyMeasured = slices.ContainsFunc(r.Funcs, func(f stats.Func) bool { return f.Latency != nil })
	s.Streamed = s.LatencyMeasured || s.Counted < s.Hits
	if s.Probing != nil {
		s.Probing.Fit() // older versions did not
	}
	r.Summary = *s
	return true, nil
}
