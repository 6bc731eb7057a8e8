package session

import (
	"errors"
	"maps"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/target"
)

// failures are files that could not be probed, or no longer.
type failures map[procfs.Inode]*failure

// failure is why a file could not be.
type failure struct {
	version      target.File
	first, again time.Time // when it has failed for the first time, and when it is tried again; zero for never
	asked        time.Time // when somebody last wanted to try it
	pause        time.Duration
	told         string
}

const (
	firstPause = 100 * time.Millisecond // before what has failed is tried again; then twice as long each time
	lastPause  = 30 * time.Second
	tellAfter  = time.Second // what fails for so long is told
	forget     = time.Hour   // what nobody has asked for is forgotten
)

// due tells whether to try a file now. One that has changed is another one.
func (all failures) due(f target.File, now time.Time) bool {
	failed := all[f.Inode]
	if failed != nil && failed.version != f {
		delete(all, f.Inode)
		failed = nil
	}
	if failed != nil {
		failed.asked = now
	}
	return failed == nil || !failed.again.IsZero() && !now.Before(failed.again)
}

// fail notes that a file has failed, which was armed before or not: what was so for long has failed for the first
// time again. It returns what is to be told of it: a writer,
// or a linker, may take some moments, and what was told need not be told again.
func (all failures) fail(f target.File, armed bool, err error, now time.Time) (text string) {
	maps.DeleteFunc(all, func(_ procfs.Inode, other *failure) bool { return now.Sub(other.asked) > forget })
	failed := all[f.Inode]
	if failed == nil || armed && now.Sub(failed.asked) > lastPause {
		failed = &failure{first: now, asked: now, pause: firstPause}
		all[f.Inode] = failed
	}
	failed.version, failed.again = f, now.Add(failed.pause)
	failed.pause = min(2*failed.pause, lastPause)
	never := errors.Is(err, target.ErrNothing) || errors.Is(err, target.ErrUsage)
	if never {
		failed.again = time.Time{}
	}
	if _, text = cli.ExitStatus(err); text == failed.told || !never && now.Sub(failed.first) < tellAfter {
		return ""
	}
	failed.told = text
	return text
}
