package tracefs

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// rawFake is a fake tracefs whose instances have the pages of two CPUs and formats of
// events.
type rawFake struct{ *fakeFiles }

func (f rawFake) Mkdir(path string) error {
	if err := f.fakeFiles.Mkdir(path); err != nil {
		return err
	}
	rel, err := filepath.Rel(f.root, path)
	if err != nil {
		return err
	}
	f.put(filepath.Join(rel, "per_cpu/cpu0/trace_pipe_raw"), "page of 0")
	f.put(filepath.Join(rel, "per_cpu/cpu1/trace_pipe_raw"), "")
	return nil
}

func startRaw(t *testing.T) (*Session, *fakeFiles) {
	t.Helper()
	fs, fake := newFake(t)
	fs.files = rawFake{fake}
	s, err := Start(t.Context(), fs, Target{Path: "/bin/true"}, testEvents(), Options{Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	return s, fake
}

// TestRawStartFailsAtEachStep: as with the pipe, nothing is left whatever fails.
func TestRawStartFailsAtEachStep(t *testing.T) {
	for step := 1; ; step++ {
		f, fake := newFake(t)
		f.files = rawFake{fake}
		fake.failAt = step
		before := openFiles(t)
		s, err := Start(t.Context(), f, Target{Path: "/bin/true"}, testEvents(), Options{Raw: true})
		if len(fake.log) < step {
			if err != nil {
				t.Fatalf("nothing was made to fail, but: %v", err)
			}
			opened := 0
			for _, l := range fake.log {
				if filepath.Base(l) == "trace_pipe_raw" {
					opened++
				}
			}
			if opened != 2 {
				t.Errorf("pages of %d CPUs opened, want 2: %q", opened, fake.log)
			}
			fake.failAt = 0
			if err := s.Close(); err != nil {
				t.Fatalf("close: %v", err)
			}
			return
		}
		if !errors.Is(err, fake.err) {
			t.Errorf("step %d (%s): error %v does not tell", step, fake.log[step-1], err)
		}
		if left := fake.left(); len(left) > 0 {
			t.Errorf("step %d (%s) failed: left %q", step, fake.log[step-1], left)
		}
		if after := openFiles(t); after != before {
			t.Errorf("step %d (%s) failed: %d files open, %d before", step, fake.log[step-1], after, before)
		}
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// TestReadPages: each CPU's pages are followed by an empty one, a stopped session is read
// to its end, and a context that is done is heeded.
func TestReadPages(t *testing.T) {
	s, _ := startRaw(t)
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

func TestReadPagesOfText(t *testing.T) {
	f, _ := newFake(t)
	s, err := Start(t.Context(), f, Target{Path: "/bin/true"}, testEvents(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.ReadPages(t.Context(), nil); err == nil {
		t.Error("pages of a session that reads text")
	}
	if formats, err := s.Formats(); formats != nil || err != nil {
		t.Errorf("formats %q, %v of a session that reads text", formats, err)
	}
}

func TestFormats(t *testing.T) {
	s, fake := startRaw(t)
	defer s.Close()
	if _, err := s.Formats(); err == nil {
		t.Error("formats that are not there")
	}
	for _, ev := range testEvents() {
		fake.put(filepath.Join("instances", s.Name, "events", s.Name, ev.Name, "format"), "of "+ev.Name)
	}
	want := []string{"of entry0_0123456789", "of return0_0123456789"}
	if got, err := s.Formats(); err != nil || !slices.Equal(got, want) {
		t.Errorf("formats %q, %v; want %q", got, err, want)
	}
}
