package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/valuetext"
)

// ChromeWriter writes calls as trace events in the JSON object format that Perfetto and
// chrome://tracing show ("Trace Event Format", Google, 2013 and later): a track for each
// goroutine, a complete event (X) for each call, kernel events as instants (i). A call that
// lasts longer than the parts that [CallWriter.Tree] tells of begins and ends by events of
// their own (B, E). Time stamps are µs since the origin, and grow along each track.
type ChromeWriter struct {
	w      io.Writer
	origin time.Time
	before string             // the next event
	named  map[[2]uint64]bool // process and track
	line   []byte             // what is to be written
}

// NewChromeWriter returns a ChromeWriter. Nothing has begun before origin.
func NewChromeWriter(w io.Writer, origin time.Time) *ChromeWriter {
	const head = `{"displayTimeUnit":"ns","traceEvents":[`
	return &ChromeWriter{w: w, origin: origin, before: head, named: make(map[[2]uint64]bool)}
}

// threadTracks is added to the ids of threads: their tracks are beside those of goroutines.
const threadTracks = 2_000_000_000

func (t *Thread) chromeTrack() uint64 {
	if t.Goid == 0 {
		return threadTracks + uint64(t.TID)
	}
	return t.Goid
}

// chromeEvent is an event at its time.
type chromeEvent struct {
	at   time.Time
	ends int // 1 for an end
	text []byte
}

// Tree writes the calls of a tree, or of a part of one.
func (w *ChromeWriter) Tree(head *TreeHead, lines []TreeLine) error {
	var events []chromeEvent
	add := func(phase, function string, at time.Time, ends int) *chromeEvent {
		text := w.begin(phase, "call", function, at, &head.Call.Thread)
		events = append(events, chromeEvent{at, ends, text})
		return &events[len(events)-1]
	}
	for i := range lines {
		switch l := &lines[i]; {
		case l.Event != nil:
			events = append(events, chromeEvent{at: l.Event.Time, text: w.instant(l.Event)})
		case l.Call == nil && l.Shown: // it goes on
		case l.Call == nil:
			ev := add("B", l.Function, l.Begun, 0)
			ev.text = append(ev.text, '}')
		case l.Shown:
			ev := add("E", l.Call.Function, l.Call.Ended, 1)
			ev.text = appendChromeArgs(ev.text, l.Call)
		default:
			ev := add("X", l.Call.Function, l.Call.Time, 0)
			ev.text = appendMicros(append(ev.text, `,"dur":`...), w.since(l.Call.Ended)-w.since(l.Call.Time))
			ev.text = appendChromeArgs(ev.text, l.Call)
		}
	}
	// Ends of calls of earlier parts stand where the calls do.
	slices.SortStableFunc(events, func(a, b chromeEvent) int { return cmp.Or(a.at.Compare(b.at), b.ends-a.ends) })
	w.name(&head.Call.Thread)
	for _, ev := range events {
		w.add(ev.text)
	}
	return w.flush()
}

// Event writes a kernel event that was in no call.
func (w *ChromeWriter) Event(e *EventLine) error {
	w.name(&e.Thread)
	w.add(w.instant(e))
	return w.flush()
}

// Close ends the file.
func (w *ChromeWriter) Close(s stats.Summary) error {
	// Values of otherData are strings.
	w.line = fmt.Appendf(w.line, `%s
],"otherData":{"began":%q,"hits":"%d","delivered":"%d","lost":"%d"}}
`, strings.TrimPrefix(w.before, ","), w.origin.UTC().Format(jsonTime), s.Hits, s.Delivered, s.Lost)
	return w.flush()
}

// name names a process and a track, once.
func (w *ChromeWriter) name(t *Thread) {
	track := t.chromeTrack()
	name := func(of uint64, kind, name string) {
		if key := [2]uint64{uint64(t.PID), of}; !w.named[key] {
			w.named[key] = true
			w.add(fmt.Appendf(nil, `{"ph":"M","name":%q,"pid":%d,"tid":%d,"args":{"name":%q}}`, kind, t.PID, track, name))
		}
	}
	name(0, "process_name", fmt.Sprintf("process %d", t.PID))
	name(track, "thread_name", string((&CallWriter{}).appendWho(nil, t)))
}

func (w *ChromeWriter) add(event []byte) {
	w.line = append(append(append(w.line, w.before...), '\n'), event...)
	w.before = ","
}

func (w *ChromeWriter) flush() error {
	err := write(w.w, "trace events", w.line)
	w.line = w.line[:0]
	return err
}

// begin is what all events begin with.
func (w *ChromeWriter) begin(phase, category, name string, at time.Time, t *Thread) []byte {
	b := fmt.Appendf(nil, `{"ph":"%s","cat":"%s","name":`, phase, category)
	b = printable.AppendJSON(b, name)
	b = appendMicros(append(b, `,"ts":`...), w.since(at))
	return fmt.Appendf(b, `,"pid":%d,"tid":%d`, t.PID, t.chromeTrack())
}

func (w *ChromeWriter) instant(e *EventLine) []byte {
	b := append(w.begin("i", "kernel", e.Name, e.Time, &e.Thread), `,"s":"t","args":`...)
	return append(fieldObject(e.Fields).appendJSON(b), '}')
}

// since is the time from the origin on. Begins and ends are cut at the origin alike, so that
// what lies within another call stays in it.
func (w *ChromeWriter) since(at time.Time) time.Duration { return max(at.Sub(w.origin), 0) }

// appendMicros writes a time in µs, to the nanosecond.
func appendMicros(b []byte, d time.Duration) []byte {
	ns := max(d.Nanoseconds(), 0)
	return fmt.Appendf(strconv.AppendInt(b, ns/1000, 10), ".%03d", ns%1000)
}

// appendChromeArgs ends an event with a call's values, and how it ended if it did not return: such a
// call is red, or grey while it is open.
func appendChromeArgs(b []byte, c *CallLine) []byte {
	switch c.End {
	case "return":
	case "open":
		b = append(b, `,"cname":"grey"`...)
	default:
		b = append(b, `,"cname":"terrible"`...)
	}
	b = valuetext.AppendObject(append(b, `,"args":{"arguments":`...), c.Args)
	if c.returned() {
		b = valuetext.AppendObject(append(b, `,"results":`...), c.Results)
	} else {
		b = printable.AppendJSON(append(b, `,"end":`...), c.End)
	}
	if c.Stack != nil {
		b = appendJSON(append(b, `,"stack":`...), &c.Stack)
	}
	return fmt.Appendf(b, `,"thread":%d,"cpu":%d}}`, c.TID, c.CPU)
}
