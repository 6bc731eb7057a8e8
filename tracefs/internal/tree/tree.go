// Package tree is the directory that tracefs is mounted at: its files, and how what a session has
// made there is removed. Nothing is deleted that is not proven to be off.
package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/procfs"
)

// Tree is a mounted tracefs.
type Tree struct {
	// Dir is where it is mounted.
	Dir string
	Ops
	// Pipes is how many sessions of this process have their pipes open.
	Pipes atomic.Int32
}

// Path is that of a file.
func (t *Tree) Path(elem ...string) string {
	return filepath.Join(append([]string{t.Dir}, elem...)...)
}

// Exists tells whether a file of this tracefs is there.
func (t *Tree) Exists(elem ...string) bool {
	_, err := os.Stat(t.Path(elem...))
	return !errors.Is(err, fs.ErrNotExist)
}

// ReadTrimmed returns a small file without the white space around it.
func (t *Tree) ReadTrimmed(elem ...string) (string, error) {
	b, err := t.Read(t.Path(elem...))
	return strings.TrimSpace(string(b)), err
}

// Ops is the seam to the kernel's files: every access to tracefs goes through it, so that tests can
// make any one of them fail. Its errors name the file.
type Ops interface {
	// Read returns the whole file.
	Read(path string) ([]byte, error)
	// Write writes text in one write(2), without creating or truncating.
	Write(path, text string) error
	// Append is Write with O_APPEND, which uprobe_events demands: opening it for
	// writing with O_TRUNC removes everybody's probes
	// (kernel/trace/trace_uprobe.c, probes_open).
	Append(path, text string) error
	Mkdir(path string) error
	Rmdir(path string) error
	List(path string) ([]string, error)
	// Pipe opens a file for non-blocking reading.
	Pipe(path string) (int, error)
	// PipeReaders are the processes that have a trace_pipe open, as far as can be seen.
	PipeReaders() []PipeReader
}

// OS is the running kernel's files.
type OS struct{}

// Read is [os.ReadFile].
func (OS) Read(path string) ([]byte, error) { return os.ReadFile(path) }

// Write writes at the file's beginning.
func (OS) Write(path, text string) error { return WriteOnce(path, os.O_WRONLY, text) }

// Append writes at the file's end.
func (OS) Append(path, text string) error { return WriteOnce(path, os.O_WRONLY|os.O_APPEND, text) }

// WriteOnce opens a file with these flags and writes text.
func WriteOnce(path string, flag int, text string) error {
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	// Not f.Write, which tries again for ever: EINTR may be a signal, and is also what the
	// kernel says of an event that perf has (kernel/trace/trace_uprobe.c, probe_event_enable).
	for interrupted := 0; len(text) > 0 && err == nil; {
		var n int
		n, err = unix.Write(int(f.Fd()), []byte(text))
		switch {
		case errors.Is(err, unix.EINTR) && interrupted < 99:
			interrupted, err = interrupted+1, nil
			time.Sleep(time.Millisecond)
		case err == nil && n == 0:
			err = io.ErrShortWrite
		case err == nil:
			text = text[n:]
		}
	}
	if err != nil {
		err = &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return errors.Join(err, f.Close())
}

// Mkdir makes an instance.
func (OS) Mkdir(path string) error { return os.Mkdir(path, 0o700) }

// Rmdir is rmdir(2): [os.Remove] tries unlink first and would report its error on old kernels.
func (OS) Rmdir(path string) error {
	if err := unix.Rmdir(path); err != nil {
		return &os.PathError{Op: "rmdir", Path: path, Err: err}
	}
	return nil
}

// List returns the names in a directory.
func (OS) List(path string) (names []string, err error) {
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// Pipe opens a file for reads that return EAGAIN when it is empty.
func (OS) Pipe(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// PipeReader is a process that has a trace_pipe open.
type PipeReader struct {
	PID int
	// Name is the process's, and Path the pipe's.
	Name, Path string
}

// PipeReaders looks for them in /proc, which shows other users' to root, and from within a
// container only those there.
func (OS) PipeReaders() (all []PipeReader) {
	procfs.OpenFiles(func(pid int, path string) {
		if !strings.HasPrefix(filepath.Base(path), "trace_pipe") {
			return
		}
		if name, err := procfs.Name(pid); err == nil { // else it has just ended
			all = append(all, PipeReader{pid, name, path})
		}
	})
	return all
}

func (r PipeReader) String() string {
	return fmt.Sprintf("process %d (%s) closes %s", r.PID, r.Name, r.Path)
}

// IsNotExist: the file is not there.
func IsNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// IsGone: the file is not there, or has just ceased to stand for anything, since somebody
// has removed its instance or its events (kernel/trace/trace.c, trace_array_get, and
// trace_events.c, subsystem_open).
func IsGone(err error) bool { return IsNotExist(err) || errors.Is(err, unix.ENODEV) }

// IsBusy: somebody uses what is to be removed.
func IsBusy(err error) bool { return errors.Is(err, unix.EBUSY) }
