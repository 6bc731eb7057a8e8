package recording

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/internal/tracefs"
)

// moment is one simultaneous reading of CLOCK_MONOTONIC and of the trace clock, in the units of events' times. The
// kernel's counters may have been read then: hits as [Recording.Profile] has them, in a pass from that moment on.
type moment struct {
	known bool
	ns    int64
	ticks uint64
	width time.Duration // of the reading: ns is good to half of it
	back  bool          // ticks are fewer than before
	hits  [][]uint64
	pass  time.Duration
}

// clock reads "LABEL NS TICKS NS".
func (r *Recording) clock(text string) error {
	var label, ticks string
	var before, after int64
	n, _ := fmt.Sscanf(text, "%s %d %s %d", &label, &before, &ticks, &after)
	m := r.moments[label]
	if n != 4 || after < before || m == nil {
		return fmt.Errorf("read recording: clock %q", shorten(text))
	}
	t, err := machine.Ticks(ticks)
	if err != nil {
		return fmt.Errorf("read recording: clock %q: %w", shorten(text), err)
	}
	// Shells read digit by digit, while the clock goes on: between the digits of 1999 and of
	// 2003 that gives 1003, never too much. If all of a time went back, the clock did.
	r.newest = max(r.newest, t)
	width, back := time.Duration(after-before), t < r.newest
	if !m.known || m.back && !back || m.back == back && width < m.width {
		m.known, m.ns, m.ticks, m.width, m.back = true, before+(after-before)/2, t, width, back
	}
	return nil
}

// Times are the moments of a recording.
type Times struct {
	Base machine.Timebase
	// Jumped: the clock did, as when a machine sleeps.
	Jumped bool
	// First is the trace clock's time before anything was recorded.
	First uint64
	// From and Until are the ends of what was recorded. Windowed: they are within it, and have
	// the kernel's counters.
	From, Until tracefs.Mark
	Windowed    bool
}

// Times relates the moments of the recording to the time of day. A recording without a
// window has times from before arming to after disarming.
func (r *Recording) Times() (*Times, error) {
	base, jumped, err := r.timebase()
	if err != nil {
		return nil, err
	}
	from, until := r.moments["from"], r.moments["until"]
	t := &Times{Base: base, Jumped: jumped, First: r.moments["first"].ticks, Windowed: until.hits != nil}
	if !t.Windowed {
		from, until = r.moments["armed"], r.moments["ended"]
	}
	t.From = tracefs.Mark{Ticks: from.ticks, At: base.Wall(from.ticks), Hits: from.hits, Width: from.pass}
	length := time.Duration(max(until.ns-from.ns, 0))
	t.Until = tracefs.Mark{Ticks: until.ticks, At: t.From.At.Add(length), Hits: until.hits, Width: until.pass}
	return t, nil
}

// timebase relates the recording's clock to the time of day.
//
// What it is worth in nanoseconds is known best from its two ends, unless the machine slept
// in between: then CLOCK_MONOTONIC stood still, and cycles went on, or began anew. The
// reading in the middle tells; it is close to the first, and so less exact.
func (r *Recording) timebase() (base machine.Timebase, jumped bool, err error) {
	wall, _ := strconv.ParseInt(r.Facts["wall"], 10, 64)
	reading := func(label string) machine.Reading {
		m := r.moments[label]
		return machine.Reading{Ticks: m.ticks, At: time.Unix(0, m.ns+wall)}
	}
	clock := r.Facts["trace-clock"]
	first, armed := reading("first"), reading("armed")
	early, err := machine.NewTimebase(clock, first, armed)
	if !r.moments["ended"].known {
		return early, false, err
	}
	whole, wholeErr := machine.NewTimebase(clock, first, reading("ended"))
	if err != nil {
		return whole, false, wholeErr // armed at once: nothing to compare with
	}
	between := armed.At.Sub(first.At)
	off := whole.Duration(first.Ticks, armed.Ticks) - between
	// Clocks that are slewed differ by up to 500 parts in a million.
	width := r.moments["first"].width + r.moments["armed"].width
	if wholeErr != nil || off.Abs() > width+between/1000 {
		return early, true, nil
	}
	return whole, false, nil
}
