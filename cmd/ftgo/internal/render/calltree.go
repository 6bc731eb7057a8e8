package render

import (
	"fmt"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
)

// TreeLine is a line of a tree of calls.
type TreeLine struct {
	Call     *CallLine  // as it ended; nil if it is still open, or if this is an event
	Event    *EventLine // a kernel event that happened in the call above
	Function string     // of a call that is still open
	Begun    time.Time  // when that began
	Shown    bool       // an earlier part of the tree had this call, then open
	Level    int        // the number of lines' levels above, 0 for the root
	Thread              // where the call began, or the event was
	// Branch: it is an outermost call of a goroutine that the call above has started; the first of
	// them has when it was Started. GoesOn: it is no call, but tells that the goroutine had not
	// ended when the tree had waited for it.
	Branch, GoesOn bool
	Started        time.Time
	Outlived       time.Duration // by how much such a call has outlived the tree's outermost one
}

// CallTree is a tree of calls, or a part of one.
type CallTree struct {
	First *CallLine // for the header
	// Function, Began and Thread are of the outermost call.
	Function string
	Began    time.Time
	Thread
	Lines []TreeLine
	// Continued: the calls that are still open were shown above already, in a part of the same tree.
	Continued bool
	Origin    *Origin       // what has started the goroutine, if that has outlived it
	LeftOut   int           // calls and events that there was no room for
	Took      time.Duration // how long the outermost call has taken, 0 if it goes on
}

// Origin is a call that has started a goroutine.
type Origin struct {
	Function string
	Thread
}

// Tree writes a tree of calls, callers before what they call:
//
//	goroutine 7  15:04:05.000000  thread 4711
//	  1.25ms  100%  main.handle(key="bob") = nil
//	   812µs   65%    main.load(n=3) = 7
//	       -     -      main.parse(s="x") = unwound
//	   700µs   56%    goroutine 9  main.fetch(i=1) = nil
//
// Goroutines that a call has started are below it, by their outermost calls. Callers of the root,
// where they were asked for, stand between its head and itself. The share is that of the root's
// time; a call that has not returned has neither. JSON has an object for the tree, and then those of
// calls and events.
func (w *CallWriter) Tree(t *CallTree) error {
	w.tree++
	if w.o.Format == JSON {
		return w.treeJSON(t)
	}
	first := t.First
	b := w.appendWho(w.line[:0], &first.Thread)
	b = first.Time.AppendFormat(append(b, "  "...), "15:04:05.000000")
	if first.Goid != 0 {
		b = fmt.Appendf(b, "  thread %d", first.TID)
	}
	if t.Origin != nil {
		b = append(append(b, "  started by "...), w.function(t.Origin.Function)...)
		b = append(w.appendWho(append(b, " of "...), &t.Origin.Thread), ", which it has outlived"...)
	}
	if t.Continued {
		b = append(b, "  continued"...)
	}
	b = append(appendStack(b, "                 ", first.Stack, w.stackWidth()), '\n')
	root := int64(0) // how long the outermost call took; 0 if that is not known
	for i := range t.Lines {
		if l := &t.Lines[i]; l.Level == 0 && l.Event == nil {
			if root = 0; l.Call.returned() {
				root = l.Call.NS
			}
		}
		b = append(w.appendTreeLine(b, t, &t.Lines[i], root), '\n')
		if len(b) > 64<<10 {
			if err := write(w.w, "tree", b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	if t.LeftOut > 0 {
		b = append(append(w.appendTime(b, nil), "       …      -  "...), printable.Plural(t.LeftOut, "line")...)
		b = append(b, " left out, as there was no room for more\n"...)
	}
	w.line = b
	return write(w.w, "tree", b)
}

// treeJSON writes a tree as JSON, which has no call that is to be continued.
func (w *CallWriter) treeJSON(t *CallTree) error {
	goesOn := []uint64{}
	for i := range t.Lines {
		if l := &t.Lines[i]; l.GoesOn {
			goesOn = append(goesOn, l.Goid)
		}
	}
	var startedBy any
	if t.Origin != nil {
		startedBy = object{{"function", &t.Origin.Function}, {"goid", &t.Origin.Goid}}
	}
	w.line = object{
		{"type", verbatim(`"tree"`)}, {"tree", w.tree}, {"time", &t.Began}, {"function", &t.Function}, {"goid", &t.Goid}, {"pid", &t.PID},
		{"ns", t.Took.Nanoseconds()}, {"lines", len(t.Lines) - len(goesOn)}, {"left_out", t.LeftOut},
		{"started_by", startedBy}, {"continued", known(t.Continued, true)}, {"goes_on", known(len(goesOn) > 0, goesOn)},
	}.append(w.line[:0], JSON)
	if err := write(w.w, "tree", w.line); err != nil {
		return err
	}
	for i := range t.Lines {
		l := &t.Lines[i]
		if w.at = l; l.GoesOn {
			continue
		}
		write := func() error { return w.Call(l.Call) }
		if l.Event != nil {
			write = func() error { return w.Event(l.Event) }
		}
		if err := write(); err != nil {
			return err
		}
	}
	w.at = nil
	return nil
}

// place is where a call or an event is in a tree, in JSON.
func (w *CallWriter) place() (tree, level, outlived any) {
	if w.at == nil {
		return nil, nil, nil
	}
	return w.tree, w.at.Level, known(w.at.Outlived > 0, w.at.Outlived.Nanoseconds())
}

func (w *CallWriter) appendTreeLine(b []byte, t *CallTree, l *TreeLine, root int64) []byte {
	latency, share := "-", "-"
	var at *time.Time
	switch {
	case l.Event != nil:
		latency, share, at = "event", "", &l.Event.Time
	case l.Call == nil:
		latency = "…"
	default:
		latency, at = l.Call.latency(), &l.Call.Time
		if l.Call.returned() && root > 0 {
			share = printable.Percent(uint64(max(l.Call.NS, 0)), uint64(root))
		}
	}
	b = appendRight(w.appendTime(b, at), 8, latency)
	b = append(w.appendSplit(fmt.Appendf(b, " %6s", share), l.Call), "  "...)
	if b = appendIndent(b, l.Level); l.Branch {
		b = append(w.appendWho(b, &Thread{Goid: l.Goid, TID: l.TID}), "  "...)
	}
	switch {
	case l.Event != nil:
		return appendEventText(b, l.Event)
	case l.GoesOn:
		return append(append(b, "goes on after "...), w.function(t.Function)...)
	case l.Call == nil:
		return append(append(b, w.function(l.Function)...), "(…)"...)
	}
	if b = w.appendCall(b, l.Call); l.Outlived > 0 {
		b = append(append(b, "  outlived "...), w.function(t.Function)...)
		b = append(append(b, " by "...), printable.Duration(l.Outlived.Nanoseconds())...)
	}
	return b
}
