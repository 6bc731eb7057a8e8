package tracefs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ftgo/ftgo/tracefs/internal/files"
	"github.com/ftgo/ftgo/tracefs/internal/histtext"
	"github.com/ftgo/ftgo/tracefs/internal/ring"
)

// CallEvents are two events that the kernel pairs into calls by itself, with hist
// triggers (Documentation/trace/histogram.rst).
type CallEvents struct {
	// Entry is hit where calls begin, Return where they end.
	Entry, Return Event
	// Func is the argument, of type u64 in both events, that numbers the function.
	Func string
	// Key are the arguments, or differences of two, that are the same at both ends of a
	// call and tell it from all others of the function that are open: at most two.
	Key []string
	// Funcs is how many functions there are: Func is below it.
	Funcs int
}

// Check refuses more functions than the kernel's histograms hold.
func (c *CallEvents) Check() error {
	if c.Funcs > histtext.MaxFuncs {
		return fmt.Errorf("keep histograms of %d functions in the kernel: at most %d", c.Funcs, histtext.MaxFuncs)
	}
	return nil
}

// HistogramOptions say how histograms are kept.
type HistogramOptions struct {
	// PID is the process whose calls are recorded; 0 is whatever the calling process
	// starts from now on. Either way, with the processes that those start.
	PID int
	// OpenCalls is how many calls can be told apart that are open at a time, or were left
	// without a return; 0 is 65536. The kernel rounds up to a power of two in [128, 131072].
	OpenCalls int
}

// Histograms is a session that streams nothing: calls and latencies are counted in the
// kernel, and read now and then. Close must be called.
type Histograms struct {
	session  *Session
	calls    CallEvents
	triggers histtext.Triggers
	armed    bool // some trigger was set
	defined  bool // the synthetic event
}

