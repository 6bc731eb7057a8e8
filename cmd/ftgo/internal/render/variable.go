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

// Header writes what stands above the first line: the column names of CSV and TSV.
func (w *VariableWriter) Header() error {
	if w.format != CSV && w.format != TSV {
		return nil
	}
	return writeRecords(w.w, w.format, [][]string{{"time", "pid", "name", "value", "per_second"}})
}

// Variable writes a line.
func (w *VariableWriter) Variable(l *VariableLine) error {
	var b []byte
	switch w.format {
	case CSV, TSV:
		rate := ""
		if l.HasRate {
			rate = strconv.FormatFloat(l.PerSecond, 'g', 6, 64)
		}
		return writeRecords(w.w, w.format, [][]string{{
			l.Time.UTC().Format(jsonTime), strconv.Itoa(l.PID), textCell(l.Name), textCell(string(valuetext.JSON(&l.Value))), rate}})
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
	if _, err := w.w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("write variable: %w", err)
	}
	return nil
}
