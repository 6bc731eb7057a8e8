package render

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// functionRecords returns the cells of CSV and TSV. A function without completed
// calls has no latency: its cells are empty, not 0.
func functionRecords(rows []stats.Row, o Options) [][]string {
	var records [][]string
	if !o.NoHeader {
		header := []string{"function", "calls", "completed", "unwound", "open", "lost", "rate"}
		if o.Bucketed {
			header = slices.Replace(header, 3, 5, "unfinished")
		}
		if o.Processes {
			header = slices.Insert(header, 1, "pid")
		}
		if o.Latency {
			for _, s := range statistics(o) {
				name := s.Name + "_ns"
				if o.Bucketed && s.Bucketed == stats.AtMost {
					name += "_at_most"
				}
				header = append(header, name)
			}
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
		if o.Latency && !o.Bucketed {
			for _, s := range stats.Statistics {
				header = append(header, s.Name+"_low_ns", s.Name+"_high_ns")
			}
			header = append(header, "raw")
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
		ends := []uint64{row.Unwound, row.Open}
		if o.Bucketed {
			ends = []uint64{row.Unfinished}
		}
		for _, n := range slices.Concat([]uint64{row.Calls, row.Completed}, ends, []uint64{row.Lost}) {
			record = append(record, strconv.FormatUint(n, 10))
		}
		record = append(record, strconv.FormatFloat(row.Rate, 'f', 3, 64))
		if o.Latency {
			record = append(record, latencyCells(row.Latency, statistics(o))...)
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
		if o.Latency && !o.Bucketed {
			record = append(record, boundCells(row)...)
		}
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

// statistics are those that latencies have.
func statistics(o Options) []stats.Statistic {
	return slices.DeleteFunc(slices.Clone(stats.Statistics[:]), func(s stats.Statistic) bool {
		return o.Bucketed && s.Bucketed == stats.Unknown
	})
}

func latencyCells(h stats.Latencies, of []stats.Statistic) []string {
	cells := make([]string, len(of))
	if h == nil || h.Count() == 0 {
		return cells
	}
	for i, s := range of {
		cells[i] = strconv.FormatInt(s.Of(h), 10)
	}
	return cells
}

// boundCells are empty where it is not known what probes cost, but for the last, which tells
// whether latencies have it in them.
func boundCells(row stats.Row) []string {
	cells := make([]string, 2*len(stats.Statistics)+1)
	if row.Latency == nil || row.Latency.Count() == 0 {
		return cells
	}
	if row.Bounds != nil {
		for i, s := range stats.Statistics {
			low, high := row.Bounds.Of(s)
			cells[2*i], cells[2*i+1] = strconv.FormatInt(low, 10), strconv.FormatInt(high, 10)
		}
	}
	cells[len(cells)-1] = strconv.FormatBool(row.Raw || row.Bounds == nil)
	return cells
}

// textCell escapes a name and keeps spreadsheets from running it: they take a cell
// that begins with = + - or @ for a formula, and one with ' before it for text. (A
// leading tab or carriage return, which they skip, is escaped already.)
func textCell(s string) string {
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + printable.Text(s)
	}
	return printable.Text(s)
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
