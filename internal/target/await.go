package target

import (
	"context"
	"os"
	"time"

	"github.com/ftgo/ftgo/internal/loader"
)

// awaitPause is how often what is waited for is looked for.
const awaitPause = 100 * time.Millisecond

// Await waits until there is the file that BINARY names, and nobody writes it any
// more, because a linker takes its time. It is false if ctx was done before.
func (q *Query) Await(ctx context.Context, say Say) bool {
	var last os.FileInfo
	for waited := false; ; waited = true {
		now, err := statBinary(q.Binary)
		switch {
		case err == nil && (!waited || last != nil && now.Size() == last.Size() && now.ModTime().Equal(last.ModTime())):
			return true
		case !waited:
			say("waiting for %s", q.Binary)
		}
		last = now
		select {
		case <-ctx.Done():
			return false
		case <-time.After(awaitPause):
		}
	}
}

func statBinary(binary string) (os.FileInfo, error) {
	path, _, err := loader.Find(binary, 0)
	if err != nil {
		return nil, err
	}
	return os.Stat(path)
}
