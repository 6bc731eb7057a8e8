package tracefs_test

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
	_ "github.com/ftgo/ftgo/offsets" // adds the processors
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
	"github.com/ftgo/ftgo/tracefs"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// symbolOffset is the file offset of a function, by the rule of .text.
func symbolOffset(t *testing.T, path, name string) uint64 {
	t.Helper()
	f, err := elf.Open(path)
	fixture.NoError(t, err)
	defer f.Close()
	syms, err := f.Symbols()
	fixture.NoError(t, err)
	text := f.Section(".text")
	for _, s := range syms {
		if s.Name == name {
			return s.Value - text.Addr + text.Offset
		}
	}
	t.Fatalf("no symbol %s", name)
	return 0
}

// register is one that the kernel knows.
var register = arch.Here().Machine().Resume.Fetch()

// target is the flood program and an event on its main.leaf, which has no frame: its
// first instruction is executed once per call.
func target(t *testing.T) (string, tracefs.Event) {
	path := fixture.Build(t, "flood")
	return path, tracefs.Event{
		Name:  "leaf_0123456789abcdef",
		Args:  []tracefs.Arg{{Name: "sp", Fetch: "%sp", Type: "s64"}, {Name: "n", Fetch: register, Type: "s64"}},
		Sites: []uint64{symbolOffset(t, path, "main.leaf")},
	}
}

// kernel is the tracefs of a test, at the end of which nothing may be left in it, and where that is.
func kernel(t *testing.T) (f *tracefs.FS, dir string) {
	t.Helper()
	dir = tracetest.Kernel(t).Dir()
	f, err := tracefs.Find()
	fixture.NoError(t, err)
	return f, dir
}

func run(t *testing.T, path string, args ...string) {
	t.Helper()
	if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestKernelSession(t *testing.T) {
	f, _ := kernel(t)
	path, ev := target(t)
	s, err := tracefs.Start(t.Context(), f, path, []tracefs.Event{ev})
	fixture.NoError(t, err)
	defer s.Close()
	run(t, path, "-n", "1009", "-g", "1")
	s.Stop()
	var text strings.Builder
	buf := make([]byte, 64<<10)
	for {
		n, err := s.Read(t.Context(), buf)
		text.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		fixture.NoError(t, err)
	}
	profile, err := s.Profile()
	fixture.NoError(t, err)
	lines := strings.Count(text.String(), ": leaf_0123456789abcdef: (0x")
	if profile[0][0] != 1009 || lines != 1009 {
		t.Errorf("%d hits, %d lines; want 1009 of each", profile[0][0], lines)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// TestKernelRefusals: what the kernel does not take is told with the word it points
// at, and nothing stays.
func TestKernelRefusals(t *testing.T) {
	f, dir := kernel(t)
	path, good := target(t)
	for _, c := range []struct {
		name string
		edit func(*tracefs.Event)
		path string
		word string
	}{
		{"unknown register", func(e *tracefs.Event) { e.Args = []tracefs.Arg{{Name: "a", Fetch: "%rax", Type: "s64"}} }, path, "%rax:s64"},
		{"unknown type", func(e *tracefs.Event) { e.Args = []tracefs.Arg{{Name: "a", Fetch: register, Type: "q9"}} }, path, "q9"},
		{"no such file", func(*tracefs.Event) {}, "/no/such/file", ""},
		{"offset beyond the file", func(e *tracefs.Event) { e.Sites = []uint64{1 << 40} }, path, ""},
		{"second of two events", func(*tracefs.Event) {}, path, "%rax:s64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ev := good
			c.edit(&ev)
			events := []tracefs.Event{ev}
			if c.name == "second of two events" {
				bad := ev
				bad.Name, bad.Args = "other_0123456789abcdef", []tracefs.Arg{{Name: "a", Fetch: "%rax", Type: "s64"}}
				events = append(events, bad)
			}
			s, err := tracefs.Start(t.Context(), f, c.path, events)
			if err == nil {
				s.Close()
				t.Fatal("accepted")
			}
			if c.word == "" {
				return
			}
			if !errors.Is(err, tracefs.ErrRefused) {
				t.Fatalf("error %v is not of a definition", err)
			}
			// Nothing tells the word without error_log, which came with Linux 5.4.
			if _, serr := os.Stat(dir + "/error_log"); serr == nil && !strings.HasSuffix(err.Error(), fmt.Sprintf(" at %q", c.word)) {
				t.Errorf("error %v does not point at %q", err, c.word)
			}
		})
	}
}

func TestKernelCancelledStart(t *testing.T) {
	f, _ := kernel(t)
	path, ev := target(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tracefs.Start(ctx, f, path, []tracefs.Event{ev}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
