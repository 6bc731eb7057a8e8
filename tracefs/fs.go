package tracefs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
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
	dir string
	ops files
	// pipes is how many sessions of this process have their pipes open.
	pipes atomic.Int32
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
func At(dir string) *FS { return &FS{dir: dir, ops: inTurns(dir), rcuDir: "/sys/kernel"} }

// Dir is where the file system is mounted.
func (f *FS) Dir() string { return f.dir }

func (f *FS) path(elem ...string) string {
	return filepath.Join(append([]string{f.dir}, elem...)...)
}

// files is the seam between this package and the kernel: every access to a
// tracefs file goes through it, so that tests can make any one of them fail.
type files interface {
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
	PipeReaders() []pipeReader
}

type osFiles struct{}

func (osFiles) Read(path string) ([]byte, error) { return os.ReadFile(path) }

func (osFiles) Write(path, text string) error { return writeOnce(path, os.O_WRONLY, text) }

func (osFiles) Append(path, text string) error {
	return writeOnce(path, os.O_WRONLY|os.O_APPEND, text)
}

func writeOnce(path string, flag int, text string) error {
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	// Not f.Write, which tries again for ever: EINTR may be a signal, and is also what the
	// kernel says of an event that perf has (see Session.enable).
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

func (osFiles) Mkdir(path string) error { return os.Mkdir(path, 0o700) }

func (osFiles) Rmdir(path string) error {
	// os.Remove tries unlink first and would report its error on old kernels.
	return rmdir(path)
}

func (osFiles) List(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// exists tells whether a file of this tracefs is there.
func (f *FS) exists(elem ...string) bool {
	_, err := os.Stat(f.path(elem...))
	return !errors.Is(err, fs.ErrNotExist)
}

// readTrimmed returns a small file without the white space around it.
func (f *FS) readTrimmed(elem ...string) (string, error) {
	b, err := f.ops.Read(f.path(elem...))
	return strings.TrimSpace(string(b)), err
}

// refused is an error of the kernel's files, explained as far as it alone tells:
// package doctor knows more.
func refused(verb, object string, err error) error {
	if errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(object, "uprobe_events") {
		return fmt.Errorf("%s %s: %w (the kernel needs CONFIG_UPROBE_EVENTS=y)", verb, object, err)
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok && at.Path == object {
		return err // which says so itself
	}
	return fmt.Errorf("%s %s: %w", verb, object, err)
}
