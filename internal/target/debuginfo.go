package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/offsets"
)

const (
	// maxFindTime is how long debuginfod-find may run before it is killed. ownFindTime, in seconds, is the default of
	// $DEBUGINFOD_MAXTIME. It is shorter, so that debuginfod-find ends by itself and removes its unfinished download.
	maxFindTime = 2 * time.Minute
	ownFindTime = 110
	// maxDebugFile is the largest size of a download in bytes, the default of $DEBUGINFOD_MAXSIZE.
	maxDebugFile = 2 << 30
)

// buildID matches build IDs: two digits name a folder, the others a file in it, and debuginfod accepts at most 64 bytes
// (MAX_BUILD_ID_BYTES).
var buildID = regexp.MustCompile(`^[0-9a-f]{4,128}$`)

// findDebugInfo finds debug information for a file that lacks it: in the system's folders, beside the file, and, if the user
// has named servers, by debuginfod-find(1). It calls say for each file with debug information that does not fit. root is the
// folder that contains usr, and limit is how long debuginfod-find may run.
func findDebugInfo(b *offsets.Binary, say Say, root string, limit time.Duration) {
	if b.File().HasDebugInfo() {
		return
	}
	take := func(path string) bool {
		f, _, err := procfs.OpenBelow("/", path) // a regular file: a link beside an untrusted program may lead to a device
		if err != nil {
			return false // a missing file is not reported
		}
		err = b.Internals().Describe(f, path)
		if err != nil {
			say("debug information of %s: %v", b.File().Path(), err)
		}
		return err == nil
	}
	id, _ := b.File().GNUBuildID()
	known := buildID.MatchString(id)
	if known && take(filepath.Join(root, "/usr/lib/debug/.build-id", id[:2], id[2:]+".debug")) {
		return
	}
	if slices.ContainsFunc(linkedPaths(b, root), take) {
		return
	}
	if !known || strings.TrimSpace(os.Getenv("DEBUGINFOD_URLS")) == "" {
		return
	}
	path, err := download(id, say, limit)
	if err != nil {
		say("debug information of %s: %v", b.File().Path(), err)
	} else if path != "" {
		take(path)
	}
}

// linkedPaths returns the possible paths of the file that .gnu_debuglink names. The section consists of the file's name, zeros,
// and a CRC32 (GDB's manual, "Debugging Information in Separate Files"), which is not needed, because Describe compares the
// files.
func linkedPaths(b *offsets.Binary, root string) (paths []string) {
	const most = 4096 // the length of a name
	section := b.File().RawSection(".gnu_debuglink")
	if section == nil || section.Size > most {
		return nil
	}
	text := make([]byte, section.Size)
	_, err := section.ReadAt(text, 0)
	name, _, _ := strings.Cut(string(text), "\x00")
	bin, absErr := filepath.Abs(b.File().Path())
	if err != nil || absErr != nil || name == "" || name != filepath.Base(name) {
		return nil
	}
	if file, err := filepath.EvalSymlinks(bin); err == nil {
		bin = file
	}
	dir := filepath.Dir(bin)
	paths = []string{filepath.Join(dir, name), filepath.Join(dir, ".debug", name), filepath.Join(root, "/usr/lib/debug", dir, name)}
	return slices.DeleteFunc(paths, func(path string) bool { return path == bin })
}

// download runs debuginfod-find, if it is installed, which asks the servers unless its cache has the file. It prints the
// file's path. download returns "" if no server has the debug information.
func download(id string, say Say, limit time.Duration) (path string, err error) {
	program, err := exec.LookPath("debuginfod-find")
	if err != nil {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	say("running debuginfod-find debuginfo %s", id)
	find := exec.CommandContext(ctx, program, "debuginfo", id)
	find.WaitDelay = time.Second // a child may keep its output open
	find.Env = append([]string{fmt.Sprint("DEBUGINFOD_MAXTIME=", ownFindTime), fmt.Sprint("DEBUGINFOD_MAXSIZE=", maxDebugFile)}, os.Environ()...)
	out, err := find.Output()
	path = strings.TrimSuffix(string(out), "\n")
	failed, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("killed after %v", limit)
	case exited && bytes.Contains(failed.Stderr, []byte("No such file or directory")):
		return "", nil
	case exited:
		err = fmt.Errorf("%w: %q", err, bytes.TrimSpace(failed.Stderr))
	case err == nil && !filepath.IsAbs(path):
		err = fmt.Errorf("it prints %q, not a path", path)
	}
	if err != nil {
		return "", fmt.Errorf("run debuginfod-find: %w", err)
	}
	return path, nil
}
