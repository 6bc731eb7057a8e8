package tracefs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// faulty makes one access to a tracefs fail, reads included, or all from one on.
type faulty struct {
	files
	root    string
	log     []string
	failAt  int // from 1; 0 is none
	lasting bool
	err     error
}

func (f *faulty) step(op, path string) error {
	name := strings.TrimPrefix(path, f.root+"/")
	f.log = append(f.log, op+" "+name)
	if f.failAt > 0 && (len(f.log) == f.failAt || f.lasting && len(f.log) > f.failAt) {
		return &fs.PathError{Op: op, Path: path, Err: f.err}
	}
	return nil
}

func (f *faulty) Read(path string) ([]byte, error) {
	if err := f.step("read", path); err != nil {
		return nil, err
	}
	return f.files.Read(path)
}

func (f *faulty) List(path string) ([]string, error) {
	if err := f.step("list", path); err != nil {
		return nil, err
	}
	return f.files.List(path)
}

func (f *faulty) Write(path, text string) error {
	return errors.Join(f.step("write", path), f.unless(func() error { return f.files.Write(path, text) }))
}

func (f *faulty) Append(path, text string) error {
	return errors.Join(f.step("append", path), f.unless(func() error { return f.files.Append(path, text) }))
}

func (f *faulty) Mkdir(path string) error {
	return errors.Join(f.step("mkdir", path), f.unless(func() error { return f.files.Mkdir(path) }))
}

func (f *faulty) Rmdir(path string) error {
	return errors.Join(f.step("rmdir", path), f.unless(func() error { return f.files.Rmdir(path) }))
}

// unless does what the last step did not make fail.
func (f *faulty) unless(do func() error) error {
	if f.failAt > 0 && (len(f.log) == f.failAt || f.lasting && len(f.log) > f.failAt) {
		return nil
	}
	return do()
}

func (f *faulty) Pipe(path string) (int, error) {
	if err := f.step("open", path); err != nil {
		return -1, err
	}
	return f.files.Pipe(path)
}

// lifetimes are the ways in which this package is used, from the start to the end. Each joins
// all its errors.
var lifetimes = map[string]func(context.Context, *FS) error{
	"events":        func(ctx context.Context, f *FS) error { return lifetime(ctx, f, Options{}) },
	"counting":      func(ctx context.Context, f *FS) error { return lifetime(ctx, f, Options{Quiet: true}) },
	"chosen buffer": func(ctx context.Context, f *FS) error { return lifetime(ctx, f, Options{BufferKB: 64}) },
	"raw":           func(ctx context.Context, f *FS) error { return lifetime(ctx, f, Options{Raw: true}) },
	"kernel events": func(_ context.Context, f *FS) error {
		k, err := StartKernel(f, []string{"sched:sched_switch"}, 0, true)
		if err != nil {
			return err
		}
		_, ferr := k.Formats()
		_, oerr := k.Overruns()
		return errors.Join(ferr, oerr, k.Follow(os.Getpid()), k.Pause(), k.Close())
	},
}

// lifetime is that of a session which is extended, paused, resumed, stopped and read to its end.
func lifetime(ctx context.Context, f *FS, opt Options) error {
	s, err := Start(ctx, f, Target{Path: "/bin/true"}, testEvents(), opt)
	if err != nil {
		return err
	}
	if err = s.Extend(ctx, moreEvents()); err == nil {
		s.Join(moreEvents())
		err = errors.Join(s.Arm(ctx, moreEvents()), s.Disarm(moreEvents()))
	}
	_, oerr := s.Overruns()
	_, nerr := s.Mark(false)
	err = errors.Join(err, s.Pause(), s.Resume(ctx), oerr, nerr)
	s.Stop()
	<-s.stopped
	var rerr error
	for rerr == nil {
		if opt.Raw {
			_, rerr = s.ReadPages(ctx, func(int, []byte) {})
		} else {
			_, rerr = s.Read(ctx, make([]byte, 4096))
		}
	}
	if rerr == io.EOF {
		rerr = nil
	}
	return errors.Join(err, rerr, s.Close())
}

