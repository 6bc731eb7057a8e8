package tracefs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/machine"
)

// Options say how a session is run. The zero value suits most.
type Options struct {
	// BufferKB is the size of the ring buffer per CPU; 0 is 16 MB, or less where that would
	// be more than a sixteenth of the available memory.
	BufferKB int
	// Features replaces what the kernel is found to do, for doing without some.
	Features *Features
	// Quiet arms the probes for counting only: nothing is recorded but events with a Filter.
	Quiet bool
	// Raw reads the pages of the ring buffer as they are, CPU by CPU, with [Session.ReadPages],
	// instead of trace_pipe, which the kernel formats as text, with [Session.Read]. It costs a
	// fraction of the text, and time stamps of clocks that text cuts to microseconds come whole.
	// Where the text of an event may be too long for its line, a session is raw in any case.
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
	// Unchanged, if set, is asked between the definition of the probes and their arming, and vetoes it:
	// in a file that has changed a breakpoint lands in the middle of an instruction.
	Unchanged func() error
}

// Session is a set of events in an instance of their own, from definition to removal: probes
// ([Start]), or events of the kernel itself ([StartKernel]). Close must always be called, methods
// that don't read only once.
type Session struct {
	// Name is the session's group in uprobe_events and its instance.
	Name string
	// Began is the trace clock's time before the first probe was armed.
	Began uint64

	threads  // that have hit probes
	fs       *FS
	target   Target
	events   []Event
	joined   []int // where the events of each extension begin
	features Features
	pipe     int           // trace_pipe, -1 unless it is open
	wake     chan struct{} // holds one thing if the reader is to be woken
	timer    *time.Timer   // of the reader's sleep
	raw      *pages        // nil unless Options.Raw
	clocks   machine.Comparison
	created  bool  // the instance directory
	defined  bool  // some line was written to uprobe_events
	taken    error // not nil if perf has one of the events
	stopping bool  // Stop was called
	stopped  chan struct{}
	stopErr  error
	closed   bool
	borrowed []setting // of the top level, to be put back
	kernel   bool      // its events are the kernel's own
	listed   bool      // only events of the threads in set_event_pid are recorded
}

// Start defines the events, arms them, and begins recording. The order matters:
// events are armed from the last to the first and disarmed from the first to the
// last, so that a caller who puts the entries of functions first and their returns
// last never sees an entry whose return was not yet, or no longer, armed.
//
// On error nothing remains in the kernel. Cancelling ctx makes it give up between two steps.
func Start(ctx context.Context, f *FS, target Target, events []Event, opt Options) (*Session, error) {
	opt.Raw = opt.Raw || slices.ContainsFunc(events, Event.longText)
	s, lines, err := newSession(f, target, events, opt.Features)
	if err != nil {
		return nil, err
	}
	return s.begin(
		func() error { return s.prepare(opt) },
		func() (err error) { s.Began, err = s.clocks.Begin(); return err },
		func() error { return checkFileSystem(s.target.Path, machine.This().Older) },
		func() error { return s.define(ctx, lines) },
		func() error { return s.enableAll(ctx, s.events) },
	)
}

// newSession checks what can be checked without the kernel. lines define the events.
func newSession(f *FS, target Target, events []Event, features *Features) (s *Session, lines []string, err error) {
	who, err := newOwner()
	if err != nil {
		return nil, nil, fmt.Errorf("name session: %w", err)
	}
	s = &Session{
		Name: who.String(), fs: f, target: target, events: events, threads: threads{known: make(map[int]thread)},
		pipe: -1, wake: make(chan struct{}, 1), timer: time.NewTimer(0), stopped: make(chan struct{}),
	}
	if features == nil {
		features = new(f.Features())
	}
	s.features = *features
	s.clocks.Stats = func() ([]byte, error) { return f.files.Read(s.file("per_cpu", "cpu0", "stats")) }
	if len(events) > 0 {
		if lines, err = s.definitions(events); err != nil {
			return nil, nil, err
		}
		if !f.exists("uprobe_events") {
			return nil, nil, fmt.Errorf("find %s: %w (the kernel needs CONFIG_UPROBE_EVENTS=y)", f.path("uprobe_events"), ErrNotSupported)
		}
	}
	return s, lines, nil
}

