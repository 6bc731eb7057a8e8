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

// Window returns the begin and end of the window in the time of day, and a time of the trace clock before the first
// event. If the recording has no window, from and until are the moments "armed" and "ended", without the kernel's
// counters.
func (r *Recording) Window(base tracefs.Timebase) (first uint64, from, until tracefs.Mark) {
	begin, end := r.moments["from"], r.moments["until"]
	if end.hits == nil {
		begin, end = r.moments["armed"], r.moments["ended"]
	}
	from = tracefs.Mark{Ticks: begin.ticks, At: base.Wall(begin.ticks), Hits: begin.hits, Width: begin.pass}
	length := time.Duration(max(end.ns-begin.ns, 0))
	until = tracefs.Mark{Ticks: end.ticks, At: from.At.Add(length), Hits: end.hits, Width: end.pass}
	return r.moments["first"].ticks, from, until
}

// Timebase computes the relation between the trace clock and the time of day. jumped is true if the clocks diverged, for
// example because the machine slept.
//
// The rate of the trace clock is most accurate from the first and the last reading. But if the machine slept in
// between, CLOCK_MONOTONIC stood still, while the trace clock continued or was reset. The "armed" reading shows whether
// the machine slept. If it did, Timebase uses the rate from "first" to "armed", which is less accurate, because these
// readings are close together.
func (r *Recording) Timebase() (base tracefs.Timebase, jumped bool, err error) {
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
