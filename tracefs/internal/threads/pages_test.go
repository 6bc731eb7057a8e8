package threads

import (
	"os"
	"testing"
	"time"
)

// TestOfPages: /proc before the kernel's notes, and either before what was believed.
func TestOfPages(t *testing.T) {
	self := os.Getpid()
	const gone = 1 << 30 // above any pid_max
	notes, asked := map[int]int{self: 77, gone: 79}, 0
	o := NewOfPages(func() map[int]int { asked++; return notes })
	o.Begin(time.Now())
	for _, c := range []struct{ tid, want, asked int }{
		{self, self, 0}, {gone, 79, 1}, {gone + 1, 0, 1}, {self, self, 1}, {gone, 79, 1},
	} {
		if got := o.Process(c.tid); got != c.want || asked != c.asked {
			t.Errorf("thread %d: process %d, notes read %d times; want %d, %d", c.tid, got, asked, c.want, c.asked)
		}
	}
	// The number goes to a thread of another process, which ends, too.
	notes = map[int]int{gone: 80, gone + 1: 81}
	o.Begin(time.Now())
	if got := o.Process(gone); got != 79 {
		t.Errorf("process %d: asked again too soon", got)
	}
	o.Begin(o.now.Add(ownerTrusted))
	if a, b := o.Process(gone), o.Process(gone+1); a != 80 || b != 81 {
		t.Errorf("processes %d, %d; want 80, 81", a, b)
	}
	// What nobody remembers any more stays.
	notes = nil
	o.Begin(o.now.Add(ownerTrusted))
	if got := o.Process(gone); got != 80 {
		t.Errorf("process %d, want 80", got)
	}
}

func TestNotes(t *testing.T) {
	if notes := Notes("12 12\n13 12\nnonsense\n14\n"); len(notes) != 2 || notes[12] != 12 || notes[13] != 12 {
		t.Errorf("notes %v", notes)
	}
}
