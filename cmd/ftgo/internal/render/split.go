package render

import (
	"fmt"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/units"
)

// splitParts are what latencies are divided into.
var splitParts = [...]struct {
	name, short string
	of          func(stats.Split) int64
}{
	{"running", "run", func(s stats.Split) int64 { return s.Running }},
	{"runnable", "runnable", func(s stats.Split) int64 { return s.Runnable }},
	{"waiting", "wait", func(s stats.Split) int64 { return s.Waiting }},
}

func appendSplitJSON(b []byte, s stats.Split) []byte {
	return fmt.Appendf(b, `,"sched":{"running":%d,"runnable":%d,"waiting":%d}`, s.Running, s.Runnable, s.Waiting)
}

// appendSplit writes what a latency was spent with, in columns; blanks where there is none.
func (w *CallWriter) appendSplit(b []byte, c *CallLine) []byte {
	if !w.o.Sched {
		return b
	}
	for _, part := range splitParts {
		text := "-"
		if c != nil && c.End == "return" {
			text = units.Duration(part.of(c.Split))
		}
		b = append(append(appendRight(append(b, ' '), 7, text), ' '), part.short...)
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
