package tracefs

import (
	"errors"
	"sync"

	"github.com/ftgo/ftgo/tracefs/internal/files"
	"github.com/ftgo/ftgo/tracefs/internal/tree"
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
	tree *tree.Tree
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
func At(dir string) *FS {
	return &FS{tree: &tree.Tree{Dir: dir, Ops: files.InTurns(dir)}, rcuDir: "/sys/kernel"}
}

// Dir is where the file system is mounted.
func (f *FS) Dir() string { return f.tree.Dir }
