package render

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/internal/valuetext"
)

// appendText writes a line of text without its newline.
func (w *CallWriter) appendText(b []byte, c *CallLine) []byte {
	second := w.o.TwoLines && c.End != "" && w.o.Line == nil
	at := &c.Time
	if second && !c.Ended.IsZero() {
		at = &c.Ended
	}
	b = w.appendTime(b, at)
	switch {
	case w.o.Line != nil:
		return w.o.Line.append(b, c)
	case c.End == "":
		b = append(w.appendWho(append(b, "> "...), c), ' ')
		return valuetext.AppendArgs(w.appendName(b, c), c.Args, c.ArgsNote)
	case second:
		b = append(w.appendWho(append(b, "< "...), c), ' ')
		b = valuetext.AppendResults(w.appendName(b, c), c.End, c.Results)
		if c.returned() {
			b = w.appendSplit(append(append(b, ' '), units.Duration(c.NS)...), c)
		}
		return b
	}
	latency := "-"
	if c.returned() {
		latency = units.Duration(c.NS)
	}
	b = append(w.appendSplit(appendRight(b, 8, latency), c), "  "...)
	b = w.appendName(append(w.appendWho(b, c), "  "...), c)
	return valuetext.AppendResults(valuetext.AppendArgs(b, c.Args, c.ArgsNote), c.End, c.Results)
}

// appendTime writes what lines begin with, where that was asked for: blanks for nil.
func (w *CallWriter) appendTime(b []byte, at *time.Time) []byte {
	const layout = "15:04:05.000000"
	switch {
	case !w.o.Times:
		return b
	case at == nil:
		b = appendRight(b, len(layout), "")
	default:
		b = at.AppendFormat(b, layout)
	}
	return append(b, ' ')
}

// appendWho writes the goroutine.
func (w *CallWriter) appendWho(b []byte, c *CallLine) []byte {
	if w.o.Processes {
		b = append(strconv.AppendInt(append(b, "pid "...), int64(c.PID), 10), ' ')
	}
	if c.Goid == 0 {
		return strconv.AppendInt(append(b, "thread "...), int64(c.TID), 10)
	}
	return strconv.AppendUint(append(b, "goroutine "...), c.Goid, 10)
}

// appendName writes the function, indented in a tree.
func (w *CallWriter) appendName(b []byte, c *CallLine) []byte {
	if w.o.Tree {
		b = appendIndent(b, c.Depth)
	}
	return append(b, printable.Text(c.Function)...)
}

// maxIndent is the depth up to which calls are indented. A recursion may be a million
// deep.
const maxIndent = 40

func appendIndent(b []byte, depth int) []byte {
	b = appendRight(b, 2*min(depth, maxIndent), "")
	if depth > maxIndent {
		b = fmt.Appendf(b, "+%d ", depth-maxIndent)
	}
	return b
}

// appendRight writes text at the end of so many columns.
func appendRight(b []byte, width int, text string) []byte {
	for range width - printable.Columns(text) {
		b = append(b, ' ')
	}
	return append(b, text...)
}

// appendSplit writes what a latency was spent with, in columns; blanks where there is none.
func (w *CallWriter) appendSplit(b []byte, c *CallLine) []byte {
	if !w.o.Sched {
		return b
	}
	for _, part := range splitParts {
		text := "-"
		if c != nil && c.returned() {
			text = units.Duration(part.of(c.Split))
		}
		b = append(append(appendRight(append(b, ' '), 7, text), ' '), part.short...)
	}
	return b
}
