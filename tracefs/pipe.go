package tracefs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// readInterval is how long the reader sleeps when there is nothing to read.
//
// It does not poll the pipe: trace_pipe of all CPUs wakes its reader at the first
// event, whatever buffer_percent says (kernel/trace/ring_buffer.c,
// ring_buffer_poll_wait), and the interrupt for that is paid by the one who hit the
// probe. The ring buffer holds more than comes in meanwhile.
const readInterval = 20 * time.Millisecond

// pipe is an open trace_pipe whose reads can be cancelled.
type pipe struct {
	fd   int
	wake int // an eventfd, readable once the pipe is to be woken
	once sync.Once
}

// Pipe opens a file for reads that return EAGAIN when it is empty.
func (osFiles) Pipe(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

func newPipe(fd int) (*pipe, error) {
	wake, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make eventfd: %w", err), unix.Close(fd))
	}
	return &pipe{fd: fd, wake: wake}, nil
}

// read fills buf with whole lines. It returns 0, nil when there are none, after
// waiting for at most wait, less if the pipe is woken.
func (p *pipe) read(buf []byte, wait time.Duration) (int, error) {
	for {
		n, err := unix.Read(p.fd, buf)
		switch {
		case err == nil && n > 0:
			return n, nil
		case err == unix.EINTR:
			continue
		case err != nil && err != unix.EAGAIN:
			return 0, fmt.Errorf("read trace_pipe: %w", err)
		}
		// Nothing there; a read of 0 bytes is not the end, only tracing being off.
		if wait <= 0 {
			return 0, nil
		}
		if err := p.sleep(wait); err != nil {
			return 0, err
		}
		wait = 0
	}
}

// sleep waits until the time is over or the pipe is woken.
func (p *pipe) sleep(wait time.Duration) error {
	fds := []unix.PollFd{{Fd: int32(p.wake), Events: unix.POLLIN}}
	if _, err := unix.Poll(fds, int(wait.Milliseconds())); err != nil && err != unix.EINTR {
		return fmt.Errorf("wait for trace_pipe: %w", err)
	}
	if fds[0].Revents != 0 {
		var count [8]byte
		_, _ = unix.Read(p.wake, count[:]) // EAGAIN: somebody else has taken it
	}
	return nil
}

// interrupt ends the present sleep, or else the next one, at once.
func (p *pipe) interrupt() {
	var one [8]byte
	one[0] = 1
	// The counter can't overflow: it is written a handful of times.
	_, _ = unix.Write(p.wake, one[:])
}

func (p *pipe) close() (err error) {
	p.once.Do(func() { err = errors.Join(unix.Close(p.fd), unix.Close(p.wake)) })
	return err
}

// Read fills buf, of 64 KB or more for speed, with lines of trace_pipe. 0, nil means
// that there was nothing for a moment; io.EOF comes when the session has been
// stopped and everything recorded has been read. It returns ctx.Err() as soon as
// ctx is done.
func (s *Session) Read(ctx context.Context, buf []byte) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	defer context.AfterFunc(ctx, s.pipe.interrupt)()
	select {
	case <-s.stopped:
		if s.stopErr != nil {
			return 0, s.stopErr
		}
		n, err := s.pipe.read(buf, 0)
		if n == 0 && err == nil {
			err = io.EOF
		}
		return n, err
	default:
		n, err := s.pipe.read(buf, readInterval)
		if n == 0 && err == nil {
			err = ctx.Err()
		}
		return n, err
	}
}
