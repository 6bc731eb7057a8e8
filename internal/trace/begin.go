package trace

import (
	"cmp"
	"context"
	"math"
	"time"
)

// readMargin is how long before [Options].At the last read must begin: a read takes about 20 ms.
const readMargin = 40 * time.Millisecond

// armingTime estimates an upper bound of the time to arm a number of probes: 1 s plus a part that grows with the square
// of the number.
func armingTime(probes int) time.Duration {
	many := float64(probes) / 1500
	return time.Duration((1 + min(many*many, 3600)) * float64(time.Second))
}

// sleep waits until a time of the system clock, which may be set meanwhile. It returns ctx's error if ctx ends first.
func sleep(ctx context.Context, until time.Time) error {
	for {
		left := time.Until(until)
		if left <= 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(left, time.Second)):
		}
	}
}

// awaitPlacing waits until it is time to place the probes for [Options].At. It does not place them earlier, because
// probes slow the program down.
func (l *Live) awaitPlacing(ctx context.Context) error {
	if l.opt.At.IsZero() {
		return nil
	}
	from := l.opt.At.Add(-armingTime(l.plan.Probes()))
	if time.Until(from) > 0 {
		l.opt.Say("waits until %s to place the probes", from.Format("15:04:05.000"))
	}
	return sleep(ctx, from)
}

// awaitStart waits until [Options].At. It reads and drops the events recorded until then, so that the ring buffer has
// room when the window begins.
func (l *Live) awaitStart(ctx context.Context) error {
	if l.opt.At.IsZero() {
		return nil
	}
	if late := time.Since(l.opt.At); late > 0 {
		l.opt.Warn("the probes were in place " + late.Round(time.Millisecond).String() + " late: measuring begins now")
		return nil
	}
	l.opt.Say("the probes are in place: measuring begins at %s", l.opt.At.Format("15:04:05.000"))
	l.stream.Begin(l.session.Began, math.MaxUint64)
	for time.Until(l.opt.At) > readMargin {
		for it, err := range l.stream.Read(ctx) {
			if err != nil || ctx.Err() != nil {
				return cmp.Or(ctx.Err(), err)
			}
			l.handle(it) // events before the window do not count, but the process filter learns from them
		}
	}
	return sleep(ctx, l.opt.At)
}
