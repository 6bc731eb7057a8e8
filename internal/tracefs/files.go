package tracefs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/internal/procfs"
)

// files is the seam to the kernel's files: every access to tracefs goes through it, so that tests can
// make any one of them fail. Its errors name the file.
type files interface {
	// Read returns the whole file.
	Read(path string) ([]byte, error)
	// Write writes text in one write(2), without creating or truncating.
	Write(path, text string) error
	// Append is Write with O_APPEND, which uprobe_events demands: opening it for writing with O_TRUNC
	// removes everybody's probes (kernel/trace/trace_uprobe.c, probes_open).
	Append(path, text string) error
	Mkdir(path string) error
	Rmdir(path string) error
	// List returns the names in a directory.
	List(path string) ([]string, error)
	// Pipe opens a file for reads that return EAGAIN when it is empty.
	Pipe(path string) (int, error)
	// PipeReaders are the processes that have a trace_pipe open, as far as can be seen.
	PipeReaders() []pipeReader
}

// osFiles are the running kernel's files.
type osFiles struct{}

func (osFiles) Read(path string) ([]byte, error) { return os.ReadFile(path) }
func (osFiles) Mkdir(path string) error          { return os.Mkdir(path, 0o700) }
func (osFiles) Write(path, text string) error    { return writeOnce(path, os.O_WRONLY, text) }
func (osFiles) Append(path, text string) error   { return writeOnce(path, os.O_WRONLY|os.O_APPEND, text) }

// writeOnce opens a file with these flags and writes text.
func writeOnce(path string, flag int, text string) error {
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

// Rmdir is rmdir(2): [os.Remove] tries unlink first and would report its error on old kernels.
func (osFiles) Rmdir(path string) error {
	if err := unix.Rmdir(path); err != nil {
		return &os.PathError{Op: "rmdir", Path: path, Err: err}
	}
	return nil
}

func (osFiles) List(path string) (names []string, err error) {
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (osFiles) Pipe(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// pipeReader is a process that has a trace_pipe open.
type pipeReader struct {
	PID        int
	Name, Path string // Name is the process's, and Path the pipe's
}

// PipeReaders looks for them in /proc, which shows other users' to root, and from within a
// container only those there.
func (osFiles) PipeReaders() (all []pipeReader) {
	procfs.OpenFiles(func(pid int, path string) {
		if !strings.HasPrefix(filepath.Base(path), "trace_pipe") {
			return
		}
		if name, err := procfs.Name(pid); err == nil { // else it has just ended
			all = append(all, pipeReader{pid, name, path})
		}
	})
	return all
}

func (r pipeReader) String() string {
	return fmt.Sprintf("process %d (%s) closes %s", r.PID, r.Name, r.Path)
}

// isNotExist: the file is not there.
func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// isGone: the file is not there, or stands for nothing any more, since its instance or events were
// removed (kernel/trace/trace.c, trace_array_get, and trace_events.c, subsystem_open).
func isGone(err error) bool { return isNotExist(err) || errors.Is(err, unix.ENODEV) }

// isBusy: somebody uses what is to be removed.
func isBusy(err error) bool { return errors.Is(err, unix.EBUSY) }

// turns lets one process at a time do what can lock two that trace at once for good, and
// everybody else out of tracing until the machine is started anew.
//
// From Linux 4.15 to 4.19.93 and 5.4.8, and in kernels made of these, RHEL 8's 4.18 among them,
// options/record-tgid is written under trace_types_lock and then event_mutex, while instances and
// probe events come and go, and files of a group of events are opened, under event_mutex and then
// trace_types_lock. From 4.14.163 to 4.14.179 it is the other way round (kernel/trace/trace.c,
// trace_options_core_write, and trace_events.c, trace_event_enable_tgid_record,
// trace_add_event_call and subsystem_open; begun by commit 12ecef0cb121, "tracing: Reverse the
// order of trace_types_lock and event_mutex", ended by 3a53acf1d9be, "tracing: Fix lock inversion
// in trace_event_enable_tgid_record()", of Linux 5.5). Four runs that start at once are enough on
// RHEL 8's 4.18. What is not ftgo takes no turns, but each of these takes a moment only.
type turns struct {
	files
	dir string // what is locked
}

// inTurns are the files of a tracefs, in turns where the running kernel needs that.
func inTurns(dir string) files {
	if machine.This().Older(5, 5) {
		return turns{osFiles{}, filepath.Join(dir, "instances")}
	}
	return osFiles{}
}

// ofGroup tells whether a file is a group's own: its events' are opened under no two locks.
func ofGroup(path string) bool {
	return filepath.Base(filepath.Dir(filepath.Dir(path))) == "events"
}

func (t turns) Read(path string) (b []byte, err error) {
	if !ofGroup(path) {
		return t.files.Read(path)
	}
	err = t.inTurn(func() error { b, err = t.files.Read(path); return err })
	return b, err
}

func (t turns) Write(path, text string) error {
	if filepath.Base(path) == "record-tgid" || ofGroup(path) {
		return t.inTurn(func() error { return t.files.Write(path, text) })
	}
	return t.files.Write(path, text)
}

func (t turns) Append(path, text string) error {
	return t.inTurn(func() error { return t.files.Append(path, text) })
}

func (t turns) Mkdir(path string) error {
	return t.inTurn(func() error { return t.files.Mkdir(path) })
}

func (t turns) Rmdir(path string) error {
	return t.inTurn(func() error { return t.files.Rmdir(path) })
}

// inTurn does something while nobody else does.
func (t turns) inTurn(do func() error) error {
	unlock, err := lock(t.dir)
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}

// lock keeps others out of what a directory stands for. Who holds it may be stopped: so it fails at last.
func lock(dir string) (unlock func(), err error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		return func() {}, nil // it stands for nothing
	case err != nil:
		return nil, &os.PathError{Op: "lock", Path: dir, Err: err}
	}
	for until := time.Now().Add(patienceWithOwn); ; time.Sleep(10 * time.Millisecond) {
		err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return func() { unix.Close(fd) }, nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			unix.Close(fd)
			return nil, &os.PathError{Op: "lock", Path: dir, Err: err}
		case time.Now().After(until):
			unix.Close(fd)
			return nil, fmt.Errorf("lock %s: another process has held it for %v", dir, patienceWithOwn)
		}
	}
}
