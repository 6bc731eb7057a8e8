package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// column is a column of a table, CSV or TSV, or a member of JSON objects.
type column[R any] struct {
	name string
	show bool
	// of returns what a row has there: nil for nothing.
	of func(R) any
}

// number is one with as many digits as are to be written.
type number string

// nonzero is nothing for 0 or "".
func nonzero[T comparable](v T) any {
	var zero T
	return known(v != zero, v)
}

// known is nothing unless ok.
func known(ok bool, v any) any {
	if ok {
		return v
	}
	return nil
}

// grid has the cells of columns: a line of their names, if header, and one for each row.
func grid[R any](header bool, columns []column[R], rows []R, cell func(any) string) (lines [][]string) {
	line := func(of func(column[R]) any) {
		cells := make([]string, 0, len(columns))
		for _, c := range columns {
			if c.show {
				cells = append(cells, cell(of(c)))
			}
		}
		lines = append(lines, cells)
	}
	if header {
		line(func(c column[R]) any { return c.name })
	}
	for _, row := range rows {
		line(func(c column[R]) any { return c.of(row) })
	}
	return lines
}

// writeData writes rows for programs: CSV and TSV with a header, if wanted, or JSON.
func writeData[R any](w io.Writer, f Format, header bool, columns []column[R], rows ...R) error {
	var text bytes.Buffer
	switch f {
	case JSON:
		objects := make([]object, len(rows))
		for i, row := range rows {
			for _, c := range columns {
				if c.show {
					objects[i] = append(objects[i], member{c.name, c.of(row)})
				}
			}
		}
		return writeObjects(w, objects...)
	case TSV:
		for _, record := range grid(header, columns, rows, textCell) {
			text.WriteString(strings.Join(record, "\t") + "\n")
		}
	case CSV:
		for _, record := range grid(header, columns, rows, quotedCell) {
			text.WriteString(strings.Join(record, ",") + "\n")
		}
	}
	return write(w, f.String(), text.Bytes())
}

// quotedCell quotes what package encoding/csv does, whose writer takes a buffer of 4 KB for each
// line of a call. No cell holds a newline.
func quotedCell(v any) string {
	cell := textCell(v)
	if strings.ContainsAny(cell, `",`) || strings.HasPrefix(cell, " ") || cell == `\.` {
		return `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
	}
	return cell
}

// writeHeader writes what stands above the first record, which other formats have not.
func writeHeader[R any](w io.Writer, f Format, columns []column[R]) error {
	if f != CSV && f != TSV {
		return nil
	}
	return writeData(w, f, true, columns)
}

// textCell escapes a name and keeps spreadsheets from running it: they take a cell
// that begins with = + - or @ for a formula, and one with ' before it for text. (A
// leading tab or carriage return, which they skip, is escaped already.)
func textCell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case int:
		return strconv.Itoa(v)
	case uint64:
		return strconv.FormatUint(v, 10)
	case string:
		if v != "" && strings.IndexByte("=+-@", v[0]) >= 0 {
			return "'" + printable.Text(v)
		}
		return printable.Text(v)
	}
	return fmt.Sprint(v)
}

// write writes all of a text at once.
func write(w io.Writer, what string, text []byte) error {
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	return nil
}

// writeObjects writes them a line each.
func writeObjects(w io.Writer, objects ...object) error {
	var text []byte
	for _, o := range objects {
		line, err := encode(o)
		if err != nil {
			return fmt.Errorf("encode json: %w", err)
		}
		// encoding/json makes strings valid UTF-8 and escapes C0 controls, but passes DEL, C1
		// controls and bidirectional overrides on to the reader's terminal.
		text = append(append(text, printable.JSON(line)...), '\n')
	}
	return write(w, "json", text)
}

// object is a JSON object whose members are in this order; those that are nil are left out.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON is for encoding/json.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for _, m := range o {
		if m.value == nil {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		value, err := encode(m.value)
		if err != nil {
			return nil, err
		}
		b = append(append(printable.AppendJSON(b, m.key), ':'), value...)
	}
	return append(b, '}'), nil
}

// encode leaves < and > as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// SummaryJSON writes the object that ends a stream of JSON lines. The other
// formats have no summary among the data; for them there is [Footer].
func SummaryJSON(w io.Writer, s stats.Summary) error {
	summary := object{
		{"type", "summary"}, {"hits", s.Hits}, {"delivered", s.Delivered}, {"lost", s.Lost},
		{"filtered", nonzero(s.Filtered)}, {"before", nonzero(s.Before)}, {"after", nonzero(s.After)},
		{"pass_ns", nonzero(s.Pass.Nanoseconds())}, {"vanished", known(len(s.Vanished) > 0, s.Vanished)},
		{"counted", nonzero(s.Counted)}, {"max_rate", nonzero(s.MaxRate)},
		{"unparsed", s.Unparsed}, {"probes", s.Probes}, {"functions", s.Functions},
		{"skipped", append([]stats.Skipped{}, s.Skipped...)}, // without elements it is [], not null
		{"seconds", s.Seconds},
	}
	if k := s.Kernel; k != nil { // they are no part of hits
		events := object{{"delivered", k.Delivered}, {"lost", k.Lost}, {"unparsed", k.Unparsed}}
		summary = append(summary, member{"events", events})
	}
	if p := s.Probing; p != nil {
		round := func(ns float64) int64 { return int64(math.Round(ns)) }
		summary = append(summary, member{"probing", object{
			{"ns", round(p.NS)}, {"ns_low", round(p.Low)}, {"ns_high", round(p.High)},
			{"cpu_ns", nonzero(round(p.CPU))}, {"share", nonzero(p.Share(p.NS))},
			{"functions", known(len(p.Functions) > 0, p.Functions)}, {"others_ns", nonzero(round(p.Others))},
			{"emulated_hit_ns", round(p.Emulated)}, {"stepped_hit_ns", round(p.Stepped)},
		}})
	}
	return writeObjects(w, summary)
}
