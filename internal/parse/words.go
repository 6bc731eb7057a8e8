package parse

import (
	"github.com/ftgo/ftgo/internal/ftrace"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// firstWord is the first of the words that calls take along, -1 if there are none.
func firstWord(f *uprobe.Fields) int {
	if f.Stack >= 0 {
		return f.Stack
	}
	return f.Values
}

// returned gives a call what is known of one that has returned.
func (p *pairer) returned(c *Call, f *frame, ev *ftrace.Event, fields *uprobe.Fields) {
	c.Split = p.split(f, ev.Time)
	if fields.Values >= 0 {
		c.Results = ev.Args[fields.Values:]
	}
}
