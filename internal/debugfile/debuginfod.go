package debugfile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ftgo/ftgo/offsets"
)

const (
	// maxTime is how long debuginfod-find may run before it is killed. ownTime, in seconds, is the default of
	// $DEBUGINFOD_MAXTIME. It is shorter, so that debuginfod-find ends by itself and removes its unfinished download.
	maxTime = 2 * time.Minute
	ownTime = 110
	// maxSize is the largest size of a download in bytes, the default of $DEBUGINFOD_MAXSIZE.
	maxSize = 2 << 30
)

// fetch gets debug information by build ID, if the user has named servers in $DEBUGINFOD_URLS: from the cache of
// debuginfod's client, or else by debuginfod-find(1), if it is installed.
func (s *search) fetch(b *offsets.Binary, id string) {
	if strings.TrimSpace(os.Getenv("DEBUGINFOD_URLS")) == "" {
		return
	}
	kept, _ := filepath.Abs(filepath.Join(cacheDir(), id, "debuginfo")) // after an error, kept is "", and Stat fails
	if info, err := os.Stat(kept); err == nil && info.Size() > 0 {      // an empty file notes that no server had it
		s.take(b, kept, nil)
		return
	}
	program, err := exec.LookPath("debuginfod-find")
	if err != nil {
		return
	}
	if path, err := s.run(program, id); err != nil {
		s.say("debug information of %s: %v", b.File().Path(), err)
	} else if path != "" {
		s.take(b, path, nil)
	}
}

// run runs debuginfod-find, which prints the path of the file in its cache. It returns "" if no server has the debug
// information.
func (s *search) run(program, id string) (path string, err error) {
	limit := cmp.Or(s.limit, maxTime)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if s.loading != nil {
		s.loading("debuginfod-find debuginfo "+id, 0, 0)
	}
	find := exec.CommandContext(ctx, program, "debuginfo", id)
	find.WaitDelay = time.Second // a child may keep its output open
	find.Env = append([]string{fmt.Sprint("DEBUGINFOD_MAXTIME=", ownTime), fmt.Sprint("DEBUGINFOD_MAXSIZE=", maxSize)}, os.Environ()...)
	out, err := find.Output()
	path = strings.TrimSuffix(string(out), "\n")
	failed, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("run debuginfod-find: killed after %v", limit)
	case exited && bytes.Contains(failed.Stderr, []byte("No such file or directory")):
		return "", nil
	case exited:
		return "", fmt.Errorf("run debuginfod-find: %w: %q", err, bytes.TrimSpace(failed.Stderr))
	case err != nil:
		return "", fmt.Errorf("run debuginfod-find: %w", err)
	case !filepath.IsAbs(path):
		return "", fmt.Errorf("run debuginfod-find: it prints %q, not a path", path)
	}
	return path, nil
}

// cacheDir returns the cache of debuginfod's client (debuginfod_find_debuginfo(3)).
func cacheDir() string {
	if dir := os.Getenv("DEBUGINFOD_CACHE_PATH"); dir != "" {
		return dir
	}
	home, _ := os.UserHomeDir()
	old := filepath.Join(home, ".debuginfod_client_cache")
	if _, err := os.Stat(old); err == nil {
		return old
	}
	return filepath.Join(cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(home, ".cache")), "debuginfod_client")
}
