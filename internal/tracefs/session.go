package tracefs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Options are the options of a session. The zero value suits most sessions.
type Options struct {
	// BufferKB is the size of the ring buffer per CPU in KB. 0 selects 16 MB, or less if that is more than a
	// sixteenth of the available memory.
	BufferKB int
	// Features, if not nil, replaces the features that the kernel has, so that a session can do without some.
	Features *Features
	// Quiet is for sessions that only count hits: the instance keeps its initial clock and its small ring buffer.
	Quiet bool
	// Off is for sessions that record nothing, and only read the kernel's counters. Hits cost less then.
	Off bool
	// Raw selects [Session.ReadPages], which reads the pages of the ring buffer CPU by CPU, instead of
	// [Session.Read], which reads trace_pipe. Pages cost a fraction of the text, and have time stamps in full where
	// text has only microseconds. A session is always raw if the text of an event may be too long for its line.
	Raw bool
	// TopLevel allows the session to use the top level of tracefs, which all processes share, on kernels that do
	// not record in instances ([Features].Instances).
	TopLevel bool
	// Alone lists processes. If it is not empty, events without Args are armed in these processes only, if the kernel
	// allows it and no other program probes the same instructions ([Session.Alone]).
	Alone []int
}

// Target is the file whose instructions are probed.
type Target struct {
	// Path is the path by which the kernel finds the file. "/proc/self/fd/N" is the file that this process has
	// open, even if its name now belongs to another file.
	Path string
	// Unchanged, if not nil, is called after the probes are defined and before they are armed. If it returns an
	// error, no probe is armed. DANGER: in a file that has changed, a breakpoint may be placed in the middle of an
	// instruction, which the kernel accepts and which corrupts the program.
	Unchanged func() error
}

// Session is a set of events in its own instance, from definition to removal: probes ([Start]), or kernel events
// ([StartKernel]). The caller must call Close. Stop may be called only once.
type Session struct {
	// Name is the session's group in uprobe_events and its instance.
	Name string
	// Began is the trace clock before the first probe was armed.
	Began uint64

	perf          // the events that are armed in single processes
	threads       // processes of the threads that have hit probes
	fs            *FS
	target        Target
	events        []Event
	extensions    []int // the index of the first event of each extension
	features      Features
	pipe          int           // descriptor of trace_pipe, -1 if it is not open
	wake          chan struct{} // has one element if the reader's sleep must end
	raw           *pages        // nil unless Options.Raw
	drained       bool          // the last read found the buffers empty, or emptied them
	clocks        Comparison
	created       bool  // the instance directory was created
	defined       bool  // a line was written to uprobe_events
	perfErr       error // not nil if perf has enabled one of the events
	stopping      bool  // Stop was called
	stopped       chan struct{}
	stopErr       error
	closed        bool
	savedSettings []setting // settings of the top level that Close restores
	kernel        bool      // its events are kernel events
	pidFilter     bool      // only events of the threads in set_event_pid are recorded
}

// Start defines the events, arms them, and starts recording. Events are armed from the last to the first, and disarmed
// from the first to the last. So a caller that orders the entries of functions before their returns never sees an entry
// while the return is not armed.
//
// After an error, nothing remains in the kernel. Start stops between two steps if ctx is done.
func Start(ctx context.Context, f *FS, target Target, events []Event, opt Options) (*Session, error) {
	opt.Raw = opt.Raw || slices.ContainsFunc(events, Event.textMayOverflow)
	s, lines, err := newSession(f, target, events, opt.Features)
	if err != nil {
		return nil, err
	}
	s.pids, s.only = opt.Alone, len(opt.Alone) > 0
	return s.begin(
		func() error { return s.prepare(opt) },
		func() (err error) { s.Began, err = s.clocks.Begin(); return err },
		func() error { return checkFileSystem(s.target.Path, ThisMachine().Older) },
		func() error { return s.define(ctx, lines) },
		func() error { return s.armFirst(ctx) },
	)
}

