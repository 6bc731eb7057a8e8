package session

import (
	"errors"
	"maps"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/target"
)

// failures maps the inode of a file to the failure of its run, and decides when to try the file again.
type failures map[procfs.Inode]*failure

// failure is the state of a file after its run has failed.
type failure struct {
	version  target.File   // the file as it was when its run failed
	first    time.Time     // the time of the first error
	retry    time.Time     // the time of the next try; zero means never
	lastDue  time.Time     // the time of the last call of due for the file
	pause    time.Duration // the pause after the next error
	reported string        // the last error that fail returned for reporting
}

const (
	firstPause  = 100 * time.Millisecond // before the second try; each later pause doubles
	lastPause   = 30 * time.Second
	reportAfter = time.Second // an error that ends sooner is not reported: a linker may still be writing the file
	forgetAfter = time.Hour   // the time after the last call of due until a file is forgotten
)

// due reports whether to start a run of a file now. If the file has changed since it failed, due forgets the failure.
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

// fail notes that a run of a file has failed. It returns the text to report, or "".
//
// If errors have repeated for reportAfter, fail returns the text of the error, but not the same text twice in a row. An
// error that only another file can fix is reported at once. The file is then not tried again until it changes.
//
// armed says that the run had armed its probes. If such a run lasted longer than lastPause, fail ignores earlier
// failures of the file. The run began after the last call of due for the file.
//
// fail also forgets files for which due was not called for forgetAfter.
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
