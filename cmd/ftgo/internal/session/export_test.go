package session

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/metrics"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestAwaitedFileFails checks that an error of a file ends export only if export did not wait for it: a new file
// may be incomplete when it is first read. An error that no retry can fix is reported.
func TestAwaitedFileFails(t *testing.T) {
	for _, waiting := range []bool{false, true} {
		var told bytes.Buffer
		opened, err := os.Open(os.DevNull)
		fixture.NoError(t, err)
		torn, over := errors.Join(errors.New("torn"), target.ErrNothing), make(chan struct{})
		close(over)
		e := &Export{
			Options: &Options{Options: view.Options{Env: &cli.Env{Stderr: &told}}}, counts: metrics.NewAggregator(metrics.About{}, time.Now()),
			probed: make(map[procfs.Inode]*exportedFile), failed: make(failures), waiting: waiting,
		}
		f := &exportedFile{
			opened: opened, view: &view.Export{}, source: e.counts.Open(),
			run: &backgroundRun{cancel: func() {}, canceled: func() bool { return false }, done: over, err: torn},
		}
		if err := e.finishRun(f, false); (err == nil) != waiting {
			t.Errorf("waited for %v: %v", waiting, err)
		}
		if strings.Contains(told.String(), "torn") != waiting {
			t.Errorf("waited for %v: told %q", waiting, told.String())
		}
	}
}
