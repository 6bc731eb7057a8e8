package tracefs

import (
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"

	"golang.org/x/sys/unix"
)

func TestResizeWithLessMemoryThanItSeemed(t *testing.T) {
	for _, c := range []struct {
		chosenKB, limit int
		ok              bool
	}{{0, 1 << 30, true}, {0, 200, true}, {0, 1, false}, {512, 512, true}, {512, 511, false}} {
		f, fake := newFake(t)
		s := &Session{fs: f}
		tried := 0
		fake.hook = func(_, _, text string) error {
			tried++
			if kb, _ := strconv.Atoi(text); kb > c.limit {
				return unix.ENOMEM
			}
			return nil
		}
		if err := s.resize(Options{BufferKB: c.chosenKB}); (err == nil) != c.ok || c.chosenKB > 0 && tried != 1 {
			t.Errorf("%+v: tried %d times, %v", c, tried, err)
		}
	}
}

// TestTopLevelGrows checks that the top level's ring buffer is expanded.
func TestTopLevelGrows(t *testing.T) {
	for size, want := range map[string]string{"7 (expanded: 1408)\n": "0", "1408\n": ""} {
		f, fake := newFake(t)
		fake.put("buffer_size_kb", size)
		s := &Session{fs: f, Name: "ftgo_1_2_3", features: Features{Instances: true}}
		fake.put("instances/ftgo_1_2_3/events/enable", "")
		fixture.NoError(t, s.expandTopLevel())
		if got, err := f.readTrimmed("instances", s.Name, "events", "enable"); err != nil || got != want {
			t.Errorf("%q: the instance was told %q, %v, want %q", size, got, err, want)
		}
	}
}

// TestCloseAfterStop checks that Close waits for Stop before it removes anything.
func TestCloseAfterStop(t *testing.T) {
	f, fake := newFake(t)
	s := start(t, f, Options{})
	var busy atomic.Bool
	begun, meanwhile := make(chan struct{}), atomic.Int32{}
	fake.hook = func(op, name, text string) error {
		if busy.Load() {
			meanwhile.Add(1)
		}
		if strings.HasSuffix(name, "entry0_0123456789/enable") { // the first event to be disarmed
			busy.Store(true)
			close(begun)
			time.Sleep(100 * time.Millisecond)
			busy.Store(false)
		}
		return nil
	}
	s.Stop()
	<-begun
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n := meanwhile.Load(); n > 0 {
		t.Errorf("%d accesses while Stop was under way", n)
	}
	if left := fake.left(); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// TestProgress checks that Progress is called for many events, and not for few.
func TestProgress(t *testing.T) {
	for n, want := range map[int]string{maxUnreported: "", maxUnreported + 2: "probes defined probes placed events disarmed events removed"} {
		f, _ := newFake(t)
		var told []string
		f.Progress = func(what string, done, of int) {
			if of != n || done >= n {
				t.Errorf("%s: %d of %d, not of %d", what, done, of, n)
			}
			if !slices.Contains(told, what) {
				told = append(told, what)
			}
		}
		s, err := Start(t.Context(), f, Target{Path: "/bin/true"}, alone(n), Options{})
		fixture.NoError(t, err)
		fixture.NoError(t, s.Close())
		if got := strings.Join(told, " "); got != want {
			t.Errorf("%d events: told of %q, want %q", n, got, want)
		}
	}
}
