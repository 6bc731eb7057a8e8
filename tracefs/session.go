package tracefs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/clocks"
	"github.com/ftgo/ftgo/internal/owner"
	"github.com/ftgo/ftgo/tracefs/internal/files"
	"github.com/ftgo/ftgo/tracefs/internal/ring"
	"github.com/ftgo/ftgo/tracefs/internal/threads"
)

// Options say how a session is run. The zero value suits most.
type Options struct {
	// BufferKB is the size of the ring buffer per CPU; 0 is 16 MB, or less where that would
	// be more than a sixteenth of the available memory.
	BufferKB int
	// Features replaces what the kernel is found to do, for doing without some.
	Features *Features
	// Quiet arms the probes for counting only: hits are counted, nothing is
	// recorded but events with a Filter.
	Quiet bool
	// Raw reads the pages of the ring buffer as they are, CPU by CPU, with [Session.ReadPages],
	// instead of trace_pipe, which the kernel formats as text, with [Session.Read]. It costs a
	// fraction of the text, and time stamps of clocks that text cuts to microseconds come whole.
	Raw bool
	// TopLevel allows the session to use the top level of tracefs, which everybody shares,
	// on kernels that do not record in instances ([Features].Instances).
	TopLevel bool
}

// Target is the file whose instructions are probed.
type Target struct {
	// Path is how the kernel finds the file. "/proc/self/fd/N" names the very file
	// this process has open, whatever happens to its name.
	Path string
	// Unchanged, if set, is asked between the definition of the probes and their
	// arming, and vetoes it: a breakpoint in a file that has changed lands
	// in the middle of an instruction.
	Unchanged func() error
}

// Session is a set of probes in an instance of their own, from their definition to
// their removal. Its methods but Read may be called once; Close always must be.
type Session struct {
	fs       *FS
	name     string // of the group and of the instance
	target   Target
	events   []Event
	joined   []int // where the events of each extension begin
	features Features
	pipe     *ring.Pipe
	raw      *ring.Pages // nil unless Options.Raw
	clocks   clocks.Comparison
	began    uint64 // the trace clock's time before the first probe was armed
	created  bool   // the instance directory
	defined  bool   // some line was written to uprobe_events
	taken    error  // not nil if perf has one of the events
	stopped  chan struct{}
	stopErr  error
	closed   bool
	borrowed []setting // of the top level, to be put back
	owners   *threads.OfLines
}

// Start defines the events, arms them, and begins recording. The order matters:
// events are armed from the last to the first and disarmed from the first to the
// last, so that a caller who puts the entries of functions first and their returns
// last never sees an entry whose return was not yet, or no longer, armed.
//
// On error nothing remains in the kernel. Cancelling ctx makes it give up between
// two steps.
func Start(ctx context.Context, f *FS, target Target, events []Event, opt Options) (*Session, error) {
	s, err := newSession(f, events, opt)
	if err != nil {
		return nil, err
	}
	started := false
	defer func() {
		if !started { // it may have panicked
			_ = s.Close()
		}
	}()
	if err := s.start(ctx, target, opt); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	started = true
	return s, nil
}

// newSession checks what can be checked without the kernel.
func newSession(f *FS, events []Event, opt Options) (*Session, error) {
	who, err := owner.New()
	if err != nil {
		return nil, fmt.Errorf("name session: %w", err)
	}
	s := &Session{fs: f, name: who.String(), events: events, stopped: make(chan struct{}), owners: threads.NewOfLines()}
	s.features = f.Features()
	if opt.Features != nil {
		s.features = *opt.Features
	}
	for i := range events {
		if err := s.check(&events[i]); err != nil {
			return nil, err
		}
	}
	if !f.tree.Exists("uprobe_events") {
		return nil, fmt.Errorf("find %s: %w (the kernel needs CONFIG_UPROBE_EVENTS=y)", f.tree.Path("uprobe_events"), ErrNotSupported)
	}
	return s, nil
}

// start makes everything; what it has made when it fails is for Close to remove.
func (s *Session) start(ctx context.Context, target Target, opt Options) error {
	if err := s.prepare(opt); err != nil {
		return err
	}
	first, err := s.sampleClock()
	if err != nil {
		return err
	}
	s.clocks.Begin(first)
	if err := checkFileSystem(target.Path, KernelOlder); err != nil {
		return err
	}
	s.began = first.Ticks
	s.target = target
	s.defined = true
	if err := s.defineAll(ctx, s.events); err != nil {
		return err
	}
	return s.enableAll(ctx, s.events)
}

