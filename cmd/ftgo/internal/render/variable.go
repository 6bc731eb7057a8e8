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

// members are what JSON, CSV and TSV have of it. Change has more digits in JSON.
func (l *VariableLine) members(f Format) object {
	var perSecond any
	if l.PerSecond != nil {
		perSecond = verbatim(strconv.FormatFloat(*l.PerSecond, 'g', 6, 64))
		if f == JSON {
			perSecond = verbatim(strconv.FormatFloat(*l.PerSecond, 'f', 3, 64))
		}
	}
	return object{
		{"type", shown(f == JSON, verbatim(`"variable"`))}, {"time", &l.Time}, {"pid", &l.PID}, {"name", &l.Name},
		{"value", &l.Value}, {"per_second", perSecond},
	}
}

// VariableHeader writes what stands above the first line: the column names of CSV and TSV.
func VariableHeader(w io.Writer, f Format) error {
	return writeHeader(w, f, new(VariableLine).members(f))
}

// Variable writes the value of a package variable in a line, of text with the process if named:
//
//	12:00:01.000123  main.counter = 1234  +1000/s
func Variable(w io.Writer, f Format, named bool, l *VariableLine) error {
	switch f {
	case CSV, TSV:
		return write(w, f.String(), l.members(f).append(nil, f))
	case JSON:
		return write(w, "variable", l.members(f).append(nil, f))
	}
	b := l.Time.AppendFormat(nil, "15:04:05.000000  ")
	if named {
		b = fmt.Appendf(b, "pid %d  ", l.PID)
	}
	b = fmt.Appendf(b, "%s = %s", printable.Text(l.Name), valuetext.Text(&l.Value))
	if l.PerSecond != nil {
		b = fmt.Appendf(b, "  %+.6g/s", *l.PerSecond)
	}
	return write(w, "variable", append(b, '\n'))
}
