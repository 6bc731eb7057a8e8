package tracefs

import (
	"fmt"
	"testing"
	"time"

	"github.com/ftgo/ftgo/tracefs/internal/machine"
)

// TestClocks: the longer a session, the better the clocks' ratio is known; a machine's sleep,
// a clock that is set and a reading that was off do it no harm.
func TestClocks(t *testing.T) {
	const (
		perSecond = 2_100_000_000
		us, ms    = time.Microsecond, time.Millisecond
		s, hour   = time.Second, time.Hour
	)
	began := time.Now()
	reading := func(monotonic, counter time.Duration) sample {
		return sample{uint64(counter.Seconds() * perSecond), began.Add(monotonic)}
	}
	type step struct {
		name               string
		monotonic, counter time.Duration // of the reading
		worst              time.Duration // of what is said of a stamp a minute later
	}
	for name, steps := range map[string][]step{
		"a long session": {
			{"at first", 20*ms + 5*us, 20 * ms, 20 * ms},
			{"a second later", s - 5*us, s, 700 * us},
			{"an hour later", hour + 5*us, hour, 6 * us},
		},
		"a sleep of a day": {
			{"at first", 20 * ms, 20 * ms, us},
			{"before", hour, hour, us},
			{"after", 2 * hour, 26 * hour, us},
			{"an hour later", 3 * hour, 27 * hour, us},
		},
		"a nap after hours": {
			{"at first", 20 * ms, 20 * ms, us},
			{"before", 3 * hour, 3 * hour, us},
			{"after", 3*hour + 60*s, 3*hour + 70*s, us},
			{"a second later", 3*hour + 61*s, 3*hour + 71*s, us},
		},
		"two naps": {
			{"at first", 20 * ms, 20 * ms, us},
			{"before", 3 * hour, 3 * hour, us},
			{"after", 3*hour + 60*s, 3*hour + 70*s, us},
			{"between", 3*hour + 120*s, 3*hour + 130*s, us},
			{"after another", 3*hour + 180*s, 3*hour + 200*s, us},
		},
		"a counter that begins anew": {
			{"at first", 20 * ms, 20 * ms, us},
			{"before", 3 * hour, 3 * hour, us},
			{"after", 4 * hour, hour, us},
			{"an hour later", 5 * hour, 2 * hour, us},
		},
		"a first reading that was off": {
			{"at first", 20*ms + 100*us, 20 * ms, 400 * ms},
			{"200 ms later", 220 * ms, 220 * ms, 400 * ms},
			{"400 ms later", 420 * ms, 420 * ms, us},
		},
		"another counter": {
			{"at first", 20 * ms, 20 * ms, us},
			{"before", s, s, us},
			{"after", 2 * s, 3 * s, 2 * time.Minute},
			{"a second later", 3 * s, 5 * s, 2 * time.Minute},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := clocks{base: Timebase{Clock: machine.CounterClock}, first: reading(0, 0)}
			for _, step := range steps {
				if !c.due(began.Add(step.monotonic)) {
					t.Errorf("%s: not due", step.name)
				}
				if err := c.compare(reading(step.monotonic, step.counter)); err != nil {
					t.Fatal(err)
				}
				later := reading(step.monotonic+time.Minute, step.counter+time.Minute)
				if diff := c.base.Wall(later.ticks).Sub(later.at).Abs(); diff > step.worst {
					t.Errorf("%s: a minute later it is off by %v, want %v at most", step.name, diff, step.worst)
				}
				if soon := c.base.wall.Add(calibrateFor - 1); c.due(soon) {
					t.Errorf("%s: due at once again", step.name)
				}
			}
			if rate := float64(s) / perSecond; name == "another counter" && (c.base.nsPerTick > 0.51*rate || c.base.nsPerTick < 0.49*rate) {
				t.Errorf("its rate is %v, want %v", c.base.nsPerTick, rate/2)
			}
		})
	}
	if err := (&clocks{base: Timebase{Clock: machine.CounterClock}, first: reading(0, hour)}).compare(reading(hour, 0)); err == nil {
		t.Error("a counter that runs backwards is no error")
	}
}

// ticking is a fake whose clock goes on by a step each so many readings.
type ticking struct {
	*fakeFiles
	step  time.Duration
	every int
	reads int
}

func (c *ticking) Read(string) ([]byte, error) {
	c.reads++
	now := time.Duration(c.reads/c.every) * c.step
	return fmt.Appendf(nil, "now ts: %5d.%06d\n", now/time.Second, now%time.Second/time.Microsecond), nil
}

// TestClockStep: a clock that goes by the timer's interrupts is told from one that is read seldom.
func TestClockStep(t *testing.T) {
	for _, c := range []struct {
		clock string
		step  time.Duration
		every int
		want  time.Duration
	}{
		{"global", 4 * time.Millisecond, 7, 4 * time.Millisecond},
		{"local", 10 * time.Millisecond, 1, 10 * time.Millisecond},
		{"global", time.Microsecond, 1, 0},
		{"mono", 900 * time.Microsecond, 1, 0},
		{"global", 0, 1, 0}, // it stands still
		{machine.CounterClock, 4 * time.Millisecond, 7, 0},
	} {
		f, fake := newFake(t)
		f.ops = &ticking{fakeFiles: fake, step: c.step, every: c.every}
		s := &Session{fs: f}
		s.clocks.base.Clock = c.clock
		if got, err := s.ClockStep(); err != nil || got != c.want {
			t.Errorf("%+v: found %v, %v", c, got, err)
		}
	}
}
