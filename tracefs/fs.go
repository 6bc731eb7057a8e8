package tracefs

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/tracefs/internal/tree"
)

// Errors that callers tell apart.
var (
	// ErrNotMounted: no directory has the files of tracefs.
	ErrNotMounted = errors.New("tracefs is not mounted")
	// ErrNotSupported: the kernel lacks what was asked for.
	ErrNotSupported = errors.New("not supported by this kernel")
	// ErrRefused: the kernel refused a definition.
	ErrRefused = errors.New("definition refused")
	// ErrRemains: a session could not be removed whole. It is a [Leftover] when the process has
	// ended, for [FS.Sweep] to try again.
	ErrRemains = errors.New("remains in the kernel")
)

// FS is a mounted tracefs: a directory, so that tests can pass any other.
type FS struct {
	// Expedite, if set, allows /sys/kernel/rcu_expedited to be set while many events are disarmed.
	// It gets a line about each time that it is.
	Expedite func(text string)

	tree *tree.Tree
	// memory is whether events fetch from it, once that is known.
	memory struct {
		sync.Once
		known, fetched bool
	}
	// rcuDir has the kernel's switches for grace periods.
	rcuDir   string
	hurrying hurrying
}

// At returns the tracefs mounted at dir; nothing is checked.
func At(dir string) *FS {
	return &FS{tree: &tree.Tree{Dir: dir, Ops: tree.InTurns(dir)}, rcuDir: "/sys/kernel"}
}

// Dir is where the file system is mounted.
func (f *FS) Dir() string { return f.tree.Dir }

// Find returns the mounted tracefs, or an error that is [ErrNotMounted].
func Find() (*FS, error) { return find(machine.MountPoints) }

func find(dirs []string) (*FS, error) {
	var denied error
	for _, dir := range dirs {
		// The directory exists, empty, where tracefs could be mounted: only a file
		// in it tells.
		_, err := os.Stat(dir + "/trace_clock")
		if err == nil {
			return At(dir), nil
		}
		if denied == nil && errors.Is(err, os.ErrPermission) {
			denied = fmt.Errorf("find tracefs: %w", err)
		}
	}
	if denied != nil {
		return nil, denied
	}
	return nil, fmt.Errorf("find tracefs in %s and %s: %w", dirs[0], dirs[len(dirs)-1], ErrNotMounted)
}

// Mount is Find, but where tracefs is not mounted, root mounts it at its usual place, or debugfs on
// kernels that have tracefs only below it. unmount undoes that; it is nil if nothing was mounted.
func Mount() (f *FS, unmount func() error, err error) {
	if f, err = Find(); !errors.Is(err, ErrNotMounted) || os.Geteuid() != 0 {
		return f, nil, err
	}
	point := machine.Tracing
	errTrace := unix.Mount("tracefs", point, "tracefs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if errTrace != nil {
		point = machine.Debugfs
		if err := unix.Mount("debugfs", point, "debugfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
			return nil, nil, fmt.Errorf("mount tracefs at %s: %w (debugfs: %v)", machine.Tracing, errTrace, err)
		}
	}
	f, err = Find()
	return f, func() error {
		if err := unix.Unmount(point, 0); err != nil {
			return fmt.Errorf("unmount %s: %w", point, err)
		}
		return nil
	}, err
}
