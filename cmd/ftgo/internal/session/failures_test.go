package session

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/target"
)

// TestFailures checks that a failed file is tried again in growing intervals, and reported if it keeps failing. A
// file without the functions is reported at once, and not tried again.
func TestFailures(t *testing.T) {
	all, now := make(failures), time.Unix(1_800_000_000, 0)
	f := target.File{Path: "/bin/shop", Inode: procfs.Inode{Device: 1, Number: 2}, Size: 3}
	if !all.due(f, now) {
		t.Error("a file that has not failed is not tried")
	}
	torn := errors.New("torn")
	var tries []time.Duration
	var told []string
	for began := now; now.Sub(began) < 2*time.Minute; now = now.Add(50 * time.Millisecond) {
		if all.due(f, now) {
			tries = append(tries, now.Sub(began))
			if text := all.fail(f, false, torn, now); text != "" {
				told = append(told, fmt.Sprint(text, " after ", now.Sub(began)))
			}
		}
	}
	if fmt.Sprint(tries) != "[0s 100ms 300ms 700ms 1.5s 3.1s 6.3s 12.7s 25.5s 51.1s 1m21.1s 1m51.1s]" {
		t.Errorf("tried after %v", tries)
	}
	if fmt.Sprint(told) != "[torn after 700ms]" {
		t.Errorf("told %q", told)
	}
	f.Size++
	if !all.due(f, now) {
		t.Error("a file that has changed is not tried")
	}
	if text := all.fail(f, false, fmt.Errorf("no main.a: %w", target.ErrNothing), now); text == "" {
		t.Error("what has vanished is not told")
	}
	if all.due(f, now.Add(time.Hour)) {
		t.Error("what is not in a file is looked for again")
	}
	f.Size++
	for range 9 {
		all.due(f, now)
		all.fail(f, true, torn, now)
	}
	now = now.Add(2 * time.Hour)
	if all.fail(f, true, torn, now); !all.due(f, now.Add(firstPause)) {
		t.Error("what was armed for long is not tried soon")
	}
}

// TestFailuresOfSeveral checks that files that fail at the same time do not remove each other's failures, that a file
// that fails shortly after each arming is reported once and tried less and less often, and that few failures are kept.
func TestFailuresOfSeveral(t *testing.T) {
	for _, armed := range []bool{false, true} {
		all, now := make(failures), time.Unix(1_800_000_000, 0)
		files := []target.File{{Path: "/bin/a", Inode: procfs.Inode{Number: 1}}, {Path: "/bin/b", Inode: procfs.Inode{Number: 2}}}
		tries, told := 0, 0
		for began := now; now.Sub(began) < 10*time.Minute; now = now.Add(500 * time.Millisecond) {
			for _, f := range files {
				if all.due(f, now) {
					tries++
					if all.fail(f, armed, errors.New("torn"), now.Add(300*time.Millisecond)) != "" {
						told++
					}
				}
			}
		}
		if tries > 60 || told != 2 {
			t.Errorf("armed %v: two files were tried %d times, and told %d times", armed, tries, told)
		}
		for i := range uint64(1000) {
			all.fail(target.File{Inode: procfs.Inode{Number: i}}, false, errors.New("torn"), now)
		}
		if len(all) > maxFailures {
			t.Errorf("%d failures are kept", len(all))
		}
	}
}