// prepare makes the instance and everything in it that is not an event.
func (s *Session) prepare(opt Options) error {
	if s.features.Instances {
		if err := s.fs.tree.Ops.Mkdir(s.file()); err != nil {
			return files.Refused("make", s.file(), err)
		}
		s.created = true
		// Before the pipe, too, for which some of it is settled when it is opened.
		if err := s.setPlain(); err != nil {
			return err
		}
	} else if err := s.borrowTopLevel(opt); err != nil {
		return err
	}
	// Before the pipe: how a pipe prints times is settled when it is opened
	// (kernel/trace/trace.c, tracing_open_pipe), and it prints cycles as
	// microseconds if the clock becomes a counter later.
	if err := s.setClock(opt); err != nil {
		return err
	}
	// Before anything else: while the pipe is open nobody else can remove the
	// instance.
	fd, err := s.fs.tree.Ops.Pipe(s.file("trace_pipe"))
	if err != nil {
		return files.Refused("open", s.file("trace_pipe"), err)
	}
	s.pipe = ring.NewPipe(fd)
	s.fs.tree.Pipes.Add(1)
	if opt.Raw {
		if s.raw, err = ring.OpenPages(s.fs.tree.Ops, s.file("per_cpu"), s.fs.notedProcesses); err != nil {
			return err
		}
	}
	return s.configure(opt)
}

// configure sets the instance's options.
func (s *Session) configure(opt Options) error {
	settings := []setting{{"tracing_on", "1"}}
	if !opt.Quiet {
		if err := s.growTopLevel(); err != nil {
			return err
		}
		if err := s.resize(opt.BufferKB); err != nil {
			return err
		}
	}
	if s.features.RecordTGID {
		settings = append(settings, setting{"options/record-tgid", "1"})
	}
	for _, set := range settings {
		if err := s.fs.tree.Ops.Write(s.file(set.file), set.value); err != nil {
			return files.Refused("write", s.file(set.file), err)
		}
	}
	return nil
}

// defineAll writes the definitions of events.
func (s *Session) defineAll(ctx context.Context, events []Event) error {
	// The first site of each event comes before the second of any: to append a site
	// the kernel looks for its event from the beginning of the list of all sites
	// (kernel/trace/trace_uprobe.c, find_probe_event).
	var first, rest []string
	for i := range events {
		lines := events[i].Definitions(s.name, s.target.Path)
		first, rest = append(first, lines[0]), append(rest, lines[1:]...)
	}
	if err := s.fs.define(ctx, append(first, rest...)); err != nil {
		return err
	}
	if s.target.Unchanged != nil {
		return s.target.Unchanged()
	}
	return nil
}

// enableAll enables events, the last first.
func (s *Session) enableAll(ctx context.Context, events []Event) error {
	for i := len(events) - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		ev := &events[i]
		if ev.Filter != "" {
			if err := s.fs.tree.Ops.Write(s.eventFile(ev, "filter"), ev.Filter); err != nil {
				return fmt.Errorf("filter event %s by %q: %w", ev.Name, ev.Filter, err)
			}
		}
		if err := s.enable(ev); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) enable(ev *Event) error {
	if err := s.fs.tree.Ops.Write(s.eventFile(ev, "enable"), "1"); err != nil {
		if errors.Is(err, unix.EINTR) {
			s.taken = fmt.Errorf("event %s is traced by perf_event_open, which has to end first: %w", ev.Name, err)
			return s.taken
		}
		return fmt.Errorf("enable event %s with %d sites in %s: %w", ev.Name, len(ev.Sites), s.target.Path, unreadable(err))
	}
	return nil
}

// Name is the session's group in uprobe_events and its instance.
func (s *Session) Name() string { return s.name }

// file is the path of a file of the session's instance, or of the top level in its place.
func (s *Session) file(elem ...string) string {
	if !s.features.Instances {
		return s.fs.tree.Path(elem...)
	}
	return s.fs.tree.Path(append([]string{"instances", s.name}, elem...)...)
}

func (s *Session) eventFile(ev *Event, name string) string {
	return filepath.Join(s.file("events", s.name), ev.Name, name)
}

// Process returns the process of a thread, 0 if it is unknown. printed is the TGID column
// of the thread's newest line, 0 where it has none.
func (s *Session) Process(tid, printed int) int {
	if s.raw != nil {
		return s.raw.Owners.Process(tid)
	}
	return s.owners.Process(tid, printed)
}

// Forget drops what is known of processes that have ended, all of whose events have been
// read: others may get their numbers, and those of their threads.
func (s *Session) Forget(ended map[int]bool) {
	if s.raw != nil {
		s.raw.Owners.Forget(ended)
		return
	}
	s.owners.Forget(ended)
}
