package render

import (
	"fmt"
	"strconv"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/internal/valuetext"
)

// appendText writes a line of text without its newline.
func (w *CallWriter) appendText(b []byte, c *CallLine) []byte {
	second := w.o.TwoLines && c.End != "" && w.o.Line == nil
	if w.o.Times {
		at := c.Time
		if second && !c.Ended.IsZero() {
			at = c.Ended
		}
		b = append(at.AppendFormat(b, "15:04:05.000000"), ' ')
	}
	switch {
	case w.o.Line != nil:
		return w.o.Line.append(b, c)
	case c.End == "":
		b = append(w.appendWho(append(b, "> "...), c), ' ')
		return valuetext.AppendArgs(w.appendName(b, c), c.Args, c.ArgsNote)
	case second:
		b = append(w.appendWho(append(b, "< "...), c), ' ')
		b = valuetext.AppendResults(w.appendName(b, c), c.End, c.Results)
		if c.End == "return" {
			b = append(append(b, ' '), units.Duration(c.NS)...)
			b = w.appendSplit(b, c)
		}
		return b
	}
	latency := "-"
	if c.End == "return" {
		latency = units.Duration(c.NS)
	}
	for range 8 - printable.Columns(latency) {
		b = append(b, ' ')
	}
	b = append(w.appendSplit(append(b, latency...), c), "  "...)
	b = append(w.appendWho(b, c), "  "...)
	return valuetext.AppendResults(valuetext.AppendArgs(w.appendName(b, c), c.Args, c.ArgsNote), c.End, c.Results)
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

// maxIndent is the depth up to which calls are indented. A recursion may be a million
// deep.
const maxIndent = 40

// appendName writes the function, indented in a tree.
func (w *CallWriter) appendName(b []byte, c *CallLine) []byte {
	if w.o.Tree {
		for range min(c.Depth, maxIndent) {
			b = append(b, "  "...)
		}
		if c.Depth > maxIndent {
			b = fmt.Appendf(b, "+%d ", c.Depth-maxIndent)
		}
	}
	return append(b, printable.Text(c.Function)...)
}
