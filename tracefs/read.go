package tracefs

import (
	"context"
	"errors"
	"io"

	"github.com/ftgo/ftgo/tracefs/internal/files"
	"github.com/ftgo/ftgo/tracefs/internal/ring"
	"github.com/ftgo/ftgo/tracefs/internal/threads"
)

// Read fills buf, of 64 KB or more for speed, with lines of trace_pipe. 0, nil means
// that there was nothing for a moment; io.EOF comes when the session has been
// stopped and everything recorded has been read. It returns ctx.Err() as soon as
// ctx is done.
func (s *Session) Read(ctx context.Context, buf []byte) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if !s.hasStopped() {
		n, err := s.pipe.Read(ctx, buf, ring.Interval)
		if n == 0 && err == nil {
			err = ctx.Err()
		}
		return n, err
	}
	if s.stopErr != nil {
		return 0, s.stopErr
	}
	n, err := s.pipe.Read(ctx, buf, 0)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// ReadPages makes a pass over all CPUs of a session that is [Options].Raw, after some rest
// if the last one has left nothing. page gets each page, valid until it returns; once a
// CPU's buffer is found empty it gets an empty one. n is the number of pages; 0, nil means
// that there was nothing. io.EOF comes, with no pages, when the session has been stopped
// and everything recorded has been read. ReadPages returns ctx.Err() as soon as ctx is
// done, but never in the middle of a pass.
func (s *Session) ReadPages(ctx context.Context, page func(cpu int, page []byte)) (n int, err error) {
	if s.raw == nil {
		return 0, errors.New("read pages: the session is not Raw")
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	stopped := s.hasStopped()
	if s.raw.Rest() && !stopped {
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

// Formats are the kernel's descriptions of how the events lie in raw pages, in the order
// in which they were given to Start; none unless it is [Options].Raw.
func (s *Session) Formats() ([]string, error) {
	if s.raw == nil {
		return nil, nil
	}
	texts := make([]string, len(s.events))
	for i := range s.events {
		file := s.eventFile(&s.events[i], "format")
		b, err := s.fs.tree.Ops.Read(file)
		if err != nil {
			return nil, files.Refused("read", file, err)
		}
		texts[i] = string(b)
	}
	return texts, nil
}

// notedProcesses are the kernel's notes of the processes of threads. It has none before
// Linux 4.13.
func (f *FS) notedProcesses() map[int]int {
	text, _ := f.tree.Ops.Read(f.tree.Path("saved_tgids"))
	return threads.Notes(string(text))
}
