package session

import (
	"errors"
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
	retry    time.Time     // the time of the next try
	pause    time.Duration // the pause after the next error
	reported string        // the last error that fail returned for reporting
}

const (
	firstPause = 100 * time.Millisecond // before the second try; each later pause doubles
	lastPause  = 30 * time.Second
	// An error is not reported before the pause has grown to reportPause: a linker may still be writing the file.
	reportPause = time.Second
	maxFailures = 100 // more are forgotten
	never       = 1 << 62
)

// due reports whether to start a run of a file now. If the file has changed since it failed, due forgets the failure.
func (all failures) due(f target.File, now time.Time) bool {
	failed := all[f.Inode]
	if failed != nil && failed.version != f {
		delete(all, f.Inode)
		return true
	}
	return failed == nil || !now.Before(failed.retry)
}

// fail notes that a run of a file has failed. It returns the text to report, or "".
//
// An error that only another file can fix is reported at once, and the file is not tried again until it changes. fail
// returns other errors once they have repeated for some time, but not the same text twice in a row. armed says that the
// run had armed its probes. If such a run lasted longer than lastPause, fail ignores earlier failures of the file.
func (all failures) fail(f target.File, armed bool, err error, now time.Time) (text string) {
	failed := all[f.Inode]
	if failed == nil || armed && now.Sub(failed.retry) > lastPause {
		if len(all) >= maxFailures {
			clear(all)
		}
		failed = &failure{pause: firstPause}
		all[f.Inode] = failed
	}
	failed.version, failed.retry = f, now.Add(failed.pause)
	failed.pause = min(2*failed.pause, lastPause)
	hopeless := errors.Is(err, target.ErrNothing) || errors.Is(err, target.ErrUsage)
	if hopeless {
		failed.retry = now.Add(never)
	}
	if _, text = cli.ExitStatus(err); text == failed.reported || !hopeless && failed.pause < reportPause {
		return ""
	}
	failed.reported = text
	return text
}
