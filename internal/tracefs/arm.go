package tracefs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// Extend defines more events in a running session and leaves them disabled. It may run at the same time as Read.
// It is slow, because the kernel compares each new site with all others. After an error, some of the events may be
// defined; Close removes them.
//
// Extend never appends a site to an enabled event: the kernel accepts such a site, but does not record its hits (tried
// on 5.4 to 7.2). So all sites of an event are defined before the event is enabled.
func (s *Session) Extend(ctx context.Context, events []Event) error {
	lines, err := s.definitions(events)
	if err != nil {
		return err
	}
	return s.define(ctx, lines)
}

// Join appends events that Extend has defined to the session's events: Profile and Formats include these events from
// now on, and Stop and Close disarm them before all earlier events. Join must not run at the same time as other methods of
// the session.
func (s *Session) Join(events []Event) {
	s.extensions = append(s.extensions, len(s.events))
	s.events = append(s.events, events...)
}

// Disarm removes the probes of some of the session's events, starting with the first event. It takes about 45 ms an
// event, and returns when no probe handler of these events runs any more. It may run at the same time as Read.
func (s *Session) Disarm(events []Event) error {
	if len(events) > 1 { // each event waits for its own grace period, while the probes slow the program down
		defer s.fs.ExpediteGracePeriods()()
	}
	return s.disableAll(events)
}

// Remove disarms some of the session's events, passes the final counters of all events to read, and deletes the definitions
// of the disarmed ones. It must not run at the same time as other methods of the session.
func (s *Session) Remove(names map[string]bool, read func(profile [][]uint64)) error {
	stays := func(ev Event) bool { return !names[ev.Name] }
	gone := slices.DeleteFunc(slices.Clone(s.events), stays)
	if err := s.Disarm(gone); err != nil {
		return err
	}
	profile, err := s.Profile()
	if err != nil {
		return err
	}
	read(profile)
	for i := range gone {
		if err := s.fs.removeEvent(s.Name + "/" + gone[i].Name); err != nil {
			return err
		}
	}
	for i, begin := range s.extensions {
		s.extensions[i] -= len(slices.DeleteFunc(slices.Clone(s.events[:begin]), stays))
	}
	s.events = slices.DeleteFunc(s.events, func(ev Event) bool { return names[ev.Name] })
	return nil
}

// Pause removes the probes of all events until Resume. For kernel events, it stops recording for good.
func (s *Session) Pause() error {
	if s.kernel {
		return s.write("0", "tracing_on")
	}
	return s.disable()
}

// Resume places the probes of all events again.
func (s *Session) Resume(ctx context.Context) error { return s.Arm(ctx, s.events) }

// Arm places the probes of some of the session's events, starting with the last event. It may run at the same time as
// Read.
func (s *Session) Arm(ctx context.Context, events []Event) error {
	for i := len(events) - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		ev := &events[i]
		if s.only && ev.ArmsAlone() {
			if err := s.openForThreads(ev.Name, s.fs.path("events", s.Name, ev.Name, "id"), ""); err != nil {
				return err
			}
			continue
		}
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
			s.perfErr = fmt.Errorf("event %s is traced by perf_event_open, which has to end first: %w", ev.Name, err)
			return s.perfErr
		default:
			return fmt.Errorf("enable event %s with %d sites in %s: %w", ev.Name, len(ev.Sites), s.target.Path, explainEIO(err))
		}
	}
	return nil
}

// Stop disarms the probes in the background. The caller must go on with Read until it returns io.EOF, or the ring
// buffer may overflow.
//
// Stop does not turn tracing_on off before it disarms the probes: the kernel would still count hits in uprobe_profile,
// but no longer record them, and the counts and the records would differ.
func (s *Session) Stop() {
	s.stopping = true
	go func() {
		s.stopErr = s.disable()
		close(s.stopped)
		s.Wake()
	}()
}

// disable disables the events in the session's instance, the last extension first. The first events of the session
// include those that show the end of goroutines. They stay enabled longer than the extensions, so that they also end
// the open calls of the extensions' functions. disable returns when no probe handler of the session runs any more.
func (s *Session) disable() error {
	if len(s.events) >= minExpedited {
		defer s.fs.ExpediteGracePeriods()()
	}
	var errs []error
	end := len(s.events)
	for _, begin := range slices.Backward(append([]int{0}, s.extensions...)) {
		errs = append(errs, s.disableAll(s.events[begin:end]))
		end = begin
	}
	return errors.Join(errs...)
}

// disableAll disables events, starting with the first.
func (s *Session) disableAll(events []Event) error {
	var errs []error
	for i := range events {
		closed, err := s.closeForThreads(events[i].Name)
		if !closed {
			err = s.fs.files.Write(s.eventFile(&events[i], "enable"), "0")
		}
		if err != nil && !isNotExist(err) {
			errs = append(errs, fmt.Errorf("disable event %s: %w", events[i].Name, err))
		}
	}
	return errors.Join(errs...)
}

// Close removes the session from the kernel, in the only safe order: disable the events, close the pipe, remove the
// instance, check that no event is enabled anywhere, delete the definitions ([FS.checkDisabled] has the reason).
// It may be called at any time, and more than once. It returns an [ErrRemains] if something can't be removed. If
// an open trace_pipe keeps the instance busy, Close disables the instance and leaves it to [FS.RemoveHeld], without an
// error.
func (s *Session) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	var failed, errs []error
	if s.stopping { // Stop still uses the events
		<-s.stopped
	}
	if s.defined && !s.stopping {
		errs = append(errs, s.disable())
	}
	if s.raw != nil {
		errs = append(errs, s.raw.close())
	}
	if s.watch >= 0 {
		errs = append(errs, unix.Close(s.watch))
		_, err := s.closeForThreads(forks)
		errs = append(errs, err)
	}
	if s.pipe >= 0 {
		errs = append(errs, unix.Close(s.pipe))
		s.fs.pipes.Add(-1)
	}
	errs = append(errs, s.fs.restoreTopLevel(s.savedSettings))
	if s.created {
		_, err := s.fs.removeInstance(s.Name)
		failed = append(failed, err)
	}
	switch {
	case s.perfErr != nil:
		// An event belongs either to tracefs or to perf (kernel/trace/trace_uprobe.c, probe_event_enable). DANGER:
		// deleting an event that perf has enabled crashes the kernel as described at checkDisabled, which does not
		// see perf.
		failed = append(failed, s.perfErr)
	case s.defined:
		failed = append(failed, s.fs.removeGroup(s.Name))
	}
	if err := errors.Join(failed...); err != nil {
		errs = append(errs, fmt.Errorf("session %s %w: %w", s.Name, ErrRemains, err))
	}
	return errors.Join(errs...)
}
