package tracefs

import (
	"testing"
	"time"
)

// TestClocks: the longer a session, the better the clocks' ratio is known; a machine's sleep
// and a clock that is set do it no harm.
func TestClocks(t *testing.T) {
	began := time.Now()
	const perSecond = 2_100_000_000
	reading := func(monotonic, counter time.Duration, off time.Duration) sample {
		return sample{uint64(counter.Seconds() * perSecond), began.Add(monotonic + off)}
	}
	const hour = time.Hour
	c := clocks{base: Timebase{Clock: counterClock}, first: reading(0, 0, 0)}
	for _, step := range []struct {
		name               string
		monotonic, counter time.Duration // of the reading
		off                time.Duration // its error
		worst              time.Duration // of what is said of a stamp a minute later
	}{
		{"at first", 20 * time.Millisecond, 20 * time.Millisecond, 5 * time.Microsecond, 20 * time.Millisecond},
		{"a second later", time.Second, time.Second, -5 * time.Microsecond, 400 * time.Microsecond},
		{"an hour later", hour, hour, 5 * time.Microsecond, 6 * time.Microsecond},
		{"the machine slept for a day", 2 * hour, 26 * hour, 0, 6 * time.Microsecond},
		{"and ran on", 3 * hour, 27 * hour, 0, 6 * time.Microsecond},
		{"the counter began anew", 4 * hour, hour, 0, 6 * time.Microsecond},
		{"and ran on", 5 * hour, 2 * hour, 0, 6 * time.Microsecond},
	} {
		if !c.due(began.Add(step.monotonic)) {
			t.Errorf("%s: not due", step.name)
		}
		if err := c.compare(reading(step.monotonic, step.counter, step.off)); err != nil {
			t.Fatal(err)
		}
		later := reading(step.monotonic+time.Minute, step.counter+time.Minute, 0)
		if diff := c.base.Wall(later.ticks).Sub(later.at).Abs(); diff > step.worst {
			t.Errorf("%s: a minute later it is off by %v, want %v at most", step.name, diff, step.worst)
		}
		if soon := c.base.wall.Add(calibrateFor - 1); c.due(soon) {
			t.Errorf("%s: due at once again", step.name)
		}
	}
	if err := (&clocks{base: Timebase{Clock: counterClock}, first: reading(0, hour, 0)}).compare(reading(hour, 0, 0)); err == nil {
		t.Error("a counter that runs backwards is no error")
	}
}