// begin makes everything; what was made when that fails, or panics, it removes.
func (s *Session) begin(steps ...func() error) (*Session, error) {
	panicked := true
	defer func() {
		if panicked {
			_ = s.Close()
		}
	}()
	err := inTurn(steps...)
	if panicked = false; err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// inTurn takes steps until one fails.
func inTurn(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes the instance and everything in it that is not an event.
func (s *Session) prepare(opt Options) error {
	// The options come before the pipe, for which some of them are settled when it is opened.
	place := []func() error{s.makeInstance, s.setPlain}
	if !s.features.Instances {
		place = []func() error{func() error { return s.borrowTopLevel(opt) }}
	}
	return inTurn(append(place,
		// Before the pipe, too: how a pipe prints times is settled when it is opened
		// (kernel/trace/trace.c, tracing_open_pipe), and it prints cycles as
		// microseconds if the clock becomes a counter later.
		func() error { return s.setClock(opt) },
		s.openPipe,
		func() error { return s.openPages(opt) },
		func() error { return s.resize(opt) },
		func() error { return s.write("1", "tracing_on") },
		func() error {
			if !s.features.RecordTGID {
				return nil
			}
			return s.write("1", "options", "record-tgid")
		},
	)...)
}

func (s *Session) makeInstance() error {
	err := s.fs.files.Mkdir(s.file())
	s.created = err == nil
	return err
}

// openPipe comes before anything else: while the pipe is open nobody else can remove the instance.
func (s *Session) openPipe() (err error) {
	if s.pipe, err = s.fs.files.Pipe(s.file("trace_pipe")); err == nil {
		s.fs.pipes.Add(1)
	}
	return err
}

func (s *Session) openPages(opt Options) (err error) {
	if opt.Raw {
		s.raw, err = openPages(s.fs.files, s.file("per_cpu"))
		s.notes = func() map[int]int {
			text, _ := s.fs.files.Read(s.fs.path("saved_tgids")) // since Linux 4.13
			return parseNotes(string(text))
		}
	}
	return err
}

// setClock chooses the clock of the instance. Writing it empties the ring buffers, which
// takes a grace period of some 15 ms (kernel/trace/trace.c, tracing_set_clock), so a
// session that only counts stays with the one that the instance has come with.
func (s *Session) setClock(opt Options) error {
	offered, err := s.fs.files.Read(s.file("trace_clock"))
	if err != nil {
		return err
	}
	if opt.Quiet {
		s.clocks.Choose(settingOf(string(offered)))
		return nil
	}
	clock, _ := machine.This().ChooseClock(string(offered))
	s.clocks.Choose(clock)
	return s.write(clock, "trace_clock")
}

// growTopLevel has the buffer of the top level grow as it does when anybody's first event is switched
// on: nothing is, but the kernel does it all the same when told that nothing shall be. Before Linux
// 6.7 it would stay a page for good, once any buffer was given a size (ring_buffer_expanded in
// kernel/trace/trace.c), and who traces there next would lose almost everything.
func (s *Session) growTopLevel() error {
	if !s.features.Instances {
		return nil
	}
	now, err := s.fs.readTrimmed("buffer_size_kb")
	if err != nil || !strings.Contains(now, "(expanded") {
		return err
	}
	return s.write("0", "events", "enable")
}

// resize gives the session's ring buffers their size. One that was chosen is had or not;
// else the kernel may have less to give than it seemed. One that only counts needs none.
func (s *Session) resize(opt Options) error {
	if opt.Quiet {
		return nil
	}
	if err := s.growTopLevel(); err != nil {
		return err
	}
	chosenKB := opt.BufferKB
	for kb := cmp.Or(chosenKB, machine.This().BufferKB()); ; kb /= 2 {
		err := s.write(fmt.Sprint(kb), "buffer_size_kb")
		if err == nil {
			return nil
		}
		if chosenKB == 0 && errors.Is(err, unix.ENOMEM) && kb > machine.LeastBufferKB {
			continue
		}
		err = fmt.Errorf("make ring buffers of %d KB per CPU: %w", kb, err)
		if available, cpus, ok := machine.This().AvailableMemory(); ok && errors.Is(err, unix.ENOMEM) {
			err = fmt.Errorf("%w (%d KB are available for %d CPUs)", err, available, cpus)
		}
		return err
	}
}

// file is the path of a file of the session's instance, or of the top level in its place.
func (s *Session) file(elem ...string) string {
	if !s.features.Instances {
		return s.fs.path(elem...)
	}
	return s.fs.path(append([]string{"instances", s.Name}, elem...)...)
}

func (s *Session) eventFile(ev *Event, name string) string {
	return s.file("events", cmp.Or(ev.group, s.Name), ev.Name, name)
}

// write writes a file of the session's instance.
func (s *Session) write(text string, elem ...string) error {
	return s.fs.files.Write(s.file(elem...), text)
}
