// Package render formats results: tables, histograms and footers for people, lines of JSON, CSV and TSV for programs, and
// flame graphs, profiles and trace events for viewers. Callers choose the order of rows.
//
// Text from the traced program, like names, is escaped by [printable.Text] or as JSON.
package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// Format is an output format.
type Format uint8

const (
	Table  Format = iota // for people: aligned columns, adaptive units, shortened names
	JSON                 // an object on each line
	CSV                  // a header row, full names and raw numbers (RFC 4180, lines end in \n)
	TSV                  // like CSV with tabs, and without quoting because no cell contains a tab or newline
	Folded               // see FoldedStacks
	Pprof                // see PprofStacks
	Text                 // see GoroutineDump
)

var formatNames = [...]string{Table: "table", JSON: "json", CSV: "csv", TSV: "tsv", Folded: "folded", Pprof: "pprof", Text: "text"}

func (f Format) String() string { return formatNames[f] }

// ParseFormat returns the format with a name.
func ParseFormat(name string) (Format, error) {
	if i := slices.Index(formatNames[:], name); i >= 0 {
		return Format(i), nil
	}
	return Table, fmt.Errorf("parse output format %q: known are %s", name, strings.Join(formatNames[:], ", "))
}

// Style is the form of all output of a command.
type Style struct {
	Format Format
	Width  int  // the width limit of tables and lines in columns, 0 means no limit
	Full   bool // show whole package paths in tables and lines, and values in full length
}

// Row is a row of a table, a record of CSV or TSV, or a JSON object. It has keys and values in order. A nil value means no
// member in JSON, an empty cell in CSV and TSV, and the cell "-" in a table.
//
// The row of a call contains pointers to the call's fields, for example a *int64. A pointer is converted to type any
// without an allocation of memory, and most other values are not.
type Row []struct {
	Key   string
	Value any
}

func (o *Row) add(key string, value any) { *o = append(*o, Row{{key, value}}...) }

// NoColumn is a value that leaves out its cell or its JSON member. To leave out a column, all rows of a table or a CSV
// and their header must contain NoColumn under the same key.
var NoColumn any = new(byte)

// ColumnIf returns v if ok, else [NoColumn].
func ColumnIf(ok bool, v any) any {
	if ok {
		return v
	}
	return NoColumn
}

// ValueIf returns v if ok, else nil.
func ValueIf(ok bool, v any) any {
	if ok {
		return v
	}
	return nil
}

// Nonzero returns v, or nil for a zero value.
func Nonzero[T comparable](v T) any {
	var zero T
	return ValueIf(v != zero, v)
}

// appendTime appends a time with nine decimals, so that times are aligned and sort as text.
func appendTime(b []byte, t *time.Time) []byte {
	return t.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000000Z")
}

// header replaces each value of a row by its key, except for NoColumn.
func (o Row) header() Row {
	for i, m := range o {
		o[i].Value = ColumnIf(m.Value != NoColumn, m.Key)
	}
	return o
}

// WriteRows writes rows as JSON, CSV or TSV. If header is true, CSV and TSV begin with the column names. To find the
// column names, WriteRows calls convert with a zero R.
func WriteRows[R any](w io.Writer, f Format, header bool, convert func(R) Row, rows ...R) error {
	var text []byte
	if header && (f == CSV || f == TSV) {
		var zero R
		text = convert(zero).header().append(text, f)
	}
	for _, row := range rows {
		text = convert(row).append(text, f)
	}
	return write(w, text)
}

// append appends the row as a line of CSV, TSV or JSON.
func (o Row) append(b []byte, f Format) []byte {
	if f == JSON {
		return append(o.appendJSON(b), '\n')
	}
	separator := byte(',')
	if f == TSV {
		separator = '\t'
	}
	for _, m := range o {
		if m.Value != NoColumn {
			b = append(appendCell(b, f, m.Value), separator)
		}
	}
	b[len(b)-1] = '\n'
	return b
}

// appendCell appends a cell of CSV or TSV. It escapes text, so no cell contains a newline. If text begins with = + - or @,
// appendCell puts ' before the text, because spreadsheets evaluate such a cell as a formula. (Spreadsheets also skip a
// leading tab or carriage return, but appendCell escapes these characters.) For a list of rows, it appends their number.
//
// It quotes the same cells of CSV as package encoding/csv. It does not use the Writer of that package, because each new
// Writer allocates 4 KB.
func appendCell(b []byte, f Format, v any) []byte {
	var text string
	switch v := v.(type) {
	case nil:
		return b
	case string:
		text = v
	case *string:
		text = *v
	case *time.Time:
		text = string(appendTime(nil, v))
	case *int, *int64, *uint64:
		return appendJSON(b, v)
	case []Row:
		return strconv.AppendInt(b, int64(len(v)), 10)
	case *capture.Value, *[]capture.Value, *[]stats.Location:
		text = string(appendJSON(nil, v))
	default:
		return fmt.Append(b, v)
	}
	if text != "" && strings.IndexByte("=+-@", text[0]) >= 0 {
		text = "'" + text
	}
	text = printable.Text(text)
	if f == CSV && (strings.ContainsAny(text, `",`) || strings.HasPrefix(text, " ") || text == `\.`) {
		text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return append(b, text...)
}

func (o Row) appendJSON(b []byte) []byte {
	b = append(b, '{')
	first := len(b)
	for _, m := range o {
		if m.Value == NoColumn || m.Value == nil {
			continue
		}
		if len(b) > first {
			b = append(b, ',')
		}
		b = appendJSON(append(printable.AppendJSON(b, m.Key), ':'), m.Value)
	}
	return append(b, '}')
}

func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case *string:
		return printable.AppendJSON(b, *v)
	case *int:
		return strconv.AppendInt(b, int64(*v), 10)
	case *int64:
		return strconv.AppendInt(b, *v, 10)
	case *uint64:
		return strconv.AppendUint(b, *v, 10)
	case string:
		return printable.AppendJSON(b, v)
	case json.Number:
		return append(b, v...)
	case int, int64, uint64:
		return fmt.Append(b, v)
	case *time.Time:
		return append(appendTime(append(b, '"'), v), '"')
	case *capture.Value:
		return v.AppendJSON(b)
	case *[]capture.Value:
		return capture.AppendObject(b, *v)
	case *[]stats.Location:
		return appendJSON(b, frameObjects(*v))
	case Row:
		return v.appendJSON(b)
	case []Row:
		b = append(b, '[')
		for i, row := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = row.appendJSON(b)
		}
		return append(b, ']')
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // keep < and >
	_ = encoder.Encode(v)        // cannot fail, because no number is infinite
	// encoding/json replaces invalid UTF-8 and escapes C0 controls, but not DEL, C1 controls and bidirectional
	// overrides, which must not reach a terminal.
	return append(b, printable.JSON(bytes.TrimSuffix(text.Bytes(), []byte("\n")))...)
}

// write calls w.Write once, with text.
func write(w io.Writer, text []byte) error {
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}
