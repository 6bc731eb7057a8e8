package clocks

import (
	"errors"
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

// A reader reads both clocks once. Width is how long that took.
type reader = func() (now Reading, width time.Duration, err error)

// Read reads both clocks once. stats reads a per-CPU stats file, in which the trace clock's is
// "now ts: 1988767667996" for a counter, "now ts:   447.809285" (seconds) for the
// rest (kernel/trace/trace.c, tracing_stats_read).
func Read(stats func() ([]byte, error)) (now Reading, width time.Duration, err error) {
	before := time.Now()
	b, err := stats()
	width = time.Since(before)
	if err == nil {
		now.Ticks, err = present(string(b))
	}
	if err != nil {
		return now, width, err
	}
	now.At = before.Add(width / 2)
	return now, width, nil
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

// Closest reads both clocks several times and returns the closest reading: one may be
// interrupted between the two.
func Closest(read reader) (Reading, error) {
	best, width := Reading{}, time.Duration(-1)
	var failed error
	for range 9 {
		now, w, err := read()
		if err != nil {
			failed = err
		} else if width < 0 || w < width {
			best, width = now, w
		}
	}
	if width < 0 {
		return Reading{}, failed
	}
	return best, nil
}

// coarseStep is what a clock that follows the timer's interrupts goes by at least.
const coarseStep = time.Millisecond

// Step is how far the trace clock goes at a time, where that is a millisecond or more: some
// machines have nothing but the timer's interrupts to tell the time by, and then no latency is
// known any better. It is 0 for all others, but not to be asked of the
// [Counter].
func Step(read reader) (time.Duration, error) {
	least := time.Duration(0)
	for last, changes, tries := uint64(0), 0, 0; changes < 4 && tries < 100_000; tries++ {
		now, _, err := read()
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
