package tracefs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ftgo/ftgo/tracefs/internal/files"
)

// Errors that callers tell apart.
var (
	// ErrNotMounted: no directory has the files of tracefs.
	ErrNotMounted = errors.New("tracefs is not mounted")
	// ErrNotSupported: the kernel lacks what was asked for.
	ErrNotSupported = errors.New("not supported by this kernel")
)

// FS is a mounted tracefs: a directory, so that tests can pass any other.
type FS struct {
	dir string
	ops files.Ops
	// pipes is how many sessions of this process have their pipes open.
	pipes atomic.Int32
	// memory is whether events fetch from it, once that is known.
	memory struct {
		once           sync.Once
		known, fetched bool
	}
	// rcuDir has the kernel's switches for grace periods.
	rcuDir   string
	hurrying hurrying
}

// At returns the tracefs mounted at dir; nothing is checked.
func At(dir string) *FS { return &FS{dir: dir, ops: files.InTurns(dir), rcuDir: "/sys/kernel"} }

// Dir is where the file system is mounted.
func (f *FS) Dir() string { return f.dir }

func (f *FS) path(elem ...string) string {
	return filepath.Join(append([]string{f.dir}, elem...)...)
}

// exists tells whether a file of this tracefs is there.
func (f *FS) exists(elem ...string) bool {
	_, err := os.Stat(f.path(elem...))
	return !errors.Is(err, fs.ErrNotExist)
}

// readTrimmed returns a small file without the white space around it.
func (f *FS) readTrimmed(elem ...string) (string, error) {
	b, err := f.ops.Read(f.path(elem...))
	return strings.TrimSpace(string(b)), err
}
