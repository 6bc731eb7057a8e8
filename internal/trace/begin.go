package trace

import (
	"cmp"
	"context"
	"math"
	"time"
)

// shortly is how long before [Options].At the last read returns: it takes some 20 ms.
const shortly = 40 * time.Millisecond

// placing is how long it may take to place so many probes: a second, and for many the square of their number.
func placing(probes int) time.Duration {
	many := float64(probes) / 1500
	return time.Duration((1 + min(many*many, 3600)) * float64(time.Second))
}

// sleep waits until a moment of the system's clock, which may be set meanwhile, or for the end of ctx.
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

// awaitPlacing waits until it is time to place the probes, which cost the program something from then on.
func (l *Live) awaitPlacing(ctx context.Context) error {
	if l.opt.At.IsZero() {
		return nil
	}
	from := l.opt.At.Add(-placing(l.plan.Probes()))
	if time.Until(from) > 0 {
		l.opt.Say("waits until %s to place the probes", from.Format("15:04:05.000"))
	}
	return sleep(ctx, from)
}

// awaitAt reads what is recorded before the window is to begin, so that there is room for what comes in it.
func (l *Live) awaitAt(ctx context.Context) error {
	if l.opt.At.IsZero() {
		return nil
	}
	if late := time.Since(l.opt.At); late > 0 {
		l.opt.Warn("the probes were in place " + late.Round(time.Millisecond).String() + " late: measuring begins now")
		return nil
	}
	l.opt.Say("the probes are in place: measuring begins at %s", l.opt.At.Format("15:04:05.000"))
	l.stream.Begin(l.session.Began, math.MaxUint64)
	for time.Until(l.opt.At) > shortly {
		for it, err := range l.stream.Read(ctx) {
			if err != nil || ctx.Err() != nil {
				return cmp.Or(ctx.Err(), err)
			}
			l.told(it) // which is of before the window, but may tell which processes are wanted
		}
	}
	return sleep(ctx, l.opt.At)
}
