package tracefs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// Options say how a session is run. The zero value suits most.
type Options struct {
	// PIDs restricts recording to these processes, their later threads included.
	// Empty records every process that maps the file.
	PIDs []int
	// BufferKB is the size of the ring buffer per CPU; 0 is 8192.
	BufferKB int
	// Features replaces what the kernel is found to do, for doing without some.
	Features *Features
	// Quiet arms the probes for counting only: hits are counted, nothing is
	// recorded but events with a Filter.
	Quiet bool
	// Reader is how events are read.
	Reader Reader
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
	target   string // path of the file
	events   []Event
	features Features
	pipe     *pipe
	raw      *rawPages // nil unless the reader is Raw
	base     Timebase
	created  bool // the instance directory
	defined  bool // some line was written to uprobe_events
	stopped  chan struct{}
	stopErr  error
	closed   bool
	owners   threadOwners
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
	if err := s.start(ctx, target, opt); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// newSession checks what can be checked without the kernel.
func newSession(f *FS, events []Event, opt Options) (*Session, error) {
	who, err := self()
	if err != nil {
		return nil, fmt.Errorf("name session: %w", err)
	}
	s := &Session{fs: f, name: who.String(), events: events, stopped: make(chan struct{}), owners: make(threadOwners)}
	s.features = f.Features()
	if opt.Features != nil {
		s.features = *opt.Features
	}
	for i := range events {
		if err := events[i].check(); err != nil {
			return nil, err
		}
		if len(events[i].Sites) > 1 && !s.features.Append {
			return nil, fmt.Errorf("define event %s with %d sites: %w", events[i].Name, len(events[i].Sites), ErrNotSupported)
		}
	}
	if !f.exists("uprobe_events") {
		return nil, fmt.Errorf("find %s: %w (the kernel needs CONFIG_UPROBE_EVENTS=y)", f.path("uprobe_events"), ErrNotSupported)
	}
	return s, nil
}

// start makes everything; what it has made when it fails is for Close to remove.
func (s *Session) start(ctx context.Context, target Target, opt Options) error {
	if err := s.prepare(opt); err != nil {
		return err
	}
	first, err := s.fs.sampleClock(s.name)
	if err != nil {
		return err
	}
	s.target = target.Path
	if err := s.arm(ctx, target); err != nil {
		return err
	}
	return s.calibrate(first)
}

// prepare makes the instance and everything in it that is not an event.
func (s *Session) prepare(opt Options) error {
	if err := s.fs.ops.Mkdir(s.file()); err != nil {
		return refused("make", s.file(), err)
	}
	s.created = true
	offered, err := s.fs.ops.Read(s.file("trace_clock"))
	if err != nil {
		return refused("read", s.file("trace_clock"), err)
	}
	s.base.Clock = chooseClock(string(offered), tscTrusted())
	// Before the pipe: how a pipe prints times is settled when it is opened
	// (kernel/trace/trace.c, tracing_open_pipe), and it prints cycles as
	// microseconds if the clock becomes a counter later.
	if err := s.fs.ops.Write(s.file("trace_clock"), s.base.Clock); err != nil {
		return refused("write", s.file("trace_clock"), err)
	}
	// Before anything else: while the pipe is open nobody else can remove the
	// instance.
	fd, err := s.fs.ops.Pipe(s.file("trace_pipe"))
	if err != nil {
		return refused("open", s.file("trace_pipe"), err)
	}
	if s.pipe, err = newPipe(fd); err != nil {
		return err
	}
	if opt.Reader == Raw {
		if err := s.openRaw(); err != nil {
			return err
		}
	}
	return s.configure(opt)
}

// configure sets the instance's options.
func (s *Session) configure(opt Options) error {
	if opt.BufferKB == 0 {
		opt.BufferKB = 8192
	}
	settings := []struct{ file, value string }{
		{"tracing_on", "1"},
	}
	if !opt.Quiet {
		settings = append(settings, struct{ file, value string }{"buffer_size_kb", fmt.Sprint(opt.BufferKB)})
	}
	if s.features.RecordTGID {
		settings = append(settings, struct{ file, value string }{"options/record-tgid", "1"})
	}
	for _, set := range settings {
		if err := s.fs.ops.Write(s.file(set.file), set.value); err != nil {
			return refused("write", s.file(set.file), err)
		}
	}
	return s.follow(opt.PIDs)
}

// arm writes the definitions and enables the events, the last first.
func (s *Session) arm(ctx context.Context, target Target) error {
	// The first site of each event comes before the second of any: to append a site
	// the kernel looks for its event from the beginning of the list of all sites
	// (kernel/trace/trace_uprobe.c, find_probe_event).
	var first, rest []string
	for i := range s.events {
		lines := s.events[i].Definitions(s.name, target.Path)
		first, rest = append(first, lines[0]), append(rest, lines[1:]...)
	}
	s.defined = true
	if err := s.fs.define(ctx, append(first, rest...)); err != nil {
		return err
	}
	if target.Unchanged != nil {
		if err := target.Unchanged(); err != nil {
			return err
		}
	}
	for i := len(s.events) - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		ev := &s.events[i]
		if ev.Filter != "" {
			if err := s.fs.ops.Write(s.eventFile(ev, "filter"), ev.Filter); err != nil {
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
	if err := s.fs.ops.Write(s.eventFile(ev, "enable"), "1"); err != nil {
		return fmt.Errorf("enable event %s with %d sites in %s: %w", ev.Name, len(ev.Sites), s.target, err)
	}
	return nil
}

// calibrateFor is how long the two clocks are compared: readings are good to a few
// microseconds, so the ratio is to a few parts in 10,000.
const calibrateFor = 20 * time.Millisecond

func (s *Session) calibrate(first sample) error {
	if s.base.Clock == counterClock {
		time.Sleep(calibrateFor - time.Since(first.at))
	}
	second, err := s.fs.sampleClock(s.name)
	if err != nil {
		return err
	}
	s.base, err = timebase(s.base.Clock, first, second)
	return err
}

// Name is the session's group in uprobe_events and its instance.
func (s *Session) Name() string { return s.name }

// Features is what the session makes use of.
func (s *Session) Features() Features { return s.features }

// Timebase converts the time stamps of the session's events.
func (s *Session) Timebase() Timebase { return s.base }

// file is the path of a file of the session's instance.
func (s *Session) file(elem ...string) string {
	return s.fs.path(append([]string{"instances", s.name}, elem...)...)
}

func (s *Session) eventFile(ev *Event, name string) string {
	return filepath.Join(s.file("events", s.name), ev.Name, name)
}
