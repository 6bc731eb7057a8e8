package recording

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ftgo/ftgo/internal/tracefs"
)

// moment is a simultaneous reading of CLOCK_MONOTONIC and the trace clock, and of the kernel's counters after that.
type moment struct {
	known bool
	ns    int64         // CLOCK_MONOTONIC
	ticks uint64        // trace clock, in the units of events' times
	width time.Duration // time that the reading took: ns is accurate to half of it
	back  bool          // ticks is less than an earlier reading
	hits  [][]uint64    // as in [Recording.Profile]; nil if the counters were not read
	pass  time.Duration // time that reading the counters took
}

// clock parses "LABEL NS TICKS NS": CLOCK_MONOTONIC before and after a reading of the trace clock. For each label it
// keeps the reading that took the shortest time.
func (r *Recording) clock(text string) error {
	var label, ticks string
	var before, after int64
	n, _ := fmt.Sscanf(text, "%s %d %s %d", &label, &before, &ticks, &after)
	m := r.moments[label]
	if n != 4 || after < before || m == nil {
		return fmt.Errorf("read recording: clock %q", shorten(text))
	}
	t, err := tracefs.Ticks(ticks)
	if err != nil {
		return fmt.Errorf("read recording: clock %q: %w", shorten(text), err)
	}
	// A shell reads the digits one by one while the clock advances. Between 1999 and 2003 it may read 1003, which is
	// too small, but it never reads too large a number. If all readings of a label are less than newest, the clock
	// itself went back.
	r.newest = max(r.newest, t)
	width, back := time.Duration(after-before), t < r.newest
	if !m.known || m.back && !back || m.back == back && width < m.width {
		m.known, m.ns, m.ticks, m.width, m.back = true, before+(after-before)/2, t, width, back
	}
	return nil
}

// Times holds the window of a recording and its clock.
type Times struct {
	Base tracefs.Timebase
	// Jumped: the clocks diverged, for example because the machine slept.
	Jumped bool
	// First is a time of the trace clock before the first event.
	First uint64
	// From and Until are the begin and end of the window. If Windowed is false, the recording has no window, and they
	// are the moments "armed" and "ended", without the kernel's counters.
	From, Until tracefs.Mark
	Windowed    bool
}

// Times computes the window of the recording in the time of day.
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

// timebase computes the relation between the trace clock and the time of day.
//
// The rate of the trace clock is most accurate from the first and the last reading. But if the machine slept in
// between, CLOCK_MONOTONIC stood still, while the trace clock continued or was reset. The "armed" reading shows whether
// the machine slept. If it did, timebase uses the rate from "first" to "armed", which is less accurate, because these
// readings are close together.
func (r *Recording) timebase() (base tracefs.Timebase, jumped bool, err error) {
	wall, _ := strconv.ParseInt(r.Facts["wall"], 10, 64)
	reading := func(label string) tracefs.Reading {
		m := r.moments[label]
		return tracefs.Reading{Ticks: m.ticks, At: time.Unix(0, m.ns+wall)}
	}
	clock := r.Facts["trace-clock"]
	first, armed := reading("first"), reading("armed")
	early, err := tracefs.NewTimebase(clock, first, armed)
	if !r.moments["ended"].known {
		return early, false, err
	}
	whole, wholeErr := tracefs.NewTimebase(clock, first, reading("ended"))
	if err != nil {
		return whole, false, wholeErr // "first" and "armed" are too close together for a comparison
	}
	between := armed.At.Sub(first.At)
	off := whole.Duration(first.Ticks, armed.Ticks) - between
	// The kernel may slew CLOCK_MONOTONIC by up to 500 parts in a million.
	width := r.moments["first"].width + r.moments["armed"].width
	if wholeErr != nil || off.Abs() > width+between/1000 {
		return early, true, nil
	}
	return whole, false, nil
}
