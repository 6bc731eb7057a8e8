package tracefs

import (
	"fmt"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/machine"
)

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
		{machine.Counter, 4 * time.Millisecond, 7, 0},
	} {
		f, fake := newFake(t)
		f.files = &ticking{fakeFiles: fake, step: c.step, every: c.every}
		s, _, err := newSession(f, Target{}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.clocks.Choose(c.clock)
		if base, err := s.Timebase(); err != nil && c.clock != machine.Counter || base.Step != c.want {
			t.Errorf("%+v: found %v, %v", c, base.Step, err)
		}
	}
}
