// Package tracefs drives the kernel's uprobe_events interface through the files of tracefs: it finds and
// mounts the file system, writes probe definitions, runs a session in an instance of its own, reads
// trace_pipe or the pages of the ring buffer, the hit counters and the error log, and leaves nothing
// behind. The public package of this name has that part of it which is for others.
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

	"github.com/ftgo/ftgo/internal/machine"
)

// Errors that callers tell apart.
var (
	// ErrNotMounted: no directory has the files of tracefs.
	ErrNotMounted = errors.New("tracefs is not mounted")
	// ErrNotSupported: the kernel lacks what was asked for.
	ErrNotSupported = errors.New("not supported by this kernel")
	// ErrRefused: the kernel refused a definition.
	ErrRefused = errors.New("definition refused")
	// ErrRemains: a session was not removed whole. [FS.Sweep] tries again when the process has ended.
	ErrRemains = errors.New("remains in the kernel")
)

// FS is a mounted tracefs: a directory, so that tests can pass any other.
type FS struct {
	// Expedite allows /sys/kernel/rcu_expedited to be set while many events are disarmed.
	Expedite bool
	// Progress, if set, is told how far what takes its time is, be it by several goroutines.
	Progress func(what string, done, of int)

	dir   string // where it is mounted
	files files
	pipes atomic.Int32 // how many sessions of this process have their pipes open
	// memory is whether events fetch from it, once that is known.
	memory struct {
		sync.Once
		known, fetched bool
	}
	// rcuDir has the kernel's switches for grace periods.
	rcuDir   string
	hurrying hurrying
}

// At returns the tracefs mounted at dir; nothing is checked.
func At(dir string) *FS {
	return &FS{dir: dir, files: inTurns(dir), rcuDir: "/sys/kernel"}
}

// few is how many sites, or events, take no time worth telling.
const few = 8

// telling returns what tells Progress how many were done of many.
func (f *FS) telling(what string) func(done, of int) {
	return func(done, of int) {
		if f.Progress != nil && of > few {
			f.Progress(what, done, of)
		}
	}
}

// Dir is where the file system is mounted.
func (f *FS) Dir() string { return f.dir }

// path is that of a file.
func (f *FS) path(elem ...string) string {
	return filepath.Join(append([]string{f.dir}, elem...)...)
}

// exists tells whether a file of this tracefs is there.
func (f *FS) exists(elem ...string) bool {
	_, err := os.Stat(f.path(elem...))
	return !isNotExist(err)
}

// readTrimmed returns a small file without the white space around it.
func (f *FS) readTrimmed(elem ...string) (string, error) {
	b, err := f.files.Read(f.path(elem...))
	return strings.TrimSpace(string(b)), err
}

// Find returns the mounted tracefs, or an error that is [ErrNotMounted].
func Find() (*FS, error) { return find(machine.MountPoints) }

func find(dirs []string) (*FS, error) {
	var denied error
	for _, dir := range dirs {
		// The directory is there, empty, where tracefs could be mounted: only a file in it tells.
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

// Mount is Find, but where tracefs is not mounted, root mounts it at its usual place, or debugfs on
// kernels that have tracefs only below it. unmount undoes that; it is nil if nothing was mounted.
func Mount() (f *FS, unmount func() error, err error) {
	if f, err = Find(); !errors.Is(err, ErrNotMounted) || os.Geteuid() != 0 {
		return f, nil, err
	}
	point := machine.Tracing
	errTrace := unix.Mount("tracefs", point, "tracefs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if errTrace != nil {
		point = machine.Debugfs
		if err := unix.Mount("debugfs", point, "debugfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
			return nil, nil, fmt.Errorf("mount tracefs at %s: %w (debugfs: %v)", machine.Tracing, errTrace, err)
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

// Features is what this kernel's uprobe_events can do, as far as it matters here.
type Features = machine.Features

// Features asks the kernel. What can be tried without leaving a trace is tried; the rest is
// told by the files that are there, and by the README that tracefs carries.
func (f *FS) Features() Features {
	readme, _ := f.files.Read(f.path("README"))
	// kernel/trace/trace.c since 5.4: "Create/append/remove/show"; before:
	// "Add/remove/show", or no README at all (3.10, 4.4).
	_, after, _ := strings.Cut(string(readme), "uprobe_events")
	line, _, _ := strings.Cut(after, "\n")
	appends := strings.Contains(line, "append")
	// Event triggers came with 3.14, as did recording in instances, of which nothing else
	// tells but a hit (kernel/trace/trace_uprobe.c; later kernels may have no event
	// sched_switch for us to see, but have set_event_pid).
	since314 := f.exists("set_event_pid") || f.exists("events", "sched", "sched_switch", "trigger")
	return Features{
		Append: appends,
		// Nothing tells of it, but it came with the same versions.
		PushEmulated: appends,
		Arrays:       strings.Contains(string(readme), "<array-size>"),
		RecordTGID:   f.exists("options", "record-tgid"),
		EventFork:    f.exists("options", "event-fork"),
		EventPID:     f.exists("set_event_pid"),
		Memory:       appends || f.fetchesMemory(since314),
		Instances:    since314,
		ExactHits:    machine.This().Features().ExactHits, // nothing tells of it
	}
}

// fetchesMemory tries it, once: RHEL 7's 3.10 fetches from memory, and has nothing else of 3.14.
// Who may not define events is told what is likely.
func (f *FS) fetchesMemory(likely bool) bool {
	f.memory.Do(func() {
		f.memory.fetched = f.takes("+0(%sp):u64")
		f.memory.known = f.memory.fetched || f.takes("%sp:u64")
	})
	return f.memory.fetched || !f.memory.known && likely
}

// takes tells whether the kernel takes an event that fetches this, which is removed, and never enabled.
func (f *FS) takes(fetch string) bool {
	who, err := thisProcess()
	if err != nil {
		return false
	}
	err = f.files.Append(f.path("uprobe_events"), fmt.Sprintf("p:%s/trial /proc/self/exe:0x0 v=%s\n", who, fetch))
	return err == nil && f.removeGroup(who.String()) == nil
}
