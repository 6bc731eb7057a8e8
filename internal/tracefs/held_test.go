package tracefs

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestHeldByOthers checks sessions on kernels up to 5.4.0, on which any open trace_pipe keeps all instances busy.
// Close succeeds and deletes the events. The instance is removed after the pipe is closed, by the same process or by
// a sweep of another one.
func TestHeldByOthers(t *testing.T) {
	for _, sweeps := range []bool{false, true} {
		f, fake := newFake(t)
		s := start(t, f, Options{})
		name := s.Name
		fake.held = true
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if got, want := fake.left(), []string{"instance " + name}; !slices.Equal(got, want) {
			t.Errorf("left %q, want %q", got, want)
		}
		for file, want := range map[string]string{"events/enable": "0", "buffer_size_kb": "1"} {
			if got, err := f.readTrimmed("instances", name, file); err != nil || got != want {
				t.Errorf("%s: %q, %v", file, got, err)
			}
		}
		if err := f.RemoveHeld(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("remove: %v", err)
		}
		fake.held = false
		var err error
		if sweeps {
			_, err = f.sweep(Leftover{Name: name, instance: true})
		} else {
			err = f.RemoveHeld()
		}
		if left := fake.left(); err != nil || len(left) > 0 {
			t.Errorf("then %v, left %q", err, left)
		}
	}
}

// TestSweepHeldByOthers checks that Sweep disables and deletes the events of a killed run even if the instance stays.
func TestSweepHeldByOthers(t *testing.T) {
	f, fake := newFake(t)
	name := dead(1)
	remains(t, f, name, true, true)
	enabled := "instances/" + name + "/events/" + name + "/enable"
	fake.put("instances/"+name+"/events/"+name+"/e/enable", "1\n")
	fake.held = true
	fake.put(enabled, "1\n")
	for _, first := range []bool{true, false} {
		if gone, err := f.Sweep(); err != nil || len(gone) > 0 != first {
			t.Errorf("swept %+v, %v", gone, err)
		}
	}
	if got, want := fake.left(), []string{"instance " + name}; !slices.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
	if err := f.RemoveHeld(); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("remove: %v", err)
	}
}

// TestOwnPipesFirst checks two sessions of one process: the first Close can't remove its instance while the other
// pipe is open, and does not wait for it.
func TestOwnPipesFirst(t *testing.T) {
	f, fake := newFake(t)
	var sessions []*Session
	for range 2 {
		events := testEvents()
		for i := range events {
			events[i].Name += string(rune('a' + len(sessions)))
		}
		s, err := Start(t.Context(), f, Target{Path: "/bin/true"}, events, Options{})
		fixture.NoError(t, err)
		sessions = append(sessions, s)
	}
	fake.held = true
	if err := sessions[0].Close(); err != nil {
		t.Errorf("close the first: %v", err)
	}
	fake.held = false
	if err := errors.Join(sessions[1].Close(), f.RemoveHeld()); err != nil || len(fake.left()) > 0 {
		t.Errorf("close the second: %v, left %q", err, fake.left())
	}
}
