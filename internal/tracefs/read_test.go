package tracefs

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestReadPages checks that an empty page follows the pages of each CPU, that a stopped session is read to its end,
// and that a read ends with its context.
func TestReadPages(t *testing.T) {
	f, _ := newFake(t)
	s := start(t, f, Options{Raw: true})
	defer s.Close()
	type got struct {
		cpu  int
		page string
	}
	var pages []got
	take := func(cpu int, page []byte) { pages = append(pages, got{cpu, string(page)}) }
	n, err := s.ReadPages(t.Context(), take)
	if want := []got{{0, "page of 0"}, {0, ""}, {1, ""}}; n != 1 || err != nil || !slices.Equal(pages, want) {
		t.Errorf("%d, %v: %v, want %v", n, err, pages, want)
	}
	if n, err := s.ReadPages(t.Context(), take); n != 0 || err != nil {
		t.Errorf("nothing more to read: %d, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	for range 1000 {
		if _, err = s.ReadPages(ctx, take); err != nil {
			break
		}
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	s.Stop()
	fixture.Receive(t, s.stopped)
	if n, err := s.ReadPages(t.Context(), take); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
}

// TestFormats checks that a raw session returns the formats of its events in their order.
func TestFormats(t *testing.T) {
	f, fake := newFake(t)
	s := start(t, f, Options{Raw: true})
	defer s.Close()
	for _, ev := range testEvents() {
		fake.put(filepath.Join("instances", s.Name, "events", s.Name, ev.Name, "format"), "of "+ev.Name)
	}
	want := []string{"of entry0_0123456789", "of return0_0123456789"}
	if got, err := s.Formats(); err != nil || !slices.Equal(got, want) {
		t.Errorf("formats %q, %v; want %q", got, err, want)
	}
}

// TestKernelEvents checks that no kernel event is enabled before set_event_pid restricts it.
func TestKernelEvents(t *testing.T) {
	f, fake := newFake(t)
	k, err := StartKernel(f, []string{"sched:sched_switch"}, 0, true)
	fixture.NoError(t, err)
	at := func(word string) int {
		return slices.IndexFunc(fake.log, func(l string) bool { return strings.Contains(l, word) })
	}
	if pids, on := at("/set_event_pid"), at("sched_switch/enable 1"); pids < 0 || on < pids {
		t.Errorf("order of writes: %q", fake.log)
	}
	if texts, err := k.Formats(); err != nil || !slices.Equal(texts, []string{"ID: 1\n"}) {
		t.Errorf("formats %q, %v", texts, err)
	}
	if err := k.Close(); err != nil || len(fake.left()) > 0 {
		t.Errorf("close: %v, left %q", err, fake.left())
	}
}
