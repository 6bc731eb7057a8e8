package render

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/stats"
)

// functionRecords returns the cells of CSV and TSV. A function without completed
// calls has no latency: its cells are empty, not 0.
func functionRecords(rows []stats.Row, o Options) [][]string {
	var records [][]string
	if !o.NoHeader {
		header := []string{"function", "calls", "completed", "unwound", "open", "lost", "rate"}
		if o.Processes {
			header = slices.Insert(header, 1, "pid")
		}
		if o.Latency {
			header = append(header, "min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns", "sum_ns")
		}
		if o.Sched {
			header = append(header, splitHeader...)
		}
		if o.Errors {
			header = append(header, "errors")
		}
		for _, name := range o.Events {
			header = append(header, textCell(name))
		}
		if o.CountFirst {
			header = append(header, "counted_only", "too_often")
		}
		records = append(records, header)
	}
	for _, row := range rows {
		record := []string{textCell(row.Name)}
		if o.Processes {
			record = append(record, strconv.Itoa(row.PID))
		}
		for _, n := range [...]uint64{row.Calls, row.Completed, row.Unwound, row.Open, row.Lost} {
			record = append(record, strconv.FormatUint(n, 10))
		}
		record = append(record, strconv.FormatFloat(row.Rate, 'f', 3, 64))
		if o.Latency {
			record = append(record, latencyCells(row.Latency)...)
		}
		if o.Sched {
			record = append(record, splitRecord(row.Split, row.Completed > 0)...)
		}
		if o.Errors {
			cell := ""
			if row.ReturnsErrors {
				cell = strconv.FormatUint(row.Errors, 10)
			}
			record = append(record, cell)
		}
		record = append(record, eventRecord(row, o.Events)...)
		if o.CountFirst {
			record = append(record, strconv.FormatUint(row.CountedOnly, 10), tooOften(row))
		}
		records = append(records, record)
	}
	return records
}

// tooOften is empty for a function that was not left to counting for its rate.
func tooOften(row stats.Row) string {
	if row.TooOften == 0 {
		return ""
	}
	return strconv.FormatFloat(row.TooOften, 'f', 3, 64)
}

func latencyCells(h *stats.Histogram) []string {
	cells := make([]string, 7)
	if h == nil || h.Count() == 0 {
		return cells
	}
	for i, ns := range [...]int64{h.Min(), h.Mean(), h.Quantile(0.5), h.Quantile(0.9), h.Quantile(0.99), h.Max(), h.Sum()} {
		cells[i] = strconv.FormatInt(ns, 10)
	}
	return cells
}

// textCell escapes a name and keeps spreadsheets from running it: they take a cell
// that begins with = + - or @ for a formula, and one with ' before it for text. (A
// leading tab or carriage return, which they skip, is escaped already.)
func textCell(s string) string {
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + Escape(s)
	}
	return Escape(s)
}

func writeRecords(w io.Writer, f Format, records [][]string) error {
	var text bytes.Buffer
	if f == TSV {
		for _, record := range records {
			text.WriteString(strings.Join(record, "\t") + "\n")
		}
	} else if err := csv.NewWriter(&text).WriteAll(records); err != nil {
		return fmt.Errorf("encode csv: %w", err)
	}
	if _, err := w.Write(text.Bytes()); err != nil {
		return fmt.Errorf("write %s: %w", f, err)
	}
	return nil
}
