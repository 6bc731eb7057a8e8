package session

import (
	"errors"
	"maps"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/target"
)

// failures are the failed files.
type failures map[procfs.Inode]*failure

// failure is the state of a failed file.
type failure struct {
	version      target.File
	first, retry time.Time // the time of the first error, and of the next try; a zero retry is never
	lastDue      time.Time // when a caller last asked due for the file
	pause        time.Duration
	reported     string
}

const (
	firstPause  = 100 * time.Millisecond // before the second try; each later pause doubles
	lastPause   = 30 * time.Second
	reportAfter = time.Second // a writer or a linker may take moments; an error that lasts longer is reported
	forgetAfter = time.Hour   // for a file without a call of due
)

// due reports whether to try a file now. If the file has changed, it forgets the earlier failures.
func (all failures) due(f target.File, now time.Time) bool {
	failed := all[f.Inode]
	if failed != nil && failed.version != f {
		delete(all, f.Inode)
		failed = nil
	}
	if failed != nil {
		failed.lastDue = now
	}
	return failed == nil || !failed.retry.IsZero() && !now.Before(failed.retry)
}

// fail notes that a run of a file has failed, and returns the text to report, "" for none. An error is reported once,
// when it has lasted for reportAfter. If nothing but another file can help, it is reported at once, and the file is not
// tried again until it changes. armed says that the run had armed its probes: if the run lasted longer than lastPause,
// earlier failures do not count. fail also removes files without a call of due for forgetAfter.
func (all failures) fail(f target.File, armed bool, err error, now time.Time) (text string) {
	maps.DeleteFunc(all, func(_ procfs.Inode, other *failure) bool { return now.Sub(other.lastDue) > forgetAfter })
	failed := all[f.Inode]
	if failed == nil || armed && now.Sub(failed.lastDue) > lastPause {
		failed = &failure{first: now, lastDue: now, pause: firstPause}
		all[f.Inode] = failed
	}
	failed.version, failed.retry = f, now.Add(failed.pause)
	failed.pause = min(2*failed.pause, lastPause)
	never := errors.Is(err, target.ErrNothing) || errors.Is(err, target.ErrUsage)
	if never {
		failed.retry = time.Time{}
	}
	if _, text = cli.ExitStatus(err); text == failed.reported || !never && now.Sub(failed.first) < reportAfter {
		return ""
	}
	failed.reported = text
	return text
}
