package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/stats"
)

// ChromeWriter writes trace events in the JSON object format of Perfetto and chrome://tracing ("Trace Event Format",
// Google, 2013 and later). Each goroutine is a track, each call a complete event (X), and each kernel event an instant
// event (i). A call that is open at the end of a part of its tree is written as a begin and an end event (B, E). Time
// stamps are in µs since the origin. They grow along each track, except for a call that was open when its slow tree was
// written, because a later tree may contain the call again.
type ChromeWriter struct {
	// Marks adds an event (b, e) for each tree above the tracks of its process, to make slow trees easy to find.
	Marks  bool
	w      io.Writer
	origin time.Time
	before string             // the text before the next event
	named  map[[2]uint64]bool // the processes and tracks with a name
	ids    int                // the number of arrows and marks, the last of which has this ID
	line   []byte             // unwritten events
}

// NewChromeWriter returns a ChromeWriter whose time stamps count from origin, the start of the trace.
func NewChromeWriter(w io.Writer, origin time.Time) *ChromeWriter {
	const head = `{"displayTimeUnit":"ns","traceEvents":[`
	return &ChromeWriter{w: w, origin: origin, before: head, named: make(map[[2]uint64]bool)}
}

// threadTracks is the difference between the number of a thread and the number of its track. It is larger than common
// goroutine IDs, which are the numbers of their tracks.
const threadTracks = 2_000_000_000

func (t *Thread) chromeTrack() uint64 {
	if t.Goid == 0 {
		return threadTracks + uint64(t.TID)
	}
	return t.Goid
}

// chromeEvent is an event with its sort keys.
type chromeEvent struct {
	at   time.Time
	ends int // 1 for an end event, which comes before other events at the same time
	Row
}

// Tree writes the calls and events of a tree or of a part of a tree. An arrow (s, f) connects the go statement, in the call
// above, with the first call of the goroutine.
func (w *ChromeWriter) Tree(t *Tree) error {
	var events []chromeEvent
	var above []*Line // the last line and the lines above it in the tree, by level
	for _, l := range t.Lines {
		add := func(phase verbatim, at time.Time, ends int, more Row) {
			o := append(w.begin(phase, `"call"`, &l.Function, at, &l.Thread), more...)
			events = append(events, chromeEvent{at, ends, o})
		}
		if above = append(above[:min(l.Level, len(above))], l); !l.GoesOn {
			w.name(&l.Thread)
		}
		switch {
		case l.GoesOn:
		case l.Event != "":
			events = append(events, chromeEvent{l.Time, 0, w.instant(l)})
		case l.End == "" && l.Repeated: // the call has not ended
		case l.End == "":
			add(`"B"`, l.Time, 0, nil)
		case l.Repeated:
			add(`"E"`, l.Ended, 1, chromeArgs(l))
		default:
			took := Row{{"dur", micros(w.since(l.Ended) - w.since(l.Time))}}
			add(`"X"`, l.Time, 0, append(took, chromeArgs(l)...))
		}
		if !l.Started.IsZero() && l.Level > 0 && l.Level < len(above) && !l.Repeated {
			events = w.arrow(events, above[l.Level-1], l)
		}
	}
	if w.Marks && t.Took > 0 {
		w.ids++
		root, id := t.Root, Row{{"id", w.ids}}
		ended := root.Time.Add(t.Took)
		events = append(events,
			chromeEvent{root.Time, 0, append(w.begin(`"b"`, `"slow"`, &root.Function, root.Time, &root.Thread), id...)},
			chromeEvent{ended, 1, append(w.begin(`"e"`, `"slow"`, &root.Function, ended, &root.Thread), id...)},
		)
	}
	// Lines are in the order of the calls' begins, but end events must be in the order of the ends.
	slices.SortStableFunc(events, func(a, b chromeEvent) int { return cmp.Or(a.at.Compare(b.at), b.ends-a.ends) })
	for _, ev := range events {
		w.add(ev.Row)
	}
	return w.flush()
}

