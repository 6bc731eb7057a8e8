package clocks

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Reading is one simultaneous reading of the trace clock, in its units, and of the system's.
type Reading struct {
	Ticks uint64
	At    time.Time
}

// Now reads both clocks once. Width is how long that took. In per-CPU stats the trace clock's is
// "now ts: 1988767667996" for a counter, "now ts:   447.809285" (seconds) for the
// rest (kernel/trace/trace.c, tracing_stats_read).
func (c *Comparison) Now() (now Reading, width time.Duration, err error) {
	before := time.Now()
	b, err := c.Stats()
	width = time.Since(before)
	now.At = before.Add(width / 2)
	if err == nil {
		now.Ticks, err = present(string(b))
	}
	if err != nil {
		err = fmt.Errorf("read clock: %w", err)
	}
	return now, width, err
}

func present(stats string) (uint64, error) {
	_, after, ok := strings.Cut(stats, "now ts:")
	if !ok {
		return 0, errors.New("no line \"now ts:\"")
	}
	line, _, _ := strings.Cut(after, "\n")
	return Ticks(strings.TrimSpace(line))
}

// Ticks reads a time of the trace clock as per-CPU stats print it: a count, or
// seconds with six digits behind the point.
func Ticks(text string) (uint64, error) {
	whole, micro, isTime := strings.Cut(text, ".")
	n, err := strconv.ParseUint(whole, 10, 64)
	if err != nil || !isTime {
		return n, err
	}
	us, err := strconv.ParseUint(micro, 10, 32)
	if err == nil && n > math.MaxInt64/1_000_000_000-1 {
		err = strconv.ErrRange
	}
	return n*1e9 + us*1e3, err
}

// closest reads both clocks several times and returns the closest reading: one may be
// interrupted between the two.
func (c *Comparison) closest() (best Reading, err error) {
	narrowest := time.Duration(math.MaxInt64)
	for range 9 {
		now, width, e := c.Now()
		if e != nil {
			err = e
		} else if width < narrowest {
			best, narrowest = now, width
		}
	}
	if narrowest < math.MaxInt64 {
		err = nil
	}
	return best, err
}

// coarseStep is what a clock that follows the timer's interrupts goes by at least.
const coarseStep = time.Millisecond

// step is how far the trace clock goes at a time, where that is coarseStep or more: see
// [Timebase].Step.
func (c *Comparison) step() (least time.Duration, err error) {
	if c.base.Clock == Counter {
		return 0, nil
	}
	for last, changes, tries := uint64(0), 0, 0; changes < 4 && tries < 100_000; tries++ {
		now, _, err := c.Now()
		if err != nil {
			return 0, err
		}
		step := time.Duration(now.Ticks - last)
		last = now.Ticks
		if step == 0 {
			continue
		}
		// The first was not seen to begin.
		if changes++; changes > 2 && (least == 0 || step < least) {
			least = step
		}
		if changes > 1 && step < coarseStep {
			return 0, nil
		}
	}
	return least, nil
}
