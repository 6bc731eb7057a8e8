package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// took is how long a call took, by a clock that may have gone back meanwhile: cycles begin
// anew when a machine wakes up.
func took(base tracefs.Timebase, c *parse.Call) time.Duration {
	return max(base.Duration(c.Start, c.End), 0)
}

// sayCoarse tells of a clock that is no good for short latencies.
func (t *tracing) sayCoarse() error {
	if t.plan.Mode != uprobe.Latency {
		return nil
	}
	step, err := t.session.ClockStep()
	if step > 0 {
		t.env.Warn(fmt.Sprintf("the trace clock %s goes in steps of %v: latencies are no more exact than that", escapedText(t.tally.base.Clock), step.Round(time.Millisecond)))
	}
	return err
}

// sayUntimed tells of calls whose latencies are none.
func (t *tracing) sayUntimed() {
	if n := t.stream.Unfollowed(); n > 0 {
		t.env.Warn(fmt.Sprintf("%s not followed to the end, and counted as lost: too many others were open when they began", cli.Plural(int(n), "call")))
	}
	if n := t.tally.clockSteppedBack; n > 0 {
		t.env.Warn(fmt.Sprintf("the trace clock %s went back during %s, whose latency is shown as 0", escapedText(t.tally.base.Clock), cli.Plural(n, "call")))
	}
}

// timebaseOf relates a recording's clock to the time of day.
//
// What it is worth in nanoseconds is known best from its two ends, unless the machine slept
// in between: then CLOCK_MONOTONIC stood still, and cycles went on, or began anew. The
// reading in the middle tells; it is close to the first, and so less exact.
func timebaseOf(rec *parse.Recording) (base tracefs.Timebase, jumped bool, err error) {
	wall, _ := strconv.ParseInt(rec.Facts["wall"], 10, 64)
	reading := func(r parse.ClockReading) tracefs.ClockReading {
		return tracefs.ClockReading{Ticks: r.Ticks, At: time.Unix(0, r.NS+wall)}
	}
	clock := rec.Facts["trace-clock"]
	first, armed := reading(rec.First), reading(rec.Armed)
	early, err := tracefs.NewTimebase(clock, first, armed)
	if rec.Ended == (parse.ClockReading{}) {
		return early, false, err
	}
	whole, wholeErr := tracefs.NewTimebase(clock, first, reading(rec.Ended))
	if err != nil {
		return whole, false, wholeErr // armed at once: nothing to compare with
	}
	between := armed.At.Sub(first.At)
	off := whole.Duration(first.Ticks, armed.Ticks) - between
	// Clocks that are slewed differ by up to 500 parts in a million.
	if wholeErr != nil || off.Abs() > rec.First.Width+rec.Armed.Width+between/1000 {
		return early, true, nil
	}
	return whole, false, nil
}
