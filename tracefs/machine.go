package tracefs

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/procfs"
)

// machine is what [Diagnose] looks at: the one it runs on, or for tests a directory that
// holds some of another's files.
type machine struct {
	// root is put before every path: "" for the real one.
	root    string
	release string // of the kernel
	uid     int
	// access is access(2) with the effective ids.
	access func(path string, mode uint32) error
	// open opens a file and closes it again.
	open func(path string, flag int) error
	// namespace is [procfs.Namespace].
	namespace func(pid int, kind string) (inode uint64)
}

func thisMachine() *machine {
	m := &machine{uid: os.Geteuid(), namespace: procfs.Namespace}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		m.release = unix.ByteSliceToString(u.Release[:])
	}
	m.access = func(path string, mode uint32) error {
		return unix.Faccessat(unix.AT_FDCWD, path, mode, unix.AT_EACCESS)
	}
	m.open = func(path string, flag int) error {
		f, err := os.OpenFile(path, flag, 0)
		if err != nil {
			return err
		}
		return f.Close()
	}
	return m
}

// read returns a file without the white space around it, "" if it can't be read.
func (m *machine) read(path string) string {
	b, err := os.ReadFile(m.root + path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func (m *machine) exists(path string) bool {
	_, err := os.Stat(m.root + path)
	return err == nil
}

// mount is a line of /proc/self/mountinfo (proc_pid_mountinfo(5)).
type mount struct {
	point, kind string
	// options are the mount's own and then its file system's.
	options []string
}

func (m *machine) mounts() (all []mount) {
	for line := range strings.Lines(m.read("/proc/self/mountinfo")) {
		// ID PARENT DEVICE ROOT POINT OPTIONS [TAG...] - KIND SOURCE OPTIONS
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 6 || len(right) < 3 {
			continue
		}
		options := append(strings.Split(left[5], ","), strings.Split(right[2], ",")...)
		all = append(all, mount{point: left[4], kind: right[0], options: options})
	}
	return all
}

// config returns how the kernel was built, as its .config has it, and where that was
// found; ok is false if it keeps no copy.
func (m *machine) config() (text, from string, ok bool) {
	if b, err := os.ReadFile(m.root + "/proc/config.gz"); err == nil {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err == nil {
			if b, err = io.ReadAll(z); err == nil {
				return string(b), "/proc/config.gz", true
			}
		}
	}
	for _, path := range []string{"/boot/config-" + m.release, "/lib/modules/" + m.release + "/config"} {
		if b, err := os.ReadFile(m.root + path); err == nil {
			return string(b), path, true
		}
	}
	return "", "", false
}

// configured tells whether an option is built in.
func configured(config, option string) bool {
	return strings.Contains("\n"+config, "\n"+option+"=y\n")
}

// find is [Find].
func (m *machine) find() (*FS, error) {
	dirs := make([]string, len(mountPoints))
	for i, d := range mountPoints {
		dirs[i] = m.root + d
	}
	return find(dirs)
}

// usable tells why definitions can't be written and instances not be made, nil if they
// can. Nothing is written: opening with O_TRUNC is what would do harm.
func (m *machine) usable(f *FS) error {
	if err := m.open(f.path("uprobe_events"), os.O_WRONLY|os.O_APPEND); err != nil {
		return err
	}
	if err := m.access(f.path("instances"), unix.W_OK|unix.X_OK); err != nil && !errors.Is(err, unix.ENOSYS) {
		return &os.PathError{Op: "write to", Path: f.path("instances"), Err: err}
	}
	return nil
}