// newSession creates a session without any change in the kernel, and checks the events. lines are their definitions.
func newSession(f *FS, target Target, events []Event, features *Features) (s *Session, lines []string, err error) {
	o, err := newOwner()
	if err != nil {
		return nil, nil, fmt.Errorf("name session: %w", err)
	}
	s = &Session{
		Name: o.String(), fs: f, target: target, events: events, threads: threads{known: make(map[int]thread)},
		perf: perf{watch: -1, fds: make(map[string][]int)}, pipe: -1, wake: make(chan struct{}, 1), stopped: make(chan struct{}),
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

// begin runs the steps that start a session. If a step fails or panics, begin closes the session.
func (s *Session) begin(steps ...func() error) (*Session, error) {
	panicked := true
	defer func() {
		if panicked {
			_ = s.Close()
		}
	}()
	err := runSteps(steps...)
	if panicked = false; err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// runSteps calls steps until one fails.
func runSteps(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// prepare creates and configures the instance, without events.
func (s *Session) prepare(opt Options) error {
	// The options are set before the pipe is opened, because opening it reads some of them.
	steps := []func() error{s.makeInstance, s.setOptions}
	if !s.features.Instances {
		steps = []func() error{func() error { return s.useTopLevel(opt) }}
	}
	on := "1"
	if opt.Off && s.features.Instances { // the switch of the top level belongs to all tools
		on = "0"
	}
	return runSteps(append(steps,
		// The clock is set before the pipe is opened, too: opening the pipe determines how it prints times
		// (kernel/trace/trace.c, tracing_open_pipe). If the clock became a counter later, the pipe would
		// print its cycles as microseconds.
		func() error { return s.setClock(opt) },
		s.openPipe,
		func() error { return s.openPages(opt) },
		func() error { return s.resize(opt) },
		func() error { return s.write(on, "tracing_on") },
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

// openPipe opens trace_pipe. The session opens it before the events are defined, because no other process can remove
// the instance while the pipe is open.
func (s *Session) openPipe() (err error) {
	if s.pipe, err = s.fs.files.Pipe(s.file("trace_pipe")); err == nil {
		s.fs.pipes.Add(1)
	}
	return err
}

func (s *Session) openPages(opt Options) (err error) {
	if opt.Raw {
		s.raw, err = openPages(s.fs.files, s.file("per_cpu"))
		s.readTGIDs = func() map[int]int {
			text, _ := s.fs.files.Read(s.fs.path("saved_tgids")) // since Linux 4.13
			return parseTGIDs(string(text))
		}
	}
	return err
}

// setClock chooses the clock of the instance. A quiet session keeps the initial clock, because a write to trace_clock
// empties the ring buffers, which takes a grace period of about 15 ms (kernel/trace/trace.c, tracing_set_clock).
func (s *Session) setClock(opt Options) error {
	offered, err := s.fs.files.Read(s.file("trace_clock"))
	if err != nil {
		return err
	}
	if opt.Quiet {
		s.clocks.base.Clock = settingValue(string(offered))
		return nil
	}
	clock, _ := ThisMachine().ChooseClock(string(offered))
	s.clocks.base.Clock = clock
	return s.write(clock, "trace_clock")
}

// expandTopLevel expands the top level's ring buffer to its normal size. The kernel does this on any write to an enable
// file below events, even of "0". Without this write, kernels before 6.7 would keep one page for good after any buffer
// was given a size (ring_buffer_expanded in kernel/trace/trace.c). Then the next user of the top level would lose almost
// all events.
func (s *Session) expandTopLevel() error {
	if !s.features.Instances {
		return nil
	}
	now, err := s.fs.readTrimmed("buffer_size_kb")
	if err != nil || !strings.Contains(now, "(expanded") {
		return err
	}
	return s.write("0", "events", "enable")
}

// resize sets the size of the session's ring buffers. It does nothing in a quiet session, which needs no larger buffers.
func (s *Session) resize(opt Options) error {
	if opt.Quiet {
		return nil
	}
	if err := s.expandTopLevel(); err != nil {
		return err
	}
	kb := cmp.Or(opt.BufferKB, ThisMachine().BufferKB())
	err := s.write(fmt.Sprint(kb), "buffer_size_kb")
	if err != nil {
		err = fmt.Errorf("make ring buffers of %d KB per CPU: %w", kb, err)
	}
	return err
}

// file returns the path of a file of the session's instance, or of the top level on kernels that record only there.
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
