// Package render formats results: tables, histograms and footers for people, JSON lines, CSV and TSV for programs,
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
	JSON                 // an object a line
	CSV                  // a header row, full names and raw numbers (RFC 4180, lines end in \n)
	TSV                  // CSV with tabs between cells and no quoting: no cell holds a tab or newline
	Folded               // see FoldedStacks
	Pprof                // see PprofStacks
	Chrome               // see ChromeWriter
)

var formatNames = [...]string{Table: "table", JSON: "json", CSV: "csv", TSV: "tsv", Folded: "folded", Pprof: "pprof", Chrome: "chrome"}

func (f Format) String() string { return formatNames[f] }

// ParseFormat returns the format of the given name.
func ParseFormat(name string) (Format, error) {
	if i := slices.Index(formatNames[:], name); i >= 0 {
		return Format(i), nil
	}
	return Table, fmt.Errorf("parse output format %q: known are %s", name, strings.Join(formatNames[:], ", "))
}

// Row is a row of a table, a record of CSV or TSV, or a JSON object: the keys and values in their order. A nil value
// leaves the cell empty and the member out. Values of calls are pointers, because an interface holds these without
// allocating.
type Row []struct {
	Key   string
	Value any
}

// Hidden as a value leaves out the whole column, or the member.
var Hidden any = new(byte)

// Shown returns v if ok, else [Hidden].
func Shown(ok bool, v any) any {
	if ok {
		return v
	}
	return Hidden
}

// Known returns v if ok, else nil.
func Known(ok bool, v any) any {
	if ok {
		return v
	}
	return nil
}

// Nonzero returns v, or nil for a zero value.
func Nonzero[T comparable](v T) any {
	var zero T
	return Known(v != zero, v)
}

// verbatim is JSON: a number with chosen digits, or a quoted word.
type verbatim string

// appendTime appends a time by RFC 3339 with nine decimals, as in 2006-01-02T15:04:05.000000000Z, so that times are
// aligned and sort as text. Go is faster with the layout without decimals.
func appendTime(b []byte, t *time.Time) []byte {
	b = t.UTC().AppendFormat(b, time.RFC3339)
	point := len(b) - len("Z")
	b = strconv.AppendInt(b[:point], 1e9+int64(t.Nanosecond()), 10)
	b[point] = '.' // replaces the 1 of 1e9, which kept leading zeros
	return append(b, 'Z')
}

// header returns a row with the keys as values.
func (o Row) header() Row {
	for i, m := range o {
		o[i].Value = Shown(m.Value != Hidden, m.Key)
	}
	return o
}

// writeHeader writes the header of CSV and TSV.
func writeHeader(w io.Writer, f Format, columns Row) error {
	if f != CSV && f != TSV {
		return nil
	}
	return write(w, f.String(), columns.header().append(nil, f))
}

// WriteRows writes rows as JSON, or as CSV or TSV with an optional header.
func WriteRows[R any](w io.Writer, f Format, header bool, of func(R) Row, rows ...R) error {
	var text []byte
	if header && f != JSON {
		var none R
		text = of(none).header().append(text, f)
	}
	for _, row := range rows {
		text = of(row).append(text, f)
	}
	return write(w, f.String(), text)
}

// append appends a line of CSV, TSV or JSON.
func (o Row) append(b []byte, f Format) []byte {
	if f == JSON {
		return append(o.appendJSON(b), '\n')
	}
	separator := byte(',')
	if f == TSV {
		separator = '\t'
	}
	for _, m := range o {
		if m.Value != Hidden {
			b = append(appendCell(b, f, m.Value), separator)
		}
	}
	b[len(b)-1] = '\n'
	return b
}

// appendCell appends a cell. It escapes text, and puts ' before = + - and @, because spreadsheets run a cell that
// begins with one as a formula. (They skip a leading tab or carriage return, which is escaped.) It quotes the same
// cells as package encoding/csv, whose writer would allocate 4 KB for each call. No cell contains a newline.
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
		if m.Value == Hidden || m.Value == nil {
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
	case verbatim:
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
		for i, one := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = one.appendJSON(b)
		}
		return append(b, ']')
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // keep < and >
	_ = encoder.Encode(v)        // cannot fail, because no number is infinite
	// encoding/json makes strings valid UTF-8 and escapes C0 controls, but not DEL, C1 controls and
	// bidirectional overrides, which must not reach a terminal.
	return append(b, printable.JSON(bytes.TrimSuffix(text.Bytes(), []byte("\n")))...)
}

// write writes a text with one call of Write.
func write(w io.Writer, what string, text []byte) error {
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	return nil
}
