package render

import (
	"fmt"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
)

// Tree is a tree of calls, or a part of such a tree. An open tree is written in parts.
type Tree struct {
	First     *Line // the line whose thread, time and callers the header shows
	Root      *Line // the outermost call; it is not in Lines if an earlier part contained it
	Lines     []*Line
	Continued bool          // an earlier part of the tree was written
	Origin    *Line         // the call that started the goroutine of a tree that was split off, else nil
	LeftOut   int           // calls and events that were dropped because the tree was full
	Took      time.Duration // the duration of the outermost call, 0 if it is open
}

// Tree writes a tree of calls, each caller before its callees:
//
//	goroutine 7  15:04:05.000000  thread 4711
//	  1.25ms  100%  main.handle(key="bob") = nil
//	   812µs   65%    main.load(n=3) = 7
//	       -     -      main.parse(s="x") = unwound
//	   700µs   56%    goroutine 9  main.fetch(i=1) = nil
//
// The outermost calls of a goroutine are below the call that started the goroutine. Callers of the root follow the
// header. The percentage is the share of the root's latency. A call that ended without returning has dashes instead
// of its latency and share. A call that has not ended has … instead of its latency, and a dash instead of its share. JSON
// contains an object for the tree, and then an object for each of its calls and events.
func (w *CallWriter) Tree(t *Tree) error {
	w.tree++
	if w.o.Format == JSON {
		return w.treeJSON(t)
	}
	first := t.First
	b := w.appendThread(w.line[:0], &first.Thread)
	b = first.Time.AppendFormat(append(b, "  "...), "15:04:05.000000")
	if first.Goid != 0 {
		b = fmt.Appendf(b, "  thread %d", first.TID)
	}
	if t.Origin != nil {
		b = fmt.Appendf(b, "  started by %s of %s, which it has outlived", w.function(t.Origin.Function), w.appendThread(nil, &t.Origin.Thread))
	}
	if t.Continued {
		b = append(b, "  continued"...)
	}
	b = append(appendStack(b, "                 ", framesOf(first.Stack), w.o.Width), '\n')
	root := int64(0) // the latency of the outermost call, 0 if unknown
	for _, l := range t.Lines {
		if l.Level == 0 && l.Event == "" {
			if root = 0; l.returned() {
				root = l.NS
			}
		}
		b = append(w.appendTreeLine(b, t, l, root), '\n')
		if err := write(w.w, b); err != nil {
			return err
		}
		b = b[:0]
	}
	if t.LeftOut > 0 {
		b = fmt.Appendf(w.appendTime(b, nil), "       …      -  %s left out, because the limit was reached\n", printable.Plural(t.LeftOut, "line"))
	}
	w.line = b
	return write(w.w, b)
}

// treeJSON writes a tree as JSON. Only trees of --slow are written as JSON. They are written after their root has ended,
// so each call in them has an End. Goroutines that go on have no object. The array goes_on has their IDs.
func (w *CallWriter) treeJSON(t *Tree) error {
	goesOn := []uint64{}
	for _, l := range t.Lines {
		if l.GoesOn {
			goesOn = append(goesOn, l.Goid)
		}
	}
	var startedBy any
	if t.Origin != nil {
		startedBy = Row{{"function", &t.Origin.Function}, {"goid", &t.Origin.Goid}}
	}
	w.line = Row{
		{"type", "tree"}, {"tree", w.tree}, {"time", &t.Root.Time}, {"function", &t.Root.Function}, {"goid", &t.Root.Goid}, {"pid", &t.Root.PID},
		{"ns", t.Took.Nanoseconds()}, {"lines", len(t.Lines) - len(goesOn)}, {"left_out", t.LeftOut},
		{"started_by", startedBy}, {"continued", ValueIf(t.Continued, true)}, {"goes_on", ValueIf(len(goesOn) > 0, goesOn)},
	}.append(w.line[:0], JSON)
	if err := write(w.w, w.line); err != nil {
		return err
	}
	w.inTree = true
	defer func() { w.inTree = false }()
	for _, l := range t.Lines {
		if l.GoesOn {
			continue
		}
		if err := w.Line(l); err != nil {
			return err
		}
	}
	return nil
}

// maxIndent is the largest indentation in levels. It exists because a recursion may be a million calls deep.
const maxIndent = 40

func (w *CallWriter) appendTreeLine(b []byte, t *Tree, l *Line, root int64) []byte {
	start := len(b)
	latency, share, at := l.latency(), "-", &l.Time
	switch {
	case l.Event != "":
		latency, share = "event", ""
	case l.End == "": // the call has not ended, or its goroutine goes on
		latency, at = "…", nil
	case l.returned() && root > 0:
		share = printable.Percent(uint64(max(l.NS, 0)), uint64(root))
	}
	b = fmt.Appendf(w.appendTime(b, at), "%8s %6s", latency, share)
	b = fmt.Appendf(w.appendSplit(b, l), "  %*s", 2*min(l.Level, maxIndent), "")
	if l.Level > maxIndent {
		b = fmt.Appendf(b, "+%d ", l.Level-maxIndent)
	}
	if l.Branch {
		b = append(w.appendThread(b, &Thread{Goid: l.Goid, TID: l.TID}), "  "...)
	}
	switch {
	case l.Event != "":
		return appendEventText(b, l)
	case l.GoesOn:
		return append(append(b, "goes on after "...), w.function(t.Root.Function)...)
	case l.End == "":
		return append(append(b, w.function(l.Function)...), "(…)"...)
	}
	outlived := ""
	if l.Outlived > 0 {
		outlived = "  outlived " + w.function(t.Root.Function) + " by " + printable.Duration(l.Outlived.Nanoseconds())
	}
	return w.appendCall(b, start, l, outlived)
}
