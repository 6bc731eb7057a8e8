// Package ring reads the ring buffer: as text, and page by page. It tells whose the threads are that
// have written it.
package ring

import (
	"context"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Interval is how long the reader sleeps when there is nothing to read.
//
// It does not poll the pipe: trace_pipe of all CPUs wakes its reader at the first
// event, whatever buffer_percent says (kernel/trace/ring_buffer.c,
// ring_buffer_poll_wait), and the interrupt for that is paid by the one who hit the
// probe. The ring buffer holds more than comes in meanwhile.
const Interval = 20 * time.Millisecond

// Pipe is an open trace_pipe whose reads can be cancelled.
type Pipe struct {
	fd    int
	wake  chan struct{} // holds one thing if the pipe is to be woken
	timer *time.Timer   // of the reader's sleep
}

// NewPipe has a descriptor that was opened for reading without blocking.
func NewPipe(fd int) *Pipe { return &Pipe{fd: fd, wake: make(chan struct{}, 1)} }

// Read fills buf with whole lines. It returns 0, nil when there are none, after
// waiting for at most wait, less if the pipe is woken or ctx is done.
func (p *Pipe) Read(ctx context.Context, buf []byte, wait time.Duration) (int, error) {
	n, err := readNow(p.fd, buf)
	if n == 0 && err == nil && wait > 0 { // not the end, only tracing being off
		p.Sleep(ctx, wait)
		n, err = readNow(p.fd, buf)
	}
	if err != nil {
		return 0, fmt.Errorf("read trace_pipe: %w", err)
	}
	return n, nil
}

// readNow is read(2) of a descriptor that does not block: 0 says that there is nothing. Go's
// scheduler is not told of it: it would take the kernel's formatting of a buffer for waiting, and
// put another thread in the reader's place each time.
func readNow(fd int, buf []byte) (int, error) {
	for {
		n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uintptr(len(buf)))
		switch errno {
		case 0:
			return int(n), nil
		case unix.EAGAIN:
			return 0, nil
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}

// Sleep waits until the time is over, the pipe is woken or ctx is done. It leaves that to
// Go's scheduler: a thread that blocks in a system call is noticed, and another put in its
// place, each time.
func (p *Pipe) Sleep(ctx context.Context, wait time.Duration) {
	if p.timer == nil {
		p.timer = time.NewTimer(wait)
	} else {
		p.timer.Reset(wait)
	}
	select {
	case <-p.timer.C:
	case <-p.wake:
		p.timer.Stop()
	case <-ctx.Done():
		p.timer.Stop()
	}
}

// Interrupt ends the present sleep, or else the next one, at once.
func (p *Pipe) Interrupt() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Close closes it.
func (p *Pipe) Close() error { return unix.Close(p.fd) }
