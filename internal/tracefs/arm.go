package tracefs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// Extend defines more events in a running session, and leaves them off. It may be called beside
// Read, and takes its time: the kernel compares each new site with all others. If it fails, some of
// the events may be defined; Close removes them with the others.
//
// They are events of their own: a site that is appended to an enabled event never fires.
func (s *Session) Extend(ctx context.Context, events []Event) error {
	lines, err := s.definitions(events)
	if err != nil {
		return err
	}
	return s.define(ctx, lines)
}

// Join makes events that Extend has defined the session's, behind those that it has: Profile and
// Formats tell of them from now on, and the end disarms them, before all that were there
// earlier. It must not be called beside other methods of the session.
func (s *Session) Join(events []Event) {
	s.joined = append(s.joined, len(s.events))
	s.events = append(s.events, events...)
}

// Arm puts the probes of some of the session's events into place, those of the last event first. It may be called beside Read.
func (s *Session) Arm(ctx context.Context, events []Event) error { return s.enableAll(ctx, events) }

// Disarm takes them out again, those of the first event first, and returns when no hit is under
// way any more, after some 45 ms an event. It may be called beside Read.
func (s *Session) Disarm(events []Event) error {
	if len(events) > 1 { // they take too much of a program's time: each event waits for the period of the one before
		defer s.fs.Hurry()()
	}
	return s.disableAll(events)
}

// Pause takes the probes of all events out, until Resume. Where the kernel's own events are recorded, that ceases.
func (s *Session) Pause() error {
	if s.kernel {
		return s.write("0", "tracing_on")
	}
	return s.disable()
}

// Resume puts the probes of all events into place.
func (s *Session) Resume(ctx context.Context) error { return s.enableAll(ctx, s.events) }

// enableAll enables events, the last first.
func (s *Session) enableAll(ctx context.Context, events []Event) error {
	tell, left, all := s.fs.telling("probes placed"), sites(events), sites(events)
	for i := len(events) - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		ev := &events[i]
		tell(all-left, all)
		left -= len(ev.Sites)
		if ev.Filter != "" {
			if err := s.fs.files.Write(s.eventFile(ev, "filter"), ev.Filter); err != nil {
				return fmt.Errorf("filter event %s by %q: %w", ev.Name, ev.Filter, err)
			}
		}
		err := s.fs.files.Write(s.eventFile(ev, "enable"), "1")
		switch {
		case err == nil:
		case s.kernel:
			return fmt.Errorf("enable kernel event %s:%s: %w", ev.group, ev.Name, err)
		case errors.Is(err, unix.EINTR):
			s.taken = fmt.Errorf("event %s is traced by perf_event_open, which has to end first: %w", ev.Name, err)
			return s.taken
		default:
			return fmt.Errorf("enable event %s with %d sites in %s: %w", ev.Name, len(ev.Sites), s.target.Path, unreadable(err))
		}
	}
	return nil
}

// sites is how many places events have.
func sites(events []Event) (n int) {
	for i := range events {
		n += len(events[i].Sites)
	}
	return n
}

// Stop disarms the probes, in the background: Read must go on meanwhile, until it
// returns io.EOF, or the ring buffer may overflow.
//
// Recording is not switched off before: a probe hit after that would be counted by
// the kernel, and be missing from what is delivered.
func (s *Session) Stop() {
	s.stopping = true
	go func() {
		s.stopErr = s.disable()
		close(s.stopped)
		s.Wake()
	}()
}

// disable switches the events off in the session's instance: the last extension's
// first, so that those which tell of the end of goroutines outlast the calls that they
// end. It returns when no hit is under way any more.
func (s *Session) disable() error {
	if len(s.events) >= leastHurry {
		defer s.fs.Hurry()()
	}
	var errs []error
	end := len(s.events)
	for _, begin := range slices.Backward(append([]int{0}, s.joined...)) {
		errs = append(errs, s.disableAll(s.events[begin:end]))
		end = begin
	}
	return errors.Join(errs...)
}

// disableAll switches events off, the first first.
func (s *Session) disableAll(events []Event) error {
	tell := s.fs.telling("events disarmed")
	var errs []error
	for i := range events {
		tell(i, len(events))
		err := s.fs.files.Write(s.eventFile(&events[i], "enable"), "0")
		if err != nil && !isNotExist(err) {
			errs = append(errs, fmt.Errorf("disable event %s: %w", events[i].Name, err))
		}
	}
	return errors.Join(errs...)
}

// Close removes everything that the session made, in the one order that is safe: disarm, close the
// pipe, remove the instance, see that nothing is enabled anywhere, delete the definitions.
// It may be called at any time, and again. What can't be removed is told by an [ErrRemains], but for
// an instance that somebody's pipe holds, which is left empty for [FS.RemoveHeld].
func (s *Session) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	var failed, errs []error
	if s.stopping { // it uses what is removed here
		<-s.stopped
	}
	if s.defined && !s.stopping {
		errs = append(errs, s.disable())
	}
	if s.raw != nil {
		errs = append(errs, s.raw.close())
	}
	if s.pipe >= 0 {
		errs = append(errs, unix.Close(s.pipe))
		s.fs.pipes.Add(-1)
	}
	errs = append(errs, s.fs.returnTopLevel(s.borrowed))
	if s.created {
		err := s.fs.removeInstance(s.Name, patienceWithOwn)
		if isBusy(err) {
			err = s.fs.empty(s.Name)
		}
		failed = append(failed, err)
	}
	switch {
	case s.taken != nil:
		// An event is either tracefs's or perf's (kernel/trace/trace_uprobe.c, probe_event_enable).
		// Deleting perf's crashes the kernel as in mustBeOff, which can't see it.
		failed = append(failed, s.taken)
	case s.defined:
		failed = append(failed, s.fs.removeGroup(s.Name))
	}
	if err := errors.Join(failed...); err != nil {
		errs = append(errs, fmt.Errorf("session %s %w: %w", s.Name, ErrRemains, err))
	}
	return errors.Join(errs...)
}
