package tracefs

import (
	"errors"
	"fmt"
	"time"
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
		s.pipe.interrupt()
	}()
}

// disable switches the events off, the first first, in the session's instance. It
// returns when no hit is under way any more.
func (s *Session) disable() error {
	var errs []error
	for i := range s.events {
		file := s.eventFile(&s.events[i], "enable")
		if err := s.fs.ops.Write(file, "0"); err != nil && !isNotExist(err) {
			errs = append(errs, fmt.Errorf("disable event %s: %w", s.events[i].Name, err))
		}
	}
	return errors.Join(errs...)
}

// Close removes everything that the session made, in the one order that is safe:
// disarm, close the pipe, remove the instance, see that nothing is enabled
// anywhere, delete the definitions. It may be called at any time, and again.
func (s *Session) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	if s.defined {
		select {
		case <-s.stopped:
		default:
			errs = append(errs, s.disable())
		}
	}
	if s.raw != nil {
		errs = append(errs, s.raw.close())
	}
	if s.pipe != nil {
		errs = append(errs, s.pipe.close())
	}
	if s.created {
		errs = append(errs, s.fs.removeInstance(s.name))
	}
	if s.defined {
		errs = append(errs, s.fs.removeGroup(s.name))
	}
	return errors.Join(errs...)
}

// removeInstance removes an instance, and with it whatever is still enabled in it.
// Somebody looking at a file in it keeps it from going for a moment.
func (f *FS) removeInstance(name string) error {
	dir := f.path("instances", name)
	var err error
	for wait := time.Millisecond; wait < time.Second; wait *= 4 {
		err = f.ops.Rmdir(dir)
		if err == nil || isNotExist(err) {
			return nil
		}
		if !isBusy(err) {
			break
		}
		time.Sleep(wait)
	}
	return fmt.Errorf("remove instance: %w", err)
}

// removeGroup deletes all events of a group, once it is proven that none is on.
func (f *FS) removeGroup(group string) error {
	if err := f.mustBeOff(group); err != nil {
		return err
	}
	names, err := f.groupEvents(group)
	if err != nil {
		return err
	}
	return f.remove(names)
}