// StartHistograms defines the events and begins. On error nothing remains in the kernel.
func StartHistograms(ctx context.Context, f *FS, target Target, calls CallEvents, opt HistogramOptions) (*Histograms, error) {
	if err := f.CheckHistograms(); err != nil {
		return nil, err
	}
	if err := calls.Check(); err != nil {
		return nil, err
	}
	s, err := newSession(f, []Event{calls.Entry, calls.Return}, Options{})
	if err != nil {
		return nil, err
	}
	h := &Histograms{session: s, calls: calls}
	h.triggers = histtext.NewTriggers(s.name, calls.Entry.Name, calls.Func, calls.Key, calls.Funcs, opt.OpenCalls)
	if err := h.start(ctx, target, opt); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func (h *Histograms) start(ctx context.Context, target Target, opt HistogramOptions) error {
	s := h.session
	if err := s.fs.tree.Ops.Mkdir(s.file()); err != nil {
		return files.Refused("make", s.file(), err)
	}
	s.created = true
	// Nothing comes out of it, but an open pipe says that the instance is in use.
	fd, err := s.fs.tree.Ops.Pipe(s.file("trace_pipe"))
	if err != nil {
		return files.Refused("open", s.file("trace_pipe"), err)
	}
	s.pipe = ring.NewPipe(fd)
	s.fs.tree.Pipes.Add(1)
	// Until all triggers are set only this process is followed, in which there is nothing to
	// hit: else a call might be seen to begin, and not be seen to end.
	if err := s.beginFollowing(); err != nil {
		return err
	}
	if err := s.follow(os.Getpid()); err != nil {
		return err
	}
	var lines []string
	for i := range s.events {
		lines = append(lines, s.events[i].Definitions(s.name, target.Path)...)
	}
	s.defined = true
	if err := s.fs.define(ctx, lines); err != nil {
		return err
	}
	if target.Unchanged != nil {
		if err := target.Unchanged(); err != nil {
			return err
		}
	}
	if err := h.setTriggers(ctx); err != nil {
		return err
	}
	if opt.PID != 0 {
		return s.follow(opt.PID)
	}
	return nil
}

// setTriggers sets them all, and what makes the histograms first.
func (h *Histograms) setTriggers(ctx context.Context) error {
	s := h.session
	h.defined = true
	if err := s.fs.tree.Ops.Append(s.fs.tree.Path("synthetic_events"), h.triggers.Synthetic+"\n"); err != nil {
		return fmt.Errorf("define synthetic event: %w", s.fs.explain([]string{h.triggers.Synthetic}, err))
	}
	h.armed = true
	for _, set := range []struct{ file, trigger string }{
		{s.file("events", "synthetic", s.name, "trigger"), h.triggers.Latency},
		{s.eventFile(&h.calls.Entry, "trigger"), h.triggers.Count},
		{s.eventFile(&h.calls.Entry, "trigger"), h.triggers.Begin},
		{s.eventFile(&h.calls.Return, "trigger"), h.triggers.End},
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.fs.tree.Ops.Write(set.file, set.trigger); err != nil {
			return fmt.Errorf("set trigger %q of %s, with %d and %d sites: %w", set.trigger, set.file, len(h.calls.Entry.Sites), len(h.calls.Return.Sites), err)
		}
	}
	return nil
}

// HistogramReading is what histograms hold, all since they were started.
type HistogramReading = histtext.Reading

// Read reads the histograms.
func (h *Histograms) Read() (HistogramReading, error) {
	s := h.session
	r := HistogramReading{Funcs: make([]histtext.Counts, h.calls.Funcs)}
	// Ends before begins: more calls than have begun must not have ended.
	for _, file := range []string{
		s.file("events", "synthetic", s.name, "hist"),
		s.eventFile(&h.calls.Return, "hist"),
		s.eventFile(&h.calls.Entry, "hist"),
	} {
		b, err := s.fs.tree.Ops.Read(file)
		if err != nil {
			return r, files.Refused("read", file, err)
		}
		if err := r.Add(string(b)); err != nil {
			return r, fmt.Errorf("parse %s: %w", file, err)
		}
	}
	return r, nil
}

// Stop ends the counting. A call that ends between the two steps is not seen to end.
func (h *Histograms) Stop() error {
	s := h.session
	for _, pause := range []struct{ file, trigger string }{
		{s.file("events", "synthetic", s.name, "trigger"), h.triggers.Latency},
		{s.eventFile(&h.calls.Entry, "trigger"), h.triggers.Count},
	} {
		if err := s.fs.tree.Ops.Write(pause.file, pause.trigger+":pause"); err != nil {
			return fmt.Errorf("pause trigger %q: %w", pause.trigger, err)
		}
	}
	return nil
}

// Close removes everything that was made, in the one order that is safe: the triggers,
// which keep events and the instance in use, the latest first; the synthetic event; then
// what a [Session] removes.
func (h *Histograms) Close() error {
	s := h.session
	if s.closed {
		return nil
	}
	if h.armed {
		if err := s.fs.tree.RemoveTriggers(s.name); err != nil {
			return notRemoved(s.name, err)
		}
	}
	var err error
	if h.defined {
		err = notRemoved(s.name, s.fs.tree.RemoveSynthetic(s.name))
	}
	return errors.Join(err, s.Close())
}

// HistogramsMissing names the kernel's options without which it can't keep histograms of
// latencies by itself, none if it can: CONFIG_HIST_TRIGGERS, which its README tells of
// (kernel/trace/trace.c, readme_msg), and CONFIG_SYNTH_EVENTS, which makes a file. Sites
// must share an event, too ([Features].Append).
func (f *FS) HistogramsMissing() []string {
	var missing []string
	readme, _ := f.tree.Ops.Read(f.tree.Path("README"))
	if lineWith(string(readme), "hist:keys=") == "" {
		missing = append(missing, "CONFIG_HIST_TRIGGERS")
	}
	if !f.tree.Exists("synthetic_events") {
		missing = append(missing, "CONFIG_SYNTH_EVENTS")
	}
	return missing
}

// CheckHistograms is an error that explains what is missing, and is [ErrNotSupported].
func (f *FS) CheckHistograms() error {
	if missing := f.HistogramsMissing(); len(missing) > 0 {
		return fmt.Errorf("keep histograms in the kernel: %w: it was built without %s", ErrNotSupported, strings.Join(missing, " and "))
	}
	if !f.Features().Append {
		return fmt.Errorf("keep histograms in the kernel: %w: it takes Linux 5.4", ErrNotSupported)
	}
	// Before, set_event_pid does not keep probes from triggers: those of all processes would be
	// counted, and paired with each other (kernel commit b7d5eb267f8c, "tracing/uprobes: Use
	// trace_event_buffer_reserve() helper").
	if KernelOlder(5, 17) {
		return fmt.Errorf("keep histograms in the kernel: %w: before Linux 5.17 they don't tell processes apart", ErrNotSupported)
	}
	return nil
}