// faultyLife lives a lifetime in which an access fails.
func faultyLife(t *testing.T, life func(context.Context, *FS) error, failAt int, lasting bool, errno error) (*FS, *faulty, *fakeFiles, error) {
	f, files := newFake(t)
	fake := &faulty{files: faultyFake{kernelFake{rawFake{files}}}, root: files.root, failAt: failAt, lasting: lasting, err: errno}
	f.files = fake
	err := life(t.Context(), f)
	fake.failAt = 0
	return f, fake, files, err
}

// faultyFake has a second CPU's clock.
type faultyFake struct{ kernelFake }

func (f faultyFake) Mkdir(path string) error {
	if err := f.kernelFake.Mkdir(path); err != nil {
		return err
	}
	f.put(strings.TrimPrefix(path, f.root+"/")+"/per_cpu/cpu1/stats", "now ts: 1\n")
	return nil
}

// untold are the accesses that may fail without a word: something else takes their place.
var untold = []string{
	"read README", "read error_log", // features and explanations
}

// TestFaultsAtEachAccess makes each access fail in turn, once and from then on, with what the kernel
// may answer: it is told, nothing is left, or what is left, which is told, too, goes with
// the next sweep.
func TestFaultsAtEachAccess(t *testing.T) {
	errnos := []error{unix.EBUSY, unix.ENOSPC, unix.EINVAL, unix.ENOMEM, unix.EIO, unix.EPERM}
	for _, name := range slices.Sorted(maps.Keys(lifetimes)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, whole, _, err := faultyLife(t, lifetimes[name], 0, false, nil)
			if err != nil || len(whole.log) < 20 {
				t.Fatalf("without a fault: %v after %d accesses", err, len(whole.log))
			}
			for at, access := range whole.log {
				if at > 0 && whole.log[at-1] == access {
					continue // the clock is read many times over
				}
				errno := errnos[at%len(errnos)]
				faultAt(t, lifetimes[name], at+1, false, errno)
				if errno != unix.EBUSY { // which is waited for
					faultAt(t, lifetimes[name], at+1, true, errno)
				}
			}
		})
	}
}

func faultAt(t *testing.T, life func(context.Context, *FS) error, at int, lasting bool, errno error) {
	f, fake, files, err := faultyLife(t, life, at, lasting, errno)
	if len(fake.log) < at {
		return // it took another way: a file of the fake's that is read once more or less
	}
	failed := fake.log[at-1]
	if err == nil && !slices.Contains(untold, failed) && !retried(failed, errno) {
		t.Errorf("%s: %v: nobody was told", failed, errno)
	}
	if err != nil && !errors.Is(err, errno) && !errors.Is(err, ErrNotSupported) {
		t.Errorf("%s: %v: error %v does not tell", failed, errno, err)
	}
	left := files.left()
	if len(left) > 0 && err == nil {
		t.Errorf("%s: %v: left %q without a word", failed, errno, left)
	}
	names := make(map[string]bool)
	for _, pattern := range []string{"instances/ftgo_*", "events/ftgo_*"} {
		dirs, _ := filepath.Glob(filepath.Join(files.root, pattern))
		for _, d := range dirs {
			names[filepath.Base(d)] = true
		}
	}
	for name := range names {
		if err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v: %s is left, and error %v does not name it", failed, errno, name, err)
		}
		if _, err := f.sweep(Leftover{Name: name, instance: f.exists("instances", name)}); err != nil {
			t.Errorf("%s: %v: sweep what is left: %v", failed, errno, err)
		}
	}
	if left := files.left(); len(left) > 0 {
		t.Errorf("%s: %v: after a sweep there is still %q", failed, errno, left)
	}
}

// retried: the access is one that is tried again.
func retried(access string, errno error) bool {
	return errno == unix.ENOMEM && strings.HasSuffix(access, "/buffer_size_kb") ||
		errno == unix.EBUSY && strings.HasPrefix(access, "rmdir") ||
		errno == unix.EINVAL && strings.HasPrefix(access, "list events/") ||
		strings.HasSuffix(access, "/cpu0/stats") // the clock
}
