package tracefs

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/owner"
	"github.com/ftgo/ftgo/tracefs/internal/files"
)

// KernelSession records events of the kernel itself, as they happen to some processes, in
// an instance of its own beside that of a [Session]: they can take no room from hits of
// probes, nothing in them can be taken for a hit, and the kernel's filter by process,
// which probes are not to have, applies to them alone. Its clock is the one that a Session
// has.
type KernelSession struct {
	s       *Session
	names   []string
	listed  bool // only events of the threads in set_event_pid are recorded
	stopped bool
}

// Now is the trace clock's present value, as time stamps of events have it.
func (k *KernelSession) Now() (uint64, error) {
	now, err := k.s.Now()
	return now.Ticks, err
}

// StartKernel begins to record events, GROUP:EVENT as [FS.KernelEvents] has found them, of
// no process but those that Follow and Spawn add. bufferKB is the size of the ring buffer
// per CPU; 0 is what suits the machine.
func StartKernel(f *FS, names []string, bufferKB int) (*KernelSession, error) {
	return startKernel(f, names, bufferKB, func(k *KernelSession) error {
		if err := k.s.beginFollowing(); err != nil {
			return err
		}
		k.listed = true
		// No list would mean all processes. One whose only thread has ended is still a list.
		return k.Spawn(func() error { return nil })
	})
}

// StartKernelOfAll is StartKernel for events of all processes, without Follow.
func StartKernelOfAll(f *FS, names []string, bufferKB int) (*KernelSession, error) {
	return startKernel(f, names, bufferKB, func(*KernelSession) error { return nil })
}

// startKernel makes the instance, and enables the events when restrict has said of what.
func startKernel(f *FS, names []string, bufferKB int, restrict func(*KernelSession) error) (*KernelSession, error) {
	who, err := owner.New()
	if err != nil {
		return nil, fmt.Errorf("name session: %w", err)
	}
	s := &Session{fs: f, name: who.String(), stopped: make(chan struct{}), features: f.Features()}
	k := &KernelSession{s: s, names: names}
	if !s.features.Instances {
		return nil, fmt.Errorf("record kernel events: %w (instances, since Linux 3.14)", ErrNotSupported)
	}
	err = s.prepare(Options{Raw: true, BufferKB: bufferKB})
	if err == nil {
		err = restrict(k)
	}
	if err == nil {
		err = k.enable()
	}
	if err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}

func (k *KernelSession) enable() error {
	for _, name := range k.names {
		if err := k.s.fs.tree.Ops.Write(k.eventFile(name, "enable"), "1"); err != nil {
			return fmt.Errorf("enable kernel event %s: %w", name, err)
		}
	}
	return nil
}

func (k *KernelSession) eventFile(name, file string) string {
	group, event, _ := strings.Cut(name, ":")
	return k.s.file("events", group, event, file)
}

// Names are the events, GROUP:EVENT each.
func (k *KernelSession) Names() []string { return slices.Clone(k.names) }

// Follow records events of a process, and of the threads and processes that it starts, too.
func (k *KernelSession) Follow(pid int) error {
	if !k.listed {
		return nil
	}
	return k.s.follow(pid)
}

// Spawn calls start on a thread whose events are recorded, as will be those of the process
// that it starts, from its first.
func (k *KernelSession) Spawn(start func() error) error {
	if !k.listed {
		return start()
	}
	done := make(chan error)
	go func() {
		// The thread ends with this goroutine, because it stays locked to it, and with it
		// its place on the list.
		runtime.LockOSThread()
		file := k.s.file("set_event_pid")
		if err := k.s.fs.tree.Ops.Append(file, fmt.Sprintln(unix.Gettid())); err != nil {
			done <- files.Refused("write", file, err)
			return
		}
		done <- start()
	}()
	return <-done
}

// Formats are the kernel's descriptions of how the events lie in raw pages, in the order
// of Names.
func (k *KernelSession) Formats() ([]string, error) {
	texts := make([]string, len(k.names))
	for i, name := range k.names {
		b, err := k.s.fs.tree.Ops.Read(k.eventFile(name, "format"))
		if err != nil {
			return nil, files.Refused("read", k.eventFile(name, "format"), err)
		}
		texts[i] = string(b)
	}
	return texts, nil
}

// Pages makes a pass over all CPUs, and never waits. page gets each page, valid until it
// returns, and an empty one where a CPU has nothing more. n is the number of pages.
func (k *KernelSession) Pages(page func(cpu int, page []byte)) (n int, err error) {
	return k.s.raw.Pass(page)
}

// Process returns the process of a thread, 0 if it is unknown or the idle one.
func (k *KernelSession) Process(tid int) int {
	if tid == 0 {
		return 0
	}
	return k.s.raw.Owners.Process(tid)
}

// Overruns is how many events the ring buffer has lost.
func (k *KernelSession) Overruns() (uint64, error) { return k.s.Overruns() }

// Stop ends recording: Pages then gives what is left.
func (k *KernelSession) Stop() error {
	if k.stopped {
		return nil
	}
	k.stopped = true
	return k.s.writeFile("tracing_on", "0")
}

// writeFile writes a file of the session's instance.
func (s *Session) writeFile(name, text string) error {
	if err := s.fs.tree.Ops.Write(s.file(name), text); err != nil {
		return files.Refused("write", s.file(name), err)
	}
	return nil
}

// Close removes the instance, and with it what is enabled in it. It may be called again.
func (k *KernelSession) Close() error { return k.s.Close() }
