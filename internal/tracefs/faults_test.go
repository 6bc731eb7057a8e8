package tracefs

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"

	"golang.org/x/sys/unix"
)

// lifetimes are the uses of this package from start to end. Each returns all its errors, and calls closing before it
// begins to remove its files.
var lifetimes = map[string]func(ctx context.Context, f *FS, closing func()) error{
	"events":    lifetime(Options{}),
	"counting":  lifetime(Options{Quiet: true}),
	"raw":       lifetime(Options{Raw: true}),
	"alone":     lifetime(Options{Alone: []int{os.Getpid()}}),
	"top level": lifetime(Options{TopLevel: true, Features: &Features{}}),
	"kernel events": func(_ context.Context, f *FS, closing func()) error {
		k, err := StartKernel(f, []string{"sched:sched_switch"}, 0, true)
		if err != nil {
			return err
		}
		_, ferr := k.Formats()
		_, oerr := k.Overruns()
		err = errors.Join(ferr, oerr, k.Follow(os.Getpid()), k.Pause())
		closing()
		return errors.Join(err, k.Close())
	},
	"sweep": func(_ context.Context, f *FS, closing func()) error {
		err := f.files.Mkdir(f.path("instances", dead(1)))
		err = errors.Join(err, f.files.Append(f.path("uprobe_events"), "p:"+dead(1)+"/e /bin/true:0x1\n"))
		closing()
		gone, serr := f.Sweep()
		if err == nil && (serr == nil) != (len(gone) == 1) {
			err = errors.New("not said to be gone")
		}
		return errors.Join(err, serr)
	},
}

// lifetime returns the lifetime of a session that is extended, paused, resumed, stopped and read to its end.
func lifetime(opt Options) func(context.Context, *FS, func()) error {
	return func(ctx context.Context, f *FS, closing func()) error {
		events, more := testEvents(), moreEvents()
		if opt.TopLevel { // where events have one site
			events[0].Sites, more[0].Sites = events[0].Sites[:1], more[0].Sites[:1]
		}
		s, err := Start(ctx, f, Target{Path: "/bin/true"}, events, opt)
		if err != nil {
			return err
		}
		_, why := s.Alone()
		if err = s.Extend(ctx, more); err == nil {
			s.Join(more)
			err = errors.Join(s.Arm(ctx, more), s.Disarm(more))
		}
		err = errors.Join(err, why, s.Others())
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
		closing()
		return errors.Join(err, rerr, s.Close())
	}
}

// silent are the accesses that may fail without an error, because the package does without them.
var silent = []string{
	"read README", "read error_log", // features and explanations
}

// TestFaultsAtEachAccess makes each access fail, once and permanently, with errors of the kernel. The package must
// return the error, and leave nothing or say what it leaves. A later sweep must remove the rest. No file may stay
// open.
func TestFaultsAtEachAccess(t *testing.T) {
	errnos := []error{unix.EBUSY, unix.ENOSPC, unix.EINVAL, unix.ENOMEM, unix.EIO, unix.EPERM}
	open := openFiles(t)
	t.Run("lifetimes", func(t *testing.T) {
		for _, name := range slices.Sorted(maps.Keys(lifetimes)) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f, whole := fakeFor(t, name)
				if err := lifetimes[name](t.Context(), f, func() {}); err != nil || len(whole.log) < 10 {
					t.Fatalf("without a fault: %v after %d accesses", err, len(whole.log))
				}
				for at, access := range whole.log {
					if at > 0 && whole.log[at-1] == access {
						continue // the clock, which is read many times
					}
					errno := errnos[at%len(errnos)]
					faultAt(t, name, at+1, false, errno)
					if errno != unix.EBUSY { // repeated for a while
						faultAt(t, name, at+1, true, errno)
					}
				}
			})
		}
	})
	if now := openFiles(t); now > open {
		t.Errorf("%d files are open, and were %d", now, open)
	}
}

// fakeFor returns the fake for a lifetime.
func fakeFor(t *testing.T, lifetime string) (*FS, *fakeFiles) {
	if lifetime == "top level" {
		return linux310(t)
	}
	return newFake(t)
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	fixture.NoError(t, err)
	return len(entries)
}

// faultAt runs a lifetime in which one access fails.
func faultAt(t *testing.T, name string, at int, lasting bool, errno error) {
	f, fake := fakeFor(t, name)
	before := fake.settings()
	fake.failAt, fake.lasting, fake.err = at, lasting, errno
	closing := 0
	err := lifetimes[name](t.Context(), f, func() { closing = len(fake.log) })
	fake.failAt = 0
	if len(fake.log) < at {
		return // the number of accesses differs from run to run
	}
	failed := fake.log[at-1]
	if err == nil && !slices.Contains(silent, failed) && !retried(failed, errno) {
		t.Errorf("%s: %v: nobody was told", failed, errno)
	}
	if err != nil && !errors.Is(err, errno) && !errors.Is(err, ErrNotSupported) {
		t.Errorf("%s: %v: error %v does not tell", failed, errno, err)
	}
	left := fake.left()
	removable := !lasting && name != "sweep" && (closing == 0 || at <= closing)
	if now := fake.settings(); removable && now != before {
		t.Errorf("%s: %v: the top level is %q, was %q", failed, errno, now, before)
	}
	if name == "top level" && strings.HasSuffix(failed, "enable 0") {
		removable = false // elsewhere, the events are enabled in the instance only
	}
	if len(left) > 0 && (err == nil || removable) {
		t.Errorf("%s: %v: left %q, told %v", failed, errno, left, err)
	}
	names := make(map[string]bool)
	for _, pattern := range []string{"instances/ftgo_*", "events/ftgo_*"} {
		dirs, _ := filepath.Glob(filepath.Join(fake.root, pattern))
		for _, d := range dirs {
			names[filepath.Base(d)] = true
		}
	}
	for left := range names {
		if err != nil && name != "sweep" && !strings.Contains(err.Error(), left) {
			t.Errorf("%s: %v: %s is left, and error %v does not name it", failed, errno, left, err)
		}
		if _, err := f.sweep(Leftover{Name: left, instance: f.exists("instances", left)}); err != nil {
			t.Errorf("%s: %v: sweep what is left: %v", failed, errno, err)
		}
	}
	if left := fake.left(); len(left) > 0 {
		t.Errorf("%s: %v: after a sweep there is still %q", failed, errno, left)
	}
}

// retried reports whether the package repeats an access after an error.
func retried(access string, errno error) bool {
	return errno == unix.EBUSY && strings.HasPrefix(access, "rmdir") ||
		errno == unix.EINVAL && strings.HasPrefix(access, "list events/") ||
		strings.HasSuffix(access, "/cpu0/stats") // the clock
}
