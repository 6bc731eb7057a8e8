package tracefs

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestBufferKB(t *testing.T) {
	for _, c := range []struct {
		name, meminfo, online string
		want                  int
	}{
		{"plenty", "MemAvailable: 24000000 kB\n", "0-1", 16 << 10},
		{"many CPUs", "MemTotal: 99 kB\nMemAvailable:   33554432 kB\n", "0-255", 8 << 10},
		{"some are off", "MemAvailable: 33554432 kB\n", "0-130,133", 15887},
		{"little memory", "MemAvailable: 16384 kB\n", "0-3", 256},
		{"hardly any", "MemAvailable: 100 kB\n", "0", 64},
		{"before Linux 3.14", "MemTotal: 99 kB\n", "0", 16 << 10},
		{"no files", "", "", 16 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &machine{root: t.TempDir()}
			for file, text := range map[string]string{"/proc/meminfo": c.meminfo, "/sys/devices/system/cpu/online": c.online} {
				if text == "" {
					continue
				}
				if err := os.MkdirAll(m.root+file[:strings.LastIndexByte(file, '/')], 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(m.root+file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got := m.bufferKB(); got != c.want {
				t.Errorf("%d KB, want %d", got, c.want)
			}
		})
	}
}

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
		s := &Session{fs: &FS{ops: ops}}
		if err := s.resize(c.chosenKB); (err == nil) != c.ok || c.chosenKB > 0 && len(ops.tried) != 1 {
			t.Errorf("%d KB of %s: tried %v, %v", c.chosenKB, c.limit, ops.tried, err)
		}
	}
}

// TestTopLevelGrows: the buffer that everybody shares is not left small for good.
func TestTopLevelGrows(t *testing.T) {
	for size, want := range map[string]string{"7 (expanded: 1408)\n": "0", "1408\n": ""} {
		f, fake := newFake(t)
		fake.put("buffer_size_kb", size)
		s := &Session{fs: f, name: "ftgo_1_2_3", features: Features{Instances: true}}
		fake.put("instances/ftgo_1_2_3/events/enable", "")
		if err := s.growTopLevel(); err != nil {
			t.Fatal(err)
		}
		if got, err := f.readTrimmed("instances", s.name, "events", "enable"); err != nil || got != want {
			t.Errorf("%q: the instance was told %q, %v, want %q", size, got, err, want)
		}
	}
}
