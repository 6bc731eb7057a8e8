package render

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/stats"
)

// Coarse writes a row for each function whose latencies the kernel has counted. In o only
// Width and NoHeader matter.
func Coarse(w io.Writer, f Format, rows []stats.Coarse, o Options) error {
	switch f {
	case JSON:
		return coarseJSON(w, rows)
	case CSV, TSV:
		return writeRecords(w, f, coarseRecords(rows, o))
	}
	return writeTable(w, o.Width, func(compact bool) grid {
		g := coarseGrid(rows, compact)
		g.bare = o.NoHeader
		return g
	})
}

// quantiles are those that rows show; 1 is the largest.
var quantiles = [...]float64{0.5, 0.9, 0.99, 1}

// coarseGrid has the columns of [Functions], and MEAN, which is exact: percentiles are not
// more than bounds.
func coarseGrid(rows []stats.Coarse, compactCalls bool) grid {
	g := grid{header: []string{"FUNCTION", "CALLS", "RATE/s", "MEAN", "P50", "P90", "P99", "MAX"}}
	unfinished := slices.ContainsFunc(rows, func(r stats.Coarse) bool { return r.Unfinished > 0 })
	lost := slices.ContainsFunc(rows, func(r stats.Coarse) bool { return r.Lost > 0 })
	if unfinished {
		g.header = append(g.header, "UNFINISHED")
	}
	if lost {
		g.header = append(g.header, "LOST")
	}
	for _, row := range rows {
		calls := strconv.FormatUint(row.Calls, 10)
		if compactCalls {
			calls = compact(float64(row.Calls))
		}
		cells := []string{Escape(row.Name), calls, rate(row.Rate)}
		if row.Completed == 0 {
			cells = append(cells, "-", "-", "-", "-", "-")
		} else {
			mark := ""
			if row.Lost > 0 {
				mark = "~"
			}
			cells = append(cells, mark+Duration(row.Mean()))
			for _, q := range quantiles {
				cells = append(cells, mark+atMost(row.AtMost(q)))
			}
		}
		if unfinished {
			cells = append(cells, compact(float64(row.Unfinished)))
		}
		if lost {
			cells = append(cells, compact(float64(row.Lost)))
		}
		g.rows = append(g.rows, cells)
	}
	g.left = make([]bool, len(g.header))
	g.left[0] = true
	return g
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
	return "≤" + Duration(ns)
}

// coarseLine has the keys of [Functions]'s object where they mean the same.
type coarseLine struct {
	Type       string        `json:"type"`
	Function   string        `json:"function"`
	Calls      uint64        `json:"calls"`
	Completed  uint64        `json:"completed"`
	Unfinished uint64        `json:"unfinished"`
	Lost       uint64        `json:"lost"`
	Rate       float64       `json:"rate"`
	NS         *coarseNS     `json:"ns,omitempty"`
	AtMost     *coarseAtMost `json:"ns_at_most,omitempty"`
	Histogram  []bucketLine  `json:"histogram,omitempty"`
}

// coarseNS is exact.
type coarseNS struct {
	Mean int64  `json:"mean"`
	Sum  uint64 `json:"sum"`
}

// coarseAtMost are bounds of the percentiles.
type coarseAtMost struct {
	P50 int64 `json:"p50"`
	P90 int64 `json:"p90"`
	P99 int64 `json:"p99"`
	Max int64 `json:"max"`
}

func coarseJSON(w io.Writer, rows []stats.Coarse) error {
	lines := jsonLines{}
	for _, row := range rows {
		line := coarseLine{
			Type: "function", Function: row.Name, Calls: row.Calls, Completed: row.Completed,
			Unfinished: row.Unfinished, Lost: row.Lost, Rate: row.Rate,
		}
		if row.Completed > 0 {
			line.NS = &coarseNS{Mean: row.Mean(), Sum: row.Sum}
			line.AtMost = &coarseAtMost{P50: row.AtMost(0.5), P90: row.AtMost(0.9), P99: row.AtMost(0.99), Max: row.AtMost(1)}
			for _, b := range row.Buckets() {
				line.Histogram = append(line.Histogram, bucketLine(b))
			}
		}
		lines.add(line)
	}
	return lines.write(w)
}

func coarseRecords(rows []stats.Coarse, o Options) [][]string {
	var records [][]string
	if !o.NoHeader {
		records = append(records, []string{"function", "calls", "completed", "unfinished", "lost", "rate",
			"mean_ns", "p50_ns_at_most", "p90_ns_at_most", "p99_ns_at_most", "max_ns_at_most", "sum_ns"})
	}
	for _, row := range rows {
		record := []string{textCell(row.Name)}
		for _, n := range [...]uint64{row.Calls, row.Completed, row.Unfinished, row.Lost} {
			record = append(record, strconv.FormatUint(n, 10))
		}
		record = append(record, strconv.FormatFloat(row.Rate, 'f', 3, 64))
		if row.Completed == 0 {
			record = append(record, "", "", "", "", "", "")
		} else {
			record = append(record, strconv.FormatInt(row.Mean(), 10))
			for _, q := range quantiles {
				record = append(record, strconv.FormatInt(row.AtMost(q), 10))
			}
			record = append(record, strconv.FormatUint(row.Sum, 10))
		}
		records = append(records, record)
	}
	return records
}

// CoarseHistograms writes the latency distribution of each function that completed a call,
// as [Histograms] does, but in the kernel's ranges: above 2^(k-1) and at most 2^k ns.
func CoarseHistograms(w io.Writer, rows []stats.Coarse) error {
	var text bytes.Buffer
	for _, row := range rows {
		buckets := row.Buckets()
		if len(buckets) == 0 {
			continue
		}
		fmt.Fprintf(&text, "\nFunction = %s", Escape(row.Name))
		if row.Lost > 0 {
			fmt.Fprintf(&text, " (%d of %d calls, the others' latencies were lost)", row.Completed, row.Calls)
		}
		text.WriteByte('\n')
		writeBuckets(&text, histogramUnits[0].label, 1, buckets)
	}
	if _, err := w.Write(text.Bytes()); err != nil {
		return fmt.Errorf("write histogram: %w", err)
	}
	return nil
}

// CoarseFooter is [Footer] for such rows.
func CoarseFooter(w io.Writer, rows []stats.Coarse, s stats.Summary) error {
	var text strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	line("%s", hits(s))
	var unfinished uint64
	for _, row := range rows {
		unfinished += row.Unfinished
	}
	if unfinished > 0 {
		line("unfinished: %s left by panic or Goexit, or still open, which the kernel does not tell apart", plural(unfinished, "call"))
	}
	if s.Lost > 0 {
		line("~ the kernel's table of open calls was full: call counts are exact, latencies are those of the calls that it could hold")
	}
	writeLimits(line, s.Skipped)
	line("kept in the kernel: counts and means are exact, percentiles are powers of two that they do not exceed; latencies include what the probes cost")
	if _, err := io.WriteString(w, text.String()); err != nil {
		return fmt.Errorf("write footer: %w", err)
	}
	return nil
}
