package recording

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/internal/tracefs"
)

// clockReading is one simultaneous reading of CLOCK_MONOTONIC and of the trace clock, in
// the units of events' times; the zero value is none.
type clockReading struct {
	ns    int64
	ticks uint64
	width time.Duration // of the reading: ns is good to half of it
	back  bool          // it is less than one before
}

// moment is a reading of the clocks. The kernel's counters may have been read then: hits as
// [Recording.Profile] has them, in a pass that took width from clock on.
type moment struct {
	clock clockReading
	hits  [][]uint64
	width time.Duration
}

// clock reads "LABEL NS TICKS NS".
func (r *Recording) clock(text string) error {
	var label, ticks string
	var before, after int64
	n, _ := fmt.Sscanf(text, "%s %d %s %d", &label, &before, &ticks, &after)
	moment := r.moments[label]
	if n != 4 || after < before || moment == nil {
		return fmt.Errorf("read recording: clock %q", shorten(text))
	}
	t, err := machine.Ticks(ticks)
	if err != nil {
		return fmt.Errorf("read recording: clock %q: %w", shorten(text), err)
	}
	// Shells read digit by digit, while the clock goes on: between the digits of 1999 and of
	// 2003 that gives 1003, never too much. If all of a time went back, the clock did.
	r.newest = max(r.newest, t)
	now := clockReading{before + (after-before)/2, t, time.Duration(after - before), t < r.newest}
	if at := moment.clock; at == (clockReading{}) || at.back && !now.back || at.back == now.back && now.width < at.width {
		moment.clock = now
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
	t := &Times{Base: base, Jumped: jumped, First: r.moments["first"].clock.ticks, Windowed: until.hits != nil}
	if !t.Windowed {
		from, until = r.moments["armed"], r.moments["ended"]
	}
	t.From = tracefs.Mark{Ticks: from.clock.ticks, At: base.Wall(from.clock.ticks), Hits: from.hits, Width: from.width}
	length := time.Duration(max(until.clock.ns-from.clock.ns, 0))
	t.Until = tracefs.Mark{Ticks: until.clock.ticks, At: t.From.At.Add(length), Hits: until.hits, Width: until.width}
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
		c := r.moments[label].clock
		return machine.Reading{Ticks: c.ticks, At: time.Unix(0, c.ns+wall)}
	}
	clock := r.Facts["trace-clock"]
	first, armed := reading("first"), reading("armed")
	early, err := machine.NewTimebase(clock, first, armed)
	if r.moments["ended"].clock == (clockReading{}) {
		return early, false, err
	}
	whole, wholeErr := machine.NewTimebase(clock, first, reading("ended"))
	if err != nil {
		return whole, false, wholeErr // armed at once: nothing to compare with
	}
	between := armed.At.Sub(first.At)
	off := whole.Duration(first.Ticks, armed.Ticks) - between
	// Clocks that are slewed differ by up to 500 parts in a million.
	width := r.moments["first"].clock.width + r.moments["armed"].clock.width
	if wholeErr != nil || off.Abs() > width+between/1000 {
		return early, true, nil
	}
	return whole, false, nil
}
