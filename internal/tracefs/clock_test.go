package tracefs

import (
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"

	"github.com/ftgo/ftgo/testdata/setclock"
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
	reading := func(monotonic, counter time.Duration) Reading {
		return Reading{uint64(counter.Seconds() * perSecond), began.Add(monotonic)}
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
			c := Comparison{base: Timebase{Clock: Counter}, first: reading(0, 0)}
			for _, step := range steps {
				if !c.due(began.Add(step.monotonic)) {
					t.Errorf("%s: not due", step.name)
				}
				fixture.NoError(t, c.compare(reading(step.monotonic, step.counter)))
				later := reading(step.monotonic+time.Minute, step.counter+time.Minute)
				if diff := c.base.Wall(later.Ticks).Sub(later.At).Abs(); diff > step.worst {
					t.Errorf("%s: a minute later it is off by %v, want %v at most", step.name, diff, step.worst)
				}
				if soon := c.base.read.At.Add(calibrateFor - 1); c.due(soon) {
					t.Errorf("%s: due at once again", step.name)
				}
			}
			if rate := float64(s) / perSecond; name == "another counter" && (c.base.nsPerTick > 0.51*rate || c.base.nsPerTick < 0.49*rate) {
				t.Errorf("its rate is %v, want %v", c.base.nsPerTick, rate/2)
			}
		})
	}
	if err := (&Comparison{base: Timebase{Clock: Counter}, first: reading(0, hour)}).compare(reading(hour, 0)); err == nil {
		t.Error("a counter that runs backwards is no error")
	}
}

// TestClockSet: what is told of a stamp follows the system's clock as soon as that was set, while durations stay what they were.
func TestClockSet(t *testing.T) {
	const second, hour = time.Second, time.Hour
	began := time.Now()
	c := Comparison{base: Timebase{Clock: Monotonic}}
	ticks := func(after time.Duration) uint64 { return uint64(hour + after) }
	compare := func(after, ahead time.Duration) Reading {
		now := Reading{ticks(after), setclock.By(began.Add(after), ahead)}
		fixture.NoError(t, c.compare(now))
		return now
	}
	c.first = compare(0, 0)
	compare(hour, 0)
	for i, ahead := range []time.Duration{0, 3 * hour, -5 * hour, -5*hour + leastSet, 0} {
		after := hour + time.Duration(i+1)*second
		now := setclock.By(began.Add(after), ahead)
		if due := c.due(now); due != (i > 0) {
			t.Fatalf("set to %v: due is %v", ahead, due)
		}
		before := c.base.Duration(ticks(0), ticks(after))
		compare(after, ahead)
		if off := c.base.Wall(ticks(after)).Round(0).Sub(now.Round(0)); off != 0 {
			t.Errorf("set to %v: off by %v", ahead, off)
		}
		if d := c.base.Duration(ticks(0), ticks(after)); d != before || d != after {
			t.Errorf("set to %v: %v took %v", ahead, after, d)
		}
		if c.due(now.Add(second / 2)) {
			t.Errorf("set to %v: due at once again", ahead)
		}
	}
}

func TestPresent(t *testing.T) {
	for text, want := range map[string]uint64{
		"oldest event ts: 0\nnow ts: 1988767667996\ndropped events: 0\n": 1988767667996,
		"oldest event ts:     0.000000\nnow ts:   447.809285\n":          447809285000,
	} {
		if got, err := present(text); err != nil || got != want {
			t.Errorf("present(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, bad := range []string{"", "now ts: x\n", "now ts: 1.x\n"} {
		if _, err := present(bad); err == nil {
			t.Errorf("present(%q): no error", bad)
		}
	}
}

func TestTimebase(t *testing.T) {
	t0 := time.Unix(1000, 0)
	b, err := NewTimebase("x86-tsc", Reading{1000, t0}, Reading{4000, t0.Add(time.Microsecond)})
	fixture.NoError(t, err)
	if d := b.Duration(10, 3010); d != time.Microsecond {
		t.Errorf("3000 ticks are %v, want 1µs", d)
	}
	if w := b.Wall(1000); !w.Equal(t0) {
		t.Errorf("tick 1000 was at %v, want %v", w, t0)
	}
	if _, err := NewTimebase("x86-tsc", Reading{5, t0}, Reading{5, t0.Add(time.Second)}); err == nil {
		t.Error("a counter that stands still was accepted")
	}
	b, err = NewTimebase("mono", Reading{5, t0}, Reading{9, t0})
	if err != nil || b.Duration(1, 1001) != time.Microsecond {
		t.Errorf("mono: 1000 ns are %v, %v", b.Duration(1, 1001), err)
	}
}
