package trace

import (
	"context"
	"errors"
	"io"
	"time"
)

// Watch reads an armed source until there is a reason to end, be it that the program which it has
// started, if that is not nil, has ended. Only what has failed is an error. Every so often, unless
// that is 0, an interval ends. told comes when all that was read was told, and its error is an end,
// too.
func Watch(ctx context.Context, s Source, program *Command, every time.Duration, told func() error) error {
	tick := make(<-chan time.Time)
	if every > 0 {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		tick = ticker.C
	}
	// Nothing that is read is waited for when the program has ended.
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	defer program.atEnd(cancel)()
	for {
		err := s.Read(reading)
		if failed := told(); failed != nil {
			return failed
		}
		switch {
		case reading.Err() != nil, errors.Is(err, io.EOF), errors.Is(err, ErrLimit), errors.Is(err, ErrGone):
			return nil
		case err != nil:
			return err
		}
		select {
		case <-tick:
			if err := s.Mark(); err != nil {
				return err
			}
		default:
		}
	}
}

// Drain ends the window of a source, and reads what is left of it.
func Drain(s Source, told func() error) error {
	stopped := s.Stop()
	for {
		// Not to be canceled: it ends by itself, and the accounts are to balance.
		err := s.Read(context.Background())
		if failed := told(); failed != nil {
			return errors.Join(failed, stopped)
		}
		switch {
		case errors.Is(err, io.EOF):
			return stopped
		case err != nil:
			return errors.Join(stopped, err)
		}
	}
}
