// Package files is the seam to the kernel's files: every access to tracefs goes through [Ops],
// so that tests can make any one of them fail.
package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Ops is what is done with the kernel's files.
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
func (OS) Append(path, text string) error {
	return WriteOnce(path, os.O_WRONLY|os.O_APPEND, text)
}

// WriteOnce opens a file with these flags and writes text.
func WriteOnce(path string, flag int, text string) error {
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	// Not f.Write, which tries again for ever: EINTR may be a signal, and is also what the
	// kernel says of an event that perf has (kernel/trace/trace_uprobe.c, probe_event_enable).
	for interrupted := 0; len(text) > 0 && interrupted < 100; {
		var n int
		if n, err = unix.Write(int(f.Fd()), []byte(text)); errors.Is(err, unix.EINTR) {
			interrupted++
			time.Sleep(time.Millisecond)
			continue
		}
		if err == nil && n == 0 {
			err = io.ErrShortWrite
		}
		if err != nil {
			break
		}
		text = text[n:]
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
func (OS) List(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	names := make([]string, 0, len(entries))
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
