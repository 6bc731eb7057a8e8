package tracefs

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/tracefs/internal/files"
)

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
			denied = err
		}
	}
	if denied != nil {
		return nil, files.Refused("find", "tracefs", denied)
	}
	return nil, fmt.Errorf("find tracefs in %s and %s: %w", dirs[0], dirs[len(dirs)-1], ErrNotMounted)
}

// Mount mounts tracefs at its usual place, or debugfs on kernels that have tracefs
// only below it. It needs CAP_SYS_ADMIN.
func Mount() (*FS, error) {
	errTrace := unix.Mount("tracefs", machine.Tracing, "tracefs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if errTrace == nil {
		return Find()
	}
	errDebug := unix.Mount("debugfs", machine.Debugfs, "debugfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if errDebug == nil {
		return Find()
	}
	return nil, fmt.Errorf("mount tracefs at %s: %w (debugfs: %v)", machine.Tracing, errTrace, errDebug)
}

// Unmount undoes [Mount].
func (f *FS) Unmount() error {
	dir := f.mountPoint()
	if err := unix.Unmount(dir, 0); err != nil {
		return fmt.Errorf("unmount %s: %w", dir, err)
	}
	return nil
}

// mountPoint is what has been mounted for the files to be there.
func (f *FS) mountPoint() string {
	if f.tree.Dir == machine.Tracing {
		return f.tree.Dir
	}
	return machine.Debugfs
}
