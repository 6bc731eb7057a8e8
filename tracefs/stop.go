package tracefs

import (
	"errors"
	"fmt"

	"github.com/ftgo/ftgo/tracefs/internal/files"
	"github.com/ftgo/ftgo/tracefs/internal/tree"
)

// Stop disarms the probes, in the background: Read must go on meanwhile, until it
// returns io.EOF, or the ring buffer may overflow.
//
// Recording is not switched off before: a probe hit after that would be counted by
// the kernel, and be missing from what is delivered.
func (s *Session) Stop() {
	go func() {
		s.stopErr = s.disable()
		close(s.stopped)
		s.pipe.Interrupt()
	}()
}

// disable switches the events off in the session's instance: the last extension's
// first, so that those which tell of the end of goroutines outlast the calls that they
// end. It returns when no hit is under way any more.
func (s *Session) disable() error {
	defer s.fs.hurry(len(s.events))()
	var errs []error
	end := len(s.events)
	for i := len(s.joined) - 1; i >= 0; i-- {
		errs = append(errs, s.disableAll(s.events[s.joined[i]:end]))
		end = s.joined[i]
	}
	return errors.Join(append(errs, s.disableAll(s.events[:end]))...)
}

// disableAll switches events off, the first first.
func (s *Session) disableAll(events []Event) error {
	defer s.fs.hurry(len(events))()
	var errs []error
	for i := range events {
		file := s.eventFile(&events[i], "enable")
		if err := s.fs.tree.Ops.Write(file, "0"); err != nil && !files.IsNotExist(err) {
			errs = append(errs, fmt.Errorf("disable event %s: %w", events[i].Name, err))
		}
	}
	return errors.Join(errs...)
}

// Close removes everything that the session made, in the one order that is safe:
// disarm, close the pipe, remove the instance, see that nothing is enabled
// anywhere, delete the definitions. It may be called at any time, and again. What can't be
// removed is told by a [*RemainsError], but for an instance that somebody's pipe holds, which
// is left empty for [FS.RemoveHeld].
func (s *Session) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	if s.defined && !s.hasStopped() {
		errs = append(errs, s.disable())
	}
	if s.raw != nil {
		errs = append(errs, s.raw.Close())
	}
	if s.pipe != nil {
		errs = append(errs, s.pipe.Close())
		s.fs.tree.Pipes.Add(-1)
	}
	errs = append(errs, s.fs.returnTopLevel(s.borrowed))
	var failed []error
	if s.created {
		err := s.fs.tree.RemoveInstance(s.name, tree.PatienceWithOwn)
		if files.IsBusy(err) {
			err = s.fs.tree.Empty(s.name)
		}
		failed = append(failed, err)
	}
	switch {
	case s.taken != nil:
		// An event is either tracefs's or perf's (kernel/trace/trace_uprobe.c,
		// probe_event_enable). Deleting perf's crashes the kernel as in mustBeOff, which
		// can't see it.
		failed = append(failed, s.taken)
	case s.defined:
		failed = append(failed, s.fs.tree.RemoveGroup(s.name))
	}
	return errors.Join(append(errs, notRemoved(s.name, failed...))...)
}

// Pause takes the breakpoints out of the probed programs until Resume, which puts them
// in again: one hit every now and then is enough for some, and the rest would cost the
// programs for nothing. It takes some 45 ms an event, after which no hit is under way.
func (s *Session) Pause() error { return s.disable() }

// Resume ends a Pause.
func (s *Session) Resume() error {
	for i := len(s.events) - 1; i >= 0; i-- {
		if err := s.enable(&s.events[i]); err != nil {
			return err
		}
	}
	return nil
}

// RemainsError is a session that could not be removed whole: it is a [Leftover] when the
// process has ended, for [FS.Sweep] to try again.
type RemainsError struct {
	// Name is the session's group and instance.
	Name string
	Err  error
}

func (e *RemainsError) Error() string {
	return fmt.Sprintf("session %s remains in the kernel: %v", e.Name, e.Err)
}

func (e *RemainsError) Unwrap() error { return e.Err }

// notRemoved says of what has failed while a session was removed that it remains.
func notRemoved(name string, failed ...error) error {
	if err := errors.Join(failed...); err != nil {
		return &RemainsError{name, err}
	}
	return nil
}
