package tracefs

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"

	"github.com/ftgo/ftgo/tracefs/internal/files"
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

// MaxHistogramFuncs is how many functions can't overflow the largest histogram that the
// kernel makes (2^17 entries) with the 64 powers of two that a latency may have.
const MaxHistogramFuncs = 1 << 17 / 64

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
	session *Session
	calls   CallEvents
	counter string // trigger
	latency string // trigger
	armed   bool   // some trigger was set
	defined bool   // the synthetic event
}

// StartHistograms defines the events and begins. On error nothing remains in the kernel.
func StartHistograms(ctx context.Context, f *FS, target Target, calls CallEvents, opt HistogramOptions) (*Histograms, error) {
	if err := f.CheckHistograms(); err != nil {
		return nil, err
	}
	if calls.Funcs > MaxHistogramFuncs {
		return nil, fmt.Errorf("keep histograms of %d functions in the kernel: at most %d", calls.Funcs, MaxHistogramFuncs)
	}
	s, err := newSession(f, []Event{calls.Entry, calls.Return}, Options{})
	if err != nil {
		return nil, err
	}
	h := &Histograms{session: s, calls: calls}
	if err := h.start(ctx, target, opt); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// HistogramClock is the trace clock: it counts nanoseconds and never goes back; hist triggers would choose
// "global" by themselves.
const HistogramClock = "mono"

func (h *Histograms) start(ctx context.Context, target Target, opt HistogramOptions) error {
	s := h.session
	if err := s.fs.ops.Mkdir(s.file()); err != nil {
		return files.Refused("make", s.file(), err)
	}
	s.created = true
	// Nothing comes out of it, but an open pipe says that the instance is in use.
	fd, err := s.fs.ops.Pipe(s.file("trace_pipe"))
	if err != nil {
		return files.Refused("open", s.file("trace_pipe"), err)
	}
	s.pipe = ring.NewPipe(fd)
	s.fs.pipes.Add(1)
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
	if err := h.setTriggers(ctx, opt); err != nil {
		return err
	}
	if opt.PID != 0 {
		return s.follow(opt.PID)
	}
	return nil
}

// setTriggers sets four: one counts calls, one notes when each begins, one takes the time
// when it ends and hands it on as a synthetic event, since a variable can't be the key of a
// histogram, and one makes the histogram of that.
func (h *Histograms) setTriggers(ctx context.Context, opt HistogramOptions) error {
	s := h.session
	synthetic := fmt.Sprintf("%s u64 f; u64 lat", s.name)
	h.defined = true
	if err := s.fs.ops.Append(s.fs.path("synthetic_events"), synthetic+"\n"); err != nil {
		return fmt.Errorf("define synthetic event: %w", s.fs.explain([]string{synthetic}, err))
	}
	size := opt.OpenCalls
	if size == 0 {
		size = 1 << 16
	}
	key := h.calls.Func
	for _, k := range h.calls.Key {
		key += "," + k
	}
	entry := h.calls.Entry.Name
	h.counter = fmt.Sprintf("hist:keys=%s:size=%d", h.calls.Func, histogramSize(2*h.calls.Funcs))
	h.latency = fmt.Sprintf("hist:keys=f,lat.log2:vals=hitcount,lat:size=%d", histogramSize(64*h.calls.Funcs))
	h.armed = true
	for _, set := range []struct{ file, trigger string }{
		{s.file("events", "synthetic", s.name, "trigger"), h.latency},
		{s.eventFile(&h.calls.Entry, "trigger"), h.counter},
		{s.eventFile(&h.calls.Entry, "trigger"), fmt.Sprintf("hist:keys=%s:ts0=common_timestamp:size=%d:clock=%s", key, size, HistogramClock)},
		{s.eventFile(&h.calls.Return, "trigger"), fmt.Sprintf("hist:keys=%s:fn=%s,lat=common_timestamp-$ts0:onmatch(%s.%s).%s($fn,$lat):size=%d:clock=%s",
			key, h.calls.Func, s.name, entry, s.name, size, HistogramClock)},
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.fs.ops.Write(set.file, set.trigger); err != nil {
			return fmt.Errorf("set trigger %q of %s, with %d and %d sites: %w", set.trigger, set.file, len(h.calls.Entry.Sites), len(h.calls.Return.Sites), err)
		}
	}
	return nil
}

// histogramSize is the power of two that holds n entries, as far as the kernel makes one.
func histogramSize(n int) int {
	return min(max(1<<bits.Len(uint(n-1)), 1<<7), 1<<17)
}

// Name is the session's group in uprobe_events, its instance and its synthetic event.
func (h *Histograms) Name() string { return h.session.name }

// Stop ends the counting. A call that ends between the two steps is not seen to end.
func (h *Histograms) Stop() error {
	s := h.session
	for _, pause := range []struct{ file, trigger string }{
		{s.file("events", "synthetic", s.name, "trigger"), h.latency},
		{s.eventFile(&h.calls.Entry, "trigger"), h.counter},
	} {
		if err := s.fs.ops.Write(pause.file, pause.trigger+":pause"); err != nil {
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
		if err := s.fs.removeTriggers(s.name); err != nil {
			return notRemoved(s.name, err)
		}
	}
	var err error
	if h.defined {
		err = notRemoved(s.name, s.fs.removeSynthetic(s.name))
	}
	return errors.Join(err, s.Close())
}
