package tracefs

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func moreEvents() []Event {
	return []Event{
		{Name: "entry2_0123456789", Sites: []uint64{0x40, 0x50}},
		{Name: "return3_0123456789", Sites: []uint64{0x60}},
	}
}

// extended starts a session and adds events, as far as that goes.
func extended(t *testing.T, f *FS) (*Session, error) {
	t.Helper()
	s, err := Start(t.Context(), f, Target{Path: "/bin/true"}, testEvents(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Extend(t.Context(), moreEvents()); err != nil {
		return s, err
	}
	s.Join(moreEvents())
	return s, s.Arm(t.Context(), moreEvents())
}

// TestExtendFailsAtEachStep: nothing is left, wherever the adding of events ends.
func TestExtendFailsAtEachStep(t *testing.T) {
	f, fake := newFake(t)
	s, err := Start(t.Context(), f, Target{Path: "/bin/true"}, testEvents(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	started := len(fake.log)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for step := 1; ; step++ {
		f, fake := newFake(t)
		fake.failAt = started + step
		s, err := extended(t, f)
		done := len(fake.log) < fake.failAt
		if done != (err == nil) || err != nil && !errors.Is(err, fake.err) {
			t.Errorf("step %d: error %v", step, err)
		}
		fake.failAt = 0
		if err := s.Close(); err != nil {
			t.Errorf("step %d: close: %v", step, err)
		}
		if left := fake.left(); len(left) > 0 {
			t.Errorf("step %d failed: left %q", step, left)
		}
		if done {
			if step < 4 {
				t.Errorf("only %d steps: %q", step, fake.log[started:])
			}
			return
		}
	}
}

// TestArmNone: no events are none, and not all of a session.
func TestArmNone(t *testing.T) {
	f, fake := newFake(t)
	s, err := extended(t, f)
	if err != nil {
		t.Fatal(err)
	}
	before := len(fake.log)
	if err := errors.Join(s.Disarm(nil), s.Arm(t.Context(), nil)); err != nil || len(fake.log) != before {
		t.Errorf("%v, %q", err, fake.log[before:])
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestExtendOrder: what was added last is disarmed first, and nothing is removed before
// the instance is.
func TestExtendOrder(t *testing.T) {
	f, fake := newFake(t)
	s, err := extended(t, f)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Disarm(moreEvents()), s.Close()); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, l := range fake.log {
		name, value, ok := strings.Cut(l, "/enable ")
		if ok {
			order = append(order, name[strings.LastIndexByte(name, '/')+1:strings.LastIndexByte(name, '_')]+" "+value)
		} else if strings.Contains(l, "-:") || strings.HasPrefix(l, "rmdir") {
			order = append(order, l[:len("rmdir")])
		}
	}
	want := []string{
		"return0 1", "entry0 1", "return3 1", "entry2 1",
		"entry2 0", "return3 0", // Disarm
		"entry2 0", "return3 0", "entry0 0", "return0 0",
		"rmdir", "appen", "appen", "appen", "appen",
	}
	if !slices.Equal(order, want) {
		t.Errorf("order\n%s\nwant\n%s", strings.Join(order, "\n"), strings.Join(want, "\n"))
	}
}

func TestExtendRefuses(t *testing.T) {
	f, _ := newFake(t)
	s, err := Start(t.Context(), f, Target{Path: "/bin/true"}, testEvents(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Extend(t.Context(), []Event{{Name: "none"}}); err == nil {
		t.Error("an event without a site is accepted")
	}
	vetoed := errors.New("changed")
	s.target.Unchanged = func() error { return vetoed }
	if err := s.Extend(t.Context(), moreEvents()); !errors.Is(err, vetoed) {
		t.Errorf("extend: %v, want %v", err, vetoed)
	}
}
