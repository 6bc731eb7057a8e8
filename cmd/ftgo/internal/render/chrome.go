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

// ChromeWriter writes calls as trace events in the JSON object format that Perfetto and
// chrome://tracing show ("Trace Event Format", Google, 2013 and later): a track for each
// goroutine, a complete event (X) for each call, kernel events as instants (i). A call that lasts longer than a
// part of its tree has events for its begin and its end (B, E). Time stamps are µs since the origin, and grow along
// each track, except for calls of slow trees that were open when their tree was written: a later tree may have
// them, too.
type ChromeWriter struct {
	// Marks adds a mark (b, e) for each tree above the tracks of its process, because slow trees may be far from
	// each other.
	Marks  bool
	w      io.Writer
	origin time.Time
	before string             // the text before the next event
	named  map[[2]uint64]bool // process and track
	ids    int                // of arrows and marks
	line   []byte             // not written yet
}

// NewChromeWriter returns a ChromeWriter. Nothing has begun before origin.
func NewChromeWriter(w io.Writer, origin time.Time) *ChromeWriter {
	const head = `{"displayTimeUnit":"ns","traceEvents":[`
	return &ChromeWriter{w: w, origin: origin, before: head, named: make(map[[2]uint64]bool)}
}

// threadTracks is added to the ids of threads, to tell their tracks from those of goroutines.
const threadTracks = 2_000_000_000

func (t *Thread) chromeTrack() uint64 {
	if t.Goid == 0 {
		return threadTracks + uint64(t.TID)
	}
	return t.Goid
}

// chromeEvent is an event with the keys that it is sorted by.
type chromeEvent struct {
	at   time.Time
	ends int // 1 for an end
	Row
}

// Tree writes the calls of a tree, or of a part of one. An arrow (s, f) leads from the go statement, in the call
// above, to the first call of the goroutine.
func (w *ChromeWriter) Tree(t *Tree) error {
	var events []chromeEvent
	var above []*Line // by level
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
		case l.End == "" && l.Shown: // it goes on
		case l.End == "":
			add(`"B"`, l.Time, 0, nil)
		case l.Shown:
			add(`"E"`, l.Ended, 1, chromeArgs(l))
		default:
			took := Row{{"dur", micros(w.since(l.Ended) - w.since(l.Time))}}
			add(`"X"`, l.Time, 0, append(took, chromeArgs(l)...))
		}
		if !l.Started.IsZero() && l.Level > 0 && l.Level < len(above) && !l.Shown {
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
	// The lines of calls whose begin is in an earlier part are not in the order of their ends.
	slices.SortStableFunc(events, func(a, b chromeEvent) int { return cmp.Or(a.at.Compare(b.at), b.ends-a.ends) })
	for _, ev := range events {
		w.add(ev.Row)
	}
	return w.flush()
}

// arrow adds the arrow of a go statement. It starts within the call above, or the viewer would not draw it, even
// if a goroutine without calls in between has started this one.
func (w *ChromeWriter) arrow(events []chromeEvent, from, to *Line) []chromeEvent {
	w.ids++
	at, begun, name := to.Started, to.Time, "go"
	if from.End != "" && !at.Before(from.Ended) {
		at = from.Ended.Add(-time.Nanosecond)
	}
	id := Row{{"id", w.ids}}
	return append(events,
		chromeEvent{at, 0, append(w.begin(`"s"`, `"go"`, &name, at, &from.Thread), id...)},
		chromeEvent{begun, 0, append(w.begin(`"f"`, `"go"`, &name, begun, &to.Thread), append(id, Row{{"bp", verbatim(`"e"`)}}...)...)},
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

// name writes the names of a process and a track, once.
func (w *ChromeWriter) name(t *Thread) {
	track := t.chromeTrack()
	name := func(of uint64, kind, name string) {
		if key := [2]uint64{uint64(t.PID), of}; !w.named[key] {
			w.named[key] = true
			w.add(Row{{"ph", "M"}, {"name", kind}, {"pid", t.PID}, {"tid", track}, {"args", Row{{"name", name}}}})
		}
	}
	name(0, "process_name", fmt.Sprintf("process %d", t.PID))
	name(track, "thread_name", string((&CallWriter{}).appendWho(nil, t)))
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

// since returns the time since the origin. Earlier times become the origin, so that calls still nest.
func (w *ChromeWriter) since(at time.Time) time.Duration { return max(at.Sub(w.origin), 0) }

// micros returns a time in µs, with three decimals.
func micros(d time.Duration) verbatim {
	ns := max(d.Nanoseconds(), 0)
	return verbatim(fmt.Sprintf("%d.%03d", ns/1000, ns%1000))
}

// chromeArgs returns the last members of a call's event: its values, and its end if it did not return. Such a
// call is red, or grey if it is open.
func chromeArgs(c *Line) Row {
	color := verbatim(`"terrible"`)
	if c.End == "open" {
		color = `"grey"`
	}
	return Row{{"cname", Known(!c.returned(), color)}, {"args", Row{
		{"arguments", &c.Args}, {"results", Known(c.returned(), &c.Results)}, {"end", Known(!c.returned(), &c.End)},
		{"stack", Known(c.Stack != nil, &c.Stack)}, {"thread", &c.TID}, {"cpu", &c.CPU},
	}}}
}
