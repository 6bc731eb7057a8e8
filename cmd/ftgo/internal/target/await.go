package main

import (
	"context"
	"os"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/loader"
	"github.com/ftgo/ftgo/internal/procfs"
)

// awaitPause is how often what is waited for is looked for.
const awaitPause = 100 * time.Millisecond

// awaitFile waits until there is the file that BINARY names, and nobody writes it any
// more: a linker takes its time. It is false if ctx was done before.
func (e *env) awaitFile(ctx context.Context, binary string) bool {
	var last os.FileInfo
	for waited := false; ; waited = true {
		now, err := statBinary(binary)
		switch {
		case err == nil && (!waited || last != nil && now.Size() == last.Size() && now.ModTime().Equal(last.ModTime())):
			return true
		case !waited:
			e.Say("waiting for %s", binary)
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

// executed tells whether a process runs the file.
func executed(path string) bool {
	file, err := os.Stat(path)
	if err != nil {
		return false
	}
	return len(procfs.Running(file)) > 0
}