// arrow adds the arrow of a go statement. The viewer only draws an arrow that starts within a call, so an arrow whose go
// statement came after the end of the call above starts at that end. That happens if a goroutine without traced calls
// executed the go statement.
func (w *ChromeWriter) arrow(events []chromeEvent, from, to *Line) []chromeEvent {
	w.ids++
	at, began, name := to.Started, to.Time, "go"
	if from.End != "" && !at.Before(from.Ended) {
		at = from.Ended.Add(-time.Nanosecond)
	}
	id := Row{{"id", w.ids}}
	return append(events,
		chromeEvent{at, 0, append(w.begin(`"s"`, `"go"`, &name, at, &from.Thread), id...)},
		chromeEvent{began, 0, append(w.begin(`"f"`, `"go"`, &name, began, &to.Thread), append(id, Row{{"bp", verbatim(`"e"`)}}...)...)},
	)
}

// Event writes a kernel event outside of calls.
func (w *ChromeWriter) Event(e *Line) error {
	w.name(&e.Thread)
	w.add(w.instant(e))
	return w.flush()
}

// Close ends the file.
func (w *ChromeWriter) Close(s stats.Summary) error {
	// Values of otherData are strings.
	w.line = fmt.Appendf(w.line, `%s
],"otherData":{"began":%q,"hits":"%d","delivered":"%d","lost":"%d"}}
`, strings.TrimPrefix(w.before, ","), appendTime(nil, &w.origin), s.Hits, s.Delivered, s.Lost)
	return w.flush()
}

// name writes the names of a process and a track, unless it has written them before.
func (w *ChromeWriter) name(t *Thread) {
	track := t.chromeTrack()
	name := func(id uint64, kind, name string) {
		if key := [2]uint64{uint64(t.PID), id}; !w.named[key] {
			w.named[key] = true
			w.add(Row{{"ph", "M"}, {"name", kind}, {"pid", t.PID}, {"tid", track}, {"args", Row{{"name", name}}}})
		}
	}
	name(0, "process_name", fmt.Sprintf("process %d", t.PID))
	name(track, "thread_name", string((&CallWriter{}).appendThread(nil, t)))
}

func (w *ChromeWriter) add(event Row) {
	w.line = event.appendJSON(append(append(w.line, w.before...), '\n'))
	w.before = ","
}

func (w *ChromeWriter) flush() error {
	err := write(w.w, "trace events", w.line)
	w.line = w.line[:0]
	return err
}

// begin returns the first members of an event.
func (w *ChromeWriter) begin(phase, category verbatim, name *string, at time.Time, t *Thread) Row {
	return Row{
		{"ph", phase}, {"cat", category}, {"name", name}, {"ts", micros(w.since(at))},
		{"pid", &t.PID}, {"tid", t.chromeTrack()},
	}
}

func (w *ChromeWriter) instant(e *Line) Row {
	o := w.begin(`"i"`, `"kernel"`, &e.Event, e.Time, &e.Thread)
	return append(o, Row{{"s", verbatim(`"t"`)}, {"args", fieldObject(e.Fields)}}...)
}

// since returns the time since the origin. For an earlier time it returns 0, so that calls still nest.
func (w *ChromeWriter) since(at time.Time) time.Duration { return max(at.Sub(w.origin), 0) }

// micros returns a duration in µs with three decimals.
func micros(d time.Duration) verbatim {
	ns := max(d.Nanoseconds(), 0)
	return verbatim(fmt.Sprintf("%d.%03d", ns/1000, ns%1000))
}

// chromeArgs returns the last members of a call's event: its values, and its end if it did not return. A call that did not
// return is red, or grey if it is open.
func chromeArgs(c *Line) Row {
	color := verbatim(`"terrible"`)
	if c.End == "open" {
		color = `"grey"`
	}
	return Row{{"cname", ValueIf(!c.returned(), color)}, {"args", Row{
		{"arguments", &c.Args}, {"results", ValueIf(c.returned(), &c.Results)}, {"end", ValueIf(!c.returned(), &c.End)},
		{"stack", ValueIf(c.Stack != nil, &c.Stack)}, {"thread", &c.TID}, {"cpu", &c.CPU},
	}}}
}
