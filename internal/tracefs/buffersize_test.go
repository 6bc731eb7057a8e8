package tracefs

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// scarce has no memory for ring buffers beyond a size.
type scarce struct {
	files
	limit string
	tried []string
}

func (s *scarce) Write(path, text string) error {
	s.tried = append(s.tried, text)
	if len(text) > len(s.limit) || len(text) == len(s.limit) && text > s.limit {
		return &os.PathError{Op: "write", Path: path, Err: unix.ENOMEM}
	}
	return nil
}

func TestResizeWithLessMemoryThanItSeemed(t *testing.T) {
	for _, c := range []struct {
		chosenKB int
		limit    string
		ok       bool
	}{{0, "999999999", true}, {0, "200", true}, {0, "1", false}, {512, "512", true}, {512, "511", false}} {
		ops := &scarce{limit: c.limit}
		s := &Session{fs: &FS{files: ops}}
		if err := s.resize(Options{BufferKB: c.chosenKB}); (err == nil) != c.ok || c.chosenKB > 0 && len(ops.tried) != 1 {
			t.Errorf("%d KB of %s: tried %v, %v", c.chosenKB, c.limit, ops.tried, err)
		}
	}
}

// TestTopLevelGrows: the buffer that everybody shares is not left small for good.
func TestTopLevelGrows(t *testing.T) {
	for size, want := range map[string]string{"7 (expanded: 1408)\n": "0", "1408\n": ""} {
		f, fake := newFake(t)
		fake.put("buffer_size_kb", size)
		s := &Session{fs: f, Name: "ftgo_1_2_3", features: Features{Instances: true}}
		fake.put("instances/ftgo_1_2_3/events/enable", "")
		if err := s.growTopLevel(); err != nil {
			t.Fatal(err)
		}
		if got, err := f.readTrimmed("instances", s.Name, "events", "enable"); err != nil || got != want {
			t.Errorf("%q: the instance was told %q, %v, want %q", size, got, err, want)
		}
	}
}
