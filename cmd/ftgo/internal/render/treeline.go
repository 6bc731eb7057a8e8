package render

import (
	"fmt"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/internal/valuetext"
)

// TreeLine is a line of a tree of calls.
type TreeLine struct {
	// Call is the call as it ended; nil if it is still open, or if this is an event.
	Call *CallLine
	// Event is a kernel event that happened in the call above.
	Event *EventLine
	// Function names a call that is still open, Begun is when it began.
	Function string
	Begun    time.Time
	// Shown: an earlier part of the tree had this call, then open.
	Shown bool
	// Level is the number of lines' levels above, 0 for the root.
	Level int
}

// TreeHead is what stands above a tree.
type TreeHead struct {
	// Call is the first call of the tree.
	Call CallLine
	// Continued: the calls that are still open were shown above already, in a part of the
	// same tree.
	Continued bool
}

// Tree writes the calls of a goroutine, callers before what they call:
//
//	goroutine 7  15:04:05.000000  thread 4711
//	  1.25ms  100%  main.handle(key="bob") = nil
//	   812µs   65%    main.load(n=3) = 7
//	       -     -      main.parse(s="x") = unwound
//
// Callers of the root, where they were asked for, stand between its head and itself. The
// share is that of the root's time; a call that has not returned has neither.
func (w *CallWriter) Tree(head *TreeHead, lines []TreeLine) error {
	b := w.appendWho(w.line[:0], &head.Call)
	b = head.Call.Time.AppendFormat(append(b, "  "...), "15:04:05.000000")
	if head.Call.Goid != 0 {
		b = fmt.Appendf(b, "  thread %d", head.Call.TID)
	}
	if head.Continued {
		b = append(b, "  continued"...)
	}
	b = append(appendStack(b, "                 ", head.Call.Stack), '\n')
	root := int64(0) // how long the outermost call took; 0 if that is not known
	for i := range lines {
		if l := &lines[i]; l.Level == 0 && l.Event == nil {
			if root = 0; l.Call != nil && l.Call.returned() {
				root = l.Call.NS
			}
		}
		b = append(w.appendTreeLine(b, &lines[i], root), '\n')
		if len(b) > 64<<10 || i == len(lines)-1 {
			if err := write(w.w, "tree", b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	w.line = b
	return nil
}

func (w *CallWriter) appendTreeLine(b []byte, l *TreeLine, root int64) []byte {
	latency, share := "-", "-"
	var at *time.Time
	switch {
	case l.Event != nil:
		latency, share, at = "event", "", &l.Event.Time
	case l.Call == nil:
		latency = "…"
	default:
		at = &l.Call.Time
		if l.Call.returned() {
			latency = units.Duration(l.Call.NS)
			if root > 0 {
				share = units.Percent(uint64(max(l.Call.NS, 0)), uint64(root))
			}
		}
	}
	b = appendRight(w.appendTime(b, at), 8, latency)
	b = append(w.appendSplit(fmt.Appendf(b, " %6s", share), l.Call), "  "...)
	b = appendIndent(b, l.Level)
	switch {
	case l.Event != nil:
		return appendEventText(b, l.Event)
	case l.Call == nil:
		return append(append(b, printable.Text(l.Function)...), "(…)"...)
	}
	b = valuetext.AppendArgs(append(b, printable.Text(l.Call.Function)...), l.Call.Args, l.Call.ArgsNote)
	return valuetext.AppendResults(b, l.Call.End, l.Call.Results)
}
