package render

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
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
		if o.Latency {
			header = append(header, "min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns", "sum_ns")
		}
		if o.Errors {
			header = append(header, "errors")
		}
		records = append(records, header)
	}
	for _, row := range rows {
		record := []string{textCell(row.Name)}
		for _, n := range [...]uint64{row.Calls, row.Completed, row.Unwound, row.Open, row.Lost} {
			record = append(record, strconv.FormatUint(n, 10))
		}
		record = append(record, strconv.FormatFloat(row.Rate, 'f', 3, 64))
		if o.Latency {
			record = append(record, latencyCells(row.Latency)...)
		}
		if o.Errors {
			cell := ""
			if row.ReturnsErrors {
				cell = strconv.FormatUint(row.Errors, 10)
			}
			record = append(record, cell)
		}
		records = append(records, record)
	}
	return records
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
