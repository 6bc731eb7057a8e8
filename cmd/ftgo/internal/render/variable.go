package render

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/valuetext"
)

// VariableLine is the value of a package variable at a moment.
type VariableLine struct {
	Time  time.Time
	PID   int
	Name  string
	Value capture.Value
	// PerSecond is the change since the last line of this variable in this process: of a
	// number, or of a length. It is nil if there is none.
	PerSecond *float64
}

var variableColumns = []column[*VariableLine]{
	{"time", true, func(l *VariableLine) any { return l.Time.UTC().Format(jsonTime) }},
	{"pid", true, func(l *VariableLine) any { return l.PID }},
	{"name", true, func(l *VariableLine) any { return l.Name }},
	{"value", true, func(l *VariableLine) any { return string(valuetext.JSON(&l.Value)) }},
	{"per_second", true, func(l *VariableLine) any {
		if l.PerSecond == nil {
			return nil
		}
		return number(strconv.FormatFloat(*l.PerSecond, 'g', 6, 64))
	}},
}

// VariableHeader writes what stands above the first line: the column names of CSV and TSV.
func VariableHeader(w io.Writer, f Format) error { return writeHeader(w, f, variableColumns) }

// Variable writes the value of a package variable in a line, of text with the process if named:
//
//	12:00:01.000123  main.counter = 1234  +1000/s
func Variable(w io.Writer, f Format, named bool, l *VariableLine) error {
	var b []byte
	switch f {
	case CSV, TSV:
		return writeData(w, f, false, variableColumns, l)
	case JSON:
		b = append(l.Time.UTC().AppendFormat([]byte(`{"type":"variable","time":"`), jsonTime), '"')
		b = strconv.AppendInt(append(b, `,"pid":`...), int64(l.PID), 10)
		b = printable.AppendJSON(append(b, `,"name":`...), l.Name)
		b = append(append(b, `,"value":`...), valuetext.JSON(&l.Value)...)
		if l.PerSecond != nil {
			b = strconv.AppendFloat(append(b, `,"per_second":`...), *l.PerSecond, 'f', 3, 64)
		}
		b = append(b, '}')
	default:
		b = l.Time.AppendFormat(b, "15:04:05.000000  ")
		if named {
			b = fmt.Appendf(b, "pid %d  ", l.PID)
		}
		b = fmt.Appendf(b, "%s = %s", printable.Text(l.Name), valuetext.Text(&l.Value))
		if l.PerSecond != nil {
			b = fmt.Appendf(b, "  %+.6g/s", *l.PerSecond)
		}
	}
	return write(w, "variable", append(b, '\n'))
}
