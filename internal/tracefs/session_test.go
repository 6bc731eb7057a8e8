package tracefs

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

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
