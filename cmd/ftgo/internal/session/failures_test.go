package session

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/target"
)

// TestFailures checks that a failed file is tried again after a pause, and reported once if it keeps failing. A file without
// the functions is reported at once, and tried again only when it changes.
func TestFailures(t *testing.T) {
	all, now := make(failures), time.Unix(1_800_000_000, 0)
	f := target.File{Path: "/bin/shop", Inode: procfs.Inode{Device: 1, Number: 2}, Size: 3}
	other := target.File{Path: "/bin/b", Inode: procfs.Inode{Number: 3}}
	var tries []time.Duration
	var told []string
	for began := now; now.Sub(began) < 12*time.Second; now = now.Add(50 * time.Millisecond) {
		for _, file := range []target.File{f, other} {
			if all.due(file, now) {
				tries = append(tries, now.Sub(began))
				if text := all.fail(file, errors.New("torn"), now); text != "" {
					told = append(told, fmt.Sprint(text, " after ", now.Sub(began)))
				}
			}
		}
	}
	if fmt.Sprint(tries) != "[0s 0s 5s 5s 10s 10s]" {
		t.Errorf("tried after %v", tries)
	}
	if fmt.Sprint(told) != "[torn after 5s torn after 5s]" {
		t.Errorf("told %q", told)
	}
	f.Size++
	if !all.due(f, now) {
		t.Error("a file that has changed is not tried")
	}
	if text := all.fail(f, fmt.Errorf("no main.a: %w", target.ErrNothing), now); text == "" {
		t.Error("what has vanished is not told")
	}
	if all.due(f, now.Add(time.Hour)) {
		t.Error("what is not in a file is looked for again")
	}
	for i := range uint64(1000) {
		all.fail(target.File{Inode: procfs.Inode{Number: i}}, errors.New("torn"), now)
	}
	if len(all) > maxFailures {
		t.Errorf("%d failures are kept", len(all))
	}
}
