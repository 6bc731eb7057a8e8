package threads

import (
	"os"
	"testing"
)

// TestOfLines: the kernel's note of a thread may be that of an earlier thread.
func TestOfLines(t *testing.T) {
	self := os.Getpid()
	const gone = 1 << 30 // above any pid_max
	type line struct{ tid, printed, want int }
	for _, c := range []struct {
		name  string
		lines []line
	}{
		{"noted", []line{{self, self, self}, {self, self, self}}},
		{"not noted yet", []line{{self, 0, self}, {self, self, self}}},
		{"noted for an earlier thread of this number", []line{{self, 77, self}, {self, 77, self}, {self, self, self}}},
		{"the number goes to a thread of another process", []line{{self, self, self}, {self, 78, 78}, {self, 0, 78}}},
		{"gone", []line{{gone, 79, 79}, {gone, 79, 79}}},
		{"gone and never noted", []line{{gone, 0, 0}, {gone, 0, 0}, {gone, 80, 80}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := NewOfLines()
			for i, l := range c.lines {
				if got := o.Process(l.tid, l.printed); got != l.want {
					t.Errorf("line %d: thread %d, column %d: process %d, want %d", i, l.tid, l.printed, got, l.want)
				}
			}
		})
	}
}
