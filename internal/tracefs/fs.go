// Package tracefs drives the kernel's uprobe_events interface through the files of tracefs. It finds and mounts the
// file system, writes probe definitions, runs a session in its own instance, reads trace_pipe or the pages of the
// ring buffer, the hit counters and the error log, and removes everything at the end. The public package of this name
// exports a part of it.
package tracefs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Errors for errors.Is.
var (
	// ErrNotMounted: no directory contains the files of tracefs.
	ErrNotMounted = errors.New("tracefs is not mounted")
	// ErrNotSupported: the kernel does not have a requested feature.
	ErrNotSupported = errors.New("not supported by this kernel")
	// ErrRefused: the kernel refused a definition.
	ErrRefused = errors.New("definition refused")
	// ErrRemains: a part of a session could not be removed. [FS.Sweep] tries again when the process has ended.
	ErrRemains = errors.New("remains in the kernel")
)

// FS is a mounted tracefs. Tests pass an ordinary directory.
type FS struct {
	// Expedite allows /sys/kernel/rcu_expedited to be set while many events are disarmed.
	Expedite bool

	dir   string // the mount point
	files files
	pipes atomic.Int32 // the number of sessions of this process that have their pipes open
	// The result of the trial of fetchesMemory.
	trial  sync.Once
	memory bool
	// rcuDir is the directory of the kernel's switches for grace periods. The other fields count the users of the switch in
	// this process. mark is the group of this process's mark, "" if it has not set the switch.
	rcuDir      string
	switchLock  sync.Mutex
	switchUsers int
	mark        string
}

// At returns the tracefs mounted at dir, without any check.
func At(dir string) *FS {
	return &FS{dir: dir, files: newFiles(dir), rcuDir: "/sys/kernel"}
}

// Dir returns the mount point.
func (f *FS) Dir() string { return f.dir }

// path returns the path of a file of this tracefs.
func (f *FS) path(elem ...string) string {
	return filepath.Join(append([]string{f.dir}, elem...)...)
}

// exists reports whether this tracefs has a file.
func (f *FS) exists(elem ...string) bool {
	_, err := os.Stat(f.path(elem...))
	return !isNotExist(err)
}

// readTrimmed returns the text of a file without leading and trailing white space.
func (f *FS) readTrimmed(elem ...string) (string, error) {
	b, err := f.files.Read(f.path(elem...))
	return strings.TrimSpace(string(b)), err
}

// Find returns the mounted tracefs. The error is [ErrNotMounted] if tracefs is not mounted, and os.ErrPermission if this
// process may not look into a mount point.
func Find() (*FS, error) { return find(MountPoints) }

func find(dirs []string) (*FS, error) {
	var denied error
	for _, dir := range dirs {
		// The mount point exists even if tracefs is not mounted, so look for a file in it.
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

// Mount is Find, but if tracefs is not mounted and this process is root, it also mounts tracefs at its usual place. If
// that fails, it mounts debugfs, because some kernels have tracefs only there. unmount reverts this; it is nil if nothing
// was mounted.
func Mount() (f *FS, unmount func() error, err error) {
	if f, err = Find(); !errors.Is(err, ErrNotMounted) || os.Geteuid() != 0 {
		return f, nil, err
	}
	point := Tracing
	errTrace := unix.Mount("tracefs", point, "tracefs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if errTrace != nil {
		point = Debugfs
		if err := unix.Mount("debugfs", point, "debugfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
			return nil, nil, fmt.Errorf("mount tracefs at %s: %w (debugfs: %v)", Tracing, errTrace, err)
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
