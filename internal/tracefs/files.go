package tracefs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// files are all operations on the files of tracefs, so that tests can make any of them fail. Errors name the file.
type files interface {
	// Read returns the whole file.
	Read(path string) ([]byte, error)
	// Write writes text without creating or truncating the file.
	Write(path, text string) error
	// Append is Write with O_APPEND. DANGER: uprobe_events must always be opened so. Opening it for writing with
	// O_TRUNC deletes the probes of all processes (kernel/trace/trace_uprobe.c, probes_open).
	Append(path, text string) error
	Mkdir(path string) error
	Rmdir(path string) error
	// List returns the names in a directory.
	List(path string) ([]string, error)
	// Pipe opens a file for reads that return EAGAIN when the file is empty.
	Pipe(path string) (int, error)
	// Perf arms the event with the given id file for a thread and the threads that it starts, until the descriptor is
	// closed. With a filter, the descriptor counts the hits that pass it.
	Perf(idFile, filter string, tid int) (int, error)
	// Watch returns a non-blocking descriptor that is readable when a file was written to.
	Watch(path string) (int, error)
}

// osFiles implements files on the running kernel. lockDir is the directory to lock, "" if the kernel needs no lock.
//
// The lock lets only one process at a time make accesses that can deadlock old kernels. In the deadlock, two processes wait
// for each other for ever, and no process can use tracing until the machine reboots.
//
// From Linux 4.15 to 4.19.93 and 5.4.8, and in kernels derived from these (such as RHEL 8's 4.18), a write to
// options/record-tgid takes trace_types_lock and then event_mutex. Adding and removing instances and probe events,
// and opening a file of a group of events, take event_mutex and then trace_types_lock. From 4.14.163 to 4.14.179 the
// two orders are exchanged. (kernel/trace/trace.c, trace_options_core_write; trace_events.c,
// trace_event_enable_tgid_record, trace_add_event_call and subsystem_open. It began with commit 12ecef0cb121,
// "tracing: Reverse the order of trace_types_lock and event_mutex", and ended with 3a53acf1d9be, "tracing: Fix lock
// inversion in trace_event_enable_tgid_record()", in Linux 5.5.) On RHEL 8's 4.18, four runs that start at once are
// enough to deadlock. Other programs do not take the lock, but each of these accesses is short.
type osFiles struct{ lockDir string }

// newFiles returns the files of the tracefs at dir, with a lock if the running kernel needs it.
func newFiles(dir string) files {
	if ThisMachine().Older(5, 5) {
		return osFiles{filepath.Join(dir, "instances")}
	}
	return osFiles{}
}

func (o osFiles) Read(path string) (b []byte, err error) {
	err = o.locked(inEventGroup(path), func() error {
		b, err = os.ReadFile(path)
		return err
	})
	return b, err
}

func (o osFiles) Write(path, text string) error {
	conflicts := filepath.Base(path) == "record-tgid" || inEventGroup(path)
	return o.locked(conflicts, func() error { return writeOnce(path, os.O_WRONLY, text) })
}

func (o osFiles) Append(path, text string) error {
	return o.locked(true, func() error { return writeOnce(path, os.O_WRONLY|os.O_APPEND, text) })
}

func (o osFiles) Mkdir(path string) error {
	return o.locked(true, func() error { return os.Mkdir(path, 0o700) })
}

// Rmdir calls rmdir(2). [os.Remove] tries unlink(2) first and would return its error on old kernels.
func (o osFiles) Rmdir(path string) error {
	return o.locked(true, func() error {
		if err := unix.Rmdir(path); err != nil {
			return &os.PathError{Op: "rmdir", Path: path, Err: err}
		}
		return nil
	})
}

// inEventGroup reports whether a file is in the directory of a group of events, as in events/GROUP/enable. Files of
// single events take only one kernel lock.
func inEventGroup(path string) bool {
	return filepath.Base(filepath.Dir(filepath.Dir(path))) == "events"
}

// locked makes an access, with the lock if the kernel needs it and the access conflicts with others.
func (o osFiles) locked(conflicts bool, access func() error) error {
	if conflicts && o.lockDir != "" {
		unlock, err := lock(o.lockDir)
		if err != nil {
			return err
		}
		defer unlock()
	}
	return access()
}

// writeOnce opens a file with the flags and writes text. It calls write(2) once, except after EINTR or a short write.
func writeOnce(path string, flag int, text string) error {
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	// os.File.Write would repeat the call for ever: EINTR may be a signal, but is also the kernel's error for
	// an event that perf has enabled (kernel/trace/trace_uprobe.c, probe_event_enable).
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

// isNotExist reports whether an error says that a file does not exist.
func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// isGone reports whether an error says that a file does not exist, or that its instance or events were removed while
// it was opened (ENODEV: kernel/trace/trace.c, trace_array_get, and trace_events.c, subsystem_open).
func isGone(err error) bool { return isNotExist(err) || errors.Is(err, unix.ENODEV) }

// isBusy reports whether an error says that the file or directory to remove is in use.
func isBusy(err error) bool { return errors.Is(err, unix.EBUSY) }

// lockTimeout is how long lock waits.
const lockTimeout = 5 * time.Second

// lock takes an exclusive lock on a directory. It fails after lockTimeout, because the process that has the lock may be
// stopped. A directory that does not exist needs no lock.
func lock(dir string) (unlock func(), err error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		return func() {}, nil
	case err != nil:
		return nil, &os.PathError{Op: "lock", Path: dir, Err: err}
	}
	for until := time.Now().Add(lockTimeout); ; time.Sleep(10 * time.Millisecond) {
		err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return func() { unix.Close(fd) }, nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			unix.Close(fd)
			return nil, &os.PathError{Op: "lock", Path: dir, Err: err}
		case time.Now().After(until):
			unix.Close(fd)
			return nil, fmt.Errorf("lock %s: another process has held it for %v", dir, lockTimeout)
		}
	}
}
