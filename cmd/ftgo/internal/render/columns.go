package render

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
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
		if err := csv.NewWriter(&text).WriteAll(grid(header, columns, rows, textCell)); err != nil {
			return fmt.Errorf("encode csv: %w", err)
		}
	}
	return write(w, f.String(), text.Bytes())
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
