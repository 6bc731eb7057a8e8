package tracefs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ftgo/ftgo/internal/histtext"
	"github.com/ftgo/ftgo/internal/machine"
)

// CallEvents are two events that the kernel pairs into calls by itself, with hist
// triggers (Documentation/trace/histogram.rst).
type CallEvents struct {
	Entry, Return Event  // Entry is hit where calls begin, Return where they end
	Func          string // the argument, of type u64 in both events, that numbers the function
	// Key are the arguments, or differences of two, that are the same at both ends of a
	// call and tell it from all others of the function that are open: at most two.
	Key []string
	// Filter says which hits of Entry begin calls, as Event.Filter does; "" is all.
	Filter string
	Funcs  int // how many functions there are: Func is below it
	// PID is the process whose calls are recorded; 0 is whatever the calling process
	// starts from now on. Either way, with the processes that those start.
	PID int
	// OpenCalls is how many calls can be told apart that are open at a time, or were left
	// without a return; 0 is 65536. The kernel rounds up to a power of two in [128, 131072].
	OpenCalls int
}

// StartHistograms begins a session that streams nothing: calls and latencies are counted in the
// kernel, and read now and then, until Disarm. On error nothing remains in the kernel.
func StartHistograms(ctx context.Context, f *FS, target Target, calls CallEvents) (*Session, error) {
	if err := errors.Join(f.CheckHistograms(), histtext.CheckFuncs(calls.Funcs)); err != nil {
		return nil, err
	}
	s, lines, err := newSession(f, target, []Event{calls.Entry, calls.Return}, nil)
	if err != nil {
		return nil, err
	}
	s.calls = &calls
	return s.begin(
		s.makeInstance,
		// Nothing comes out of it, but an open pipe says that the instance is in use.
		s.openPipe,
		// Until all triggers are set only this process is followed, in which there is nothing to
		// hit: else a call might be seen to begin, and not be seen to end.
		s.beginFollowing,
		func() error { return s.Follow(os.Getpid()) },
		func() error { return s.define(ctx, lines) },
		func() error { return s.setTriggers(ctx) },
		func() error {
			if s.calls.PID == 0 {
				return nil
			}
			return s.Follow(s.calls.PID)
		},
	)
}

// histogramFiles are files of a name: of the synthetic event, of calls that end, and that begin.
func (s *Session) histogramFiles(name string) (latency, ends, begins string) {
	return s.file("events", "synthetic", s.Name, name), s.eventFile(&s.calls.Return, name), s.eventFile(&s.calls.Entry, name)
}

// setTriggers sets them all, and what makes the histograms first.
func (s *Session) setTriggers(ctx context.Context) error {
	c := s.calls
	t := histtext.NewTriggers(s.Name, c.Entry.Name, c.Func, c.Key, c.Filter, c.Funcs, c.OpenCalls)
	s.triggers = &t
	if err := s.fs.tree.Append(s.fs.tree.Path("synthetic_events"), t.Synthetic+"\n"); err != nil {
		return fmt.Errorf("define synthetic event: %w", s.fs.explain([]string{t.Synthetic}, err))
	}
	s.armed = true
	latency, ends, begins := s.histogramFiles("trigger")
	for _, set := range [][2]string{{latency, t.Latency}, {begins, t.Count}, {begins, t.Begin}, {ends, t.End}} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.fs.tree.Write(set[0], set[1]); err != nil {
			return fmt.Errorf("set trigger %q of %s, with %d and %d sites: %w", set[1], set[0], len(c.Entry.Sites), len(c.Return.Sites), err)
		}
	}
	return nil
}

// pauseTriggers ends the counting. A call that ends between the two steps is not seen to end.
func (s *Session) pauseTriggers() error {
	latency, _, begins := s.histogramFiles("trigger")
	for _, pause := range [][2]string{{latency, s.triggers.Latency}, {begins, s.triggers.Count}} {
		if err := s.fs.tree.Write(pause[0], histtext.Pause(pause[1])); err != nil {
			return fmt.Errorf("pause trigger %q: %w", pause[1], err)
		}
	}
	return nil
}

// Histograms reads what the kernel has counted since [StartHistograms].
func (s *Session) Histograms() (histtext.Reading, error) {
	r := histtext.Reading{Funcs: make([]histtext.Counts, s.calls.Funcs)}
	// Ends before begins: more calls than have begun must not have ended.
	latency, ends, begins := s.histogramFiles("hist")
	for _, file := range []string{latency, ends, begins} {
		b, err := s.fs.tree.Read(file)
		if err != nil {
			return r, err
		}
		if err := r.Add(string(b)); err != nil {
			return r, fmt.Errorf("parse %s: %w", file, err)
		}
	}
	return r, nil
}

// CheckHistograms is an [ErrNotSupported] that explains why the kernel can't keep histograms. It takes
// CONFIG_HIST_TRIGGERS, which its README tells of (kernel/trace/trace.c, readme_msg), and
// CONFIG_SYNTH_EVENTS, which makes a file. Sites must share an event, too ([Features].Append).
func (f *FS) CheckHistograms() error {
	var missing []string
	if readme, _ := f.tree.Read(f.tree.Path("README")); !strings.Contains(string(readme), "hist:keys=") {
		missing = append(missing, "CONFIG_HIST_TRIGGERS")
	}
	if !f.tree.Exists("synthetic_events") {
		missing = append(missing, "CONFIG_SYNTH_EVENTS")
	}
	reason := ""
	switch {
	case len(missing) > 0:
		reason = "it was built without " + strings.Join(missing, " and ")
	case !f.Features().Append:
		reason = "it takes Linux 5.4"
	case machine.This().Older(5, 17):
		// Before, set_event_pid does not keep probes from triggers: hits of all processes would be paired
		// (kernel commit b7d5eb267f8c, "tracing/uprobes: Use trace_event_buffer_reserve() helper").
		reason = "before Linux 5.17 they don't tell processes apart"
	default:
		return nil
	}
	return fmt.Errorf("keep histograms in the kernel: %w: %s", ErrNotSupported, reason)
}
