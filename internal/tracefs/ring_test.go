package tracefs

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestPassShares checks that a CPU that is never empty does not delay the others.
func TestPassShares(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"cpu0": 2 * passPages * bufferSize, "cpu1": 0} {
		fixture.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		fixture.NoError(t, os.WriteFile(filepath.Join(dir, name, "trace_pipe_raw"), make([]byte, size), 0o600))
	}
	r, err := openPages(osFiles{}, dir)
	fixture.NoError(t, err)
	defer r.close()
	for _, want := range []struct {
		n       int
		emptied bool
	}{{passPages, false}, {passPages, false}, {0, true}} {
		emptied, others := false, 0
		n, drained, err := r.pass(func(cpu int, page []byte) {
			emptied = emptied || cpu == 0 && len(page) == 0
			others += cpu
		})
		if n != want.n || emptied != want.emptied || others != 1 || err != nil || drained != want.emptied {
			t.Errorf("%d pages, %v; emptied %v, the other CPU read %d times; want %+v", n, err, emptied, others, want)
		}
	}
}

// TestOfLines checks the process of threads in text, where the TGID column may be that of an earlier thread.
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
			o := threads{known: make(map[int]thread)}
			for i, l := range c.lines {
				if got := o.Process(l.tid, l.printed); got != l.want {
					t.Errorf("line %d: thread %d, column %d: process %d, want %d", i, l.tid, l.printed, got, l.want)
				}
			}
		})
	}
}

// TestOfPages checks the process of threads in pages: /proc comes before the saved TGIDs, and these before the last
// result.
func TestOfPages(t *testing.T) {
	self := os.Getpid()
	const gone = 1 << 30 // above any pid_max
	notes, asked := map[int]int{self: 77, gone: 79}, 0
	o := threads{known: make(map[int]thread), readTGIDs: func() map[int]int { asked++; return notes }}
	o.beginPass(time.Now())
	for _, c := range []struct{ tid, want, asked int }{
		{self, self, 0}, {gone, 79, 1}, {gone + 1, 0, 1}, {self, self, 1}, {gone, 79, 1},
	} {
		if got := o.Process(c.tid, 0); got != c.want || asked != c.asked {
			t.Errorf("thread %d: process %d, notes read %d times; want %d, %d", c.tid, got, asked, c.want, c.asked)
		}
	}
	// A thread of another process gets the number, and has ended.
	notes = map[int]int{gone: 80, gone + 1: 81}
	o.beginPass(time.Now())
	if got := o.Process(gone, 0); got != 79 {
		t.Errorf("process %d: asked again too soon", got)
	}
	o.beginPass(o.passTime.Add(trustTime))
	if a, b := o.Process(gone, 0), o.Process(gone+1, 0); a != 80 || b != 81 {
		t.Errorf("processes %d, %d; want 80, 81", a, b)
	}
	// Without a saved TGID, the last result stays.
	notes = nil
	o.beginPass(o.passTime.Add(trustTime))
	if got := o.Process(gone, 0); got != 80 {
		t.Errorf("process %d, want 80", got)
	}
}

// TestManyThreads checks that the number of cached threads is limited, and that frequent ones stay.
func TestManyThreads(t *testing.T) {
	const first, often = 1 << 30, 1<<30 - 1
	asked := 0
	o := threads{known: make(map[int]thread), readTGIDs: func() map[int]int {
		asked++
		return map[int]int{often: 7}
	}}
	for i := range 20_000 {
		o.savedTGIDs = map[int]int{first + i: 1, often: 7}
		o.savedAt = o.passTime
		if got := o.Process(first+i, 0); got != 1 {
			t.Fatalf("process %d", got)
		}
		if i%1000 == 0 && o.Process(often, 0) != 7 {
			t.Fatal("what is asked for often is of another process")
		}
	}
	if n := len(o.known); n > maxThreads || asked > 0 {
		t.Errorf("%d threads are remembered", n)
	}
	if o.Forget(map[int]bool{1: true}); len(o.known) > 1 {
		t.Errorf("%d threads of a process that was forgotten", len(o.known)-1)
	}
}

func TestParseTGIDs(t *testing.T) {
	if notes := parseTGIDs("12 12\n13 12\nnonsense\n14\n"); len(notes) != 2 || notes[12] != 12 || notes[13] != 12 {
		t.Errorf("notes %v", notes)
	}
}
