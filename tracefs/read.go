package tracefs

import (
	"context"
	"errors"
	"io"

	"github.com/ftgo/ftgo/tracefs/internal/ring"
)

// Read fills buf, of 64 KB or more for speed, with lines of trace_pipe. 0, nil means
// that there was nothing for a moment; io.EOF comes when the session has been
// stopped and everything recorded has been read. It returns ctx.Err() as soon as
// ctx is done.
func (s *Session) Read(ctx context.Context, buf []byte) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	wait, none := ring.Interval, ctx.Err
	if s.hasStopped() {
		if s.stopErr != nil {
			return 0, s.stopErr
		}
		wait, none = 0, func() error { return io.EOF }
	}
	n, err := s.pipe.Read(ctx, buf, wait)
	if n == 0 && err == nil {
		err = none()
	}
	return n, err
}

// ReadPages makes a pass over all CPUs of a session that is raw, after some rest
// if the last one has left nothing. page gets each page, valid until it returns; once a
// CPU's buffer is found empty it gets an empty one. n is the number of pages; 0, nil means
// that there was nothing. io.EOF comes, with no pages, when the session has been stopped
// and everything recorded has been read. ReadPages returns ctx.Err() as soon as ctx is
// done, but never in the middle of a pass. Of the kernel's own events, which are read beside
// probes, it neither rests nor comes to an end.
func (s *Session) ReadPages(ctx context.Context, page func(cpu int, page []byte)) (n int, err error) {
	if s.raw == nil {
		return 0, errors.New("read pages: the session is not Raw")
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	stopped := s.hasStopped()
	if s.raw.Rest() && !stopped && !s.kernel {
		s.pipe.Sleep(ctx, ring.Interval)
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		// Only what was recorded before the pass is found by it.
		stopped = s.hasStopped()
	}
	if stopped && s.stopErr != nil {
		return 0, s.stopErr
	}
	n, err = s.raw.Pass(page)
	if n == 0 && err == nil && stopped {
		err = io.EOF
	}
	return n, err
}

func (s *Session) hasStopped() bool {
	select {
	case <-s.stopped:
		return true
	default:
		return false
	}
}

// Names are the kernel's own events, GROUP:EVENT each.
func (s *Session) Names() (names []string) {
	for i := range s.events {
		names = append(names, s.events[i].group+":"+s.events[i].Name)
	}
	return names
}

// Formats are the kernel's descriptions of how the events lie in raw pages, in the order
// in which they were given; none unless the session is raw.
func (s *Session) Formats() ([]string, error) {
	if s.raw == nil {
		return nil, nil
	}
	texts := make([]string, len(s.events))
	for i := range s.events {
		b, err := s.fs.tree.Read(s.eventFile(&s.events[i], "format"))
		if err != nil {
			return nil, err
		}
		texts[i] = string(b)
	}
	return texts, nil
}
