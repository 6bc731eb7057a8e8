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
	// PerSecond is the change since the last line of this variable in this process, if
	// HasRate is set: of a number, or of a length.
	PerSecond float64
	HasRate   bool
}

// VariableWriter writes values of package variables, a line each:
//
//	12:00:01.000123  main.counter = 1234  +1000/s
type VariableWriter struct {
	w         io.Writer
	format    Format
	processes bool // name them
}

// NewVariableWriter returns a VariableWriter; processes: lines of text name the process.
func NewVariableWriter(w io.Writer, f Format, processes bool) *VariableWriter {
	return &VariableWriter{w, f, processes}
}

var variableColumns = []column[*VariableLine]{
	{"time", true, func(l *VariableLine) any { return l.Time.UTC().Format(jsonTime) }},
	{"pid", true, func(l *VariableLine) any { return l.PID }},
	{"name", true, func(l *VariableLine) any { return l.Name }},
	{"value", true, func(l *VariableLine) any { return string(valuetext.JSON(&l.Value)) }},
	{"per_second", true, func(l *VariableLine) any {
		return known(l.HasRate, number(strconv.FormatFloat(l.PerSecond, 'g', 6, 64)))
	}},
}

// Header writes what stands above the first line: the column names of CSV and TSV.
func (w *VariableWriter) Header() error { return writeHeader(w.w, w.format, variableColumns) }

// Variable writes a line.
func (w *VariableWriter) Variable(l *VariableLine) error {
	var b []byte
	switch w.format {
	case CSV, TSV:
		return writeRecords(w.w, w.format, false, variableColumns, l)
	case JSON:
		b = append(l.Time.UTC().AppendFormat([]byte(`{"type":"variable","time":"`), jsonTime), '"')
		b = strconv.AppendInt(append(b, `,"pid":`...), int64(l.PID), 10)
		b = printable.AppendJSON(append(b, `,"name":`...), l.Name)
		b = append(append(b, `,"value":`...), valuetext.JSON(&l.Value)...)
		if l.HasRate {
			b = strconv.AppendFloat(append(b, `,"per_second":`...), l.PerSecond, 'f', 3, 64)
		}
		b = append(b, '}')
	default:
		b = l.Time.AppendFormat(b, "15:04:05.000000  ")
		if w.processes {
			b = fmt.Appendf(b, "pid %d  ", l.PID)
		}
		b = fmt.Appendf(b, "%s = %s", printable.Text(l.Name), valuetext.Text(&l.Value))
		if l.HasRate {
			b = fmt.Appendf(b, "  %+.6g/s", l.PerSecond)
		}
	}
	return write(w.w, "variable", append(b, '\n'))
}
