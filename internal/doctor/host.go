package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/tracefs"
)

// host is the machine that [Diagnose] examines. In tests it is a directory with files of another machine.
type host struct {
	tracefs.Machine
	find func() (*tracefs.FS, error)
	uid  int
	// access is access(2) with the effective ids.
	access func(path string, mode uint32) error
	// open opens a file and closes it again.
	open         func(path string, flag int) error
	capabilities func() (uint64, error)
	pidSpace     uint64 // the inode of this process's pid namespace, 0 if unknown
}

func thisHost() *host {
	h := &host{Machine: tracefs.ThisMachine(), find: tracefs.Find, uid: os.Geteuid(), capabilities: effective, pidSpace: procfs.Namespace(procfs.Self, "pid")}
	h.access = func(path string, mode uint32) error {
		return unix.Faccessat(unix.AT_FDCWD, path, mode, unix.AT_EACCESS)
	}
	h.open = func(path string, flag int) error {
		f, err := os.OpenFile(path, flag, 0)
		if err != nil {
			return err
		}
		return f.Close()
	}
	return h
}

func (h *host) exists(path string) bool {
	_, err := os.Stat(h.Root + path)
	return err == nil
}

func (h *host) mounts() []procfs.Mount { return procfs.ParseMounts(h.Read("/proc/self/mountinfo")) }

func file(f *tracefs.FS, elem ...string) string {
	return filepath.Join(append([]string{f.Dir()}, elem...)...)
}

// has reports whether a tracefs file exists. It returns true if this user may not look.
func has(f *tracefs.FS, elem ...string) bool {
	_, err := os.Stat(file(f, elem...))
	return !errors.Is(err, fs.ErrNotExist)
}

// usable returns an error if this user can't write definitions or can't make instances. It opens uprobe_events
// without O_TRUNC, which would remove everybody's probes, and writes nothing.
func (h *host) usable(f *tracefs.FS) error {
	if err := h.open(file(f, "uprobe_events"), os.O_WRONLY|os.O_APPEND); err != nil {
		return err
	}
	if err := h.access(file(f, "instances"), unix.W_OK|unix.X_OK); err != nil && !errors.Is(err, unix.ENOSYS) {
		return &os.PathError{Op: "write to", Path: file(f, "instances"), Err: err}
	}
	return nil
}
