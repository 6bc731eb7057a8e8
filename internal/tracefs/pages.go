package tracefs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

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
	fd    int
	wake  chan struct{} // holds one thing if the pipe is to be woken
	timer *time.Timer   // of the reader's sleep
}

// newPipe has a descriptor that was opened for reading without blocking.
func newPipe(fd int) *pipe {
	return &pipe{fd: fd, wake: make(chan struct{}, 1), timer: time.NewTimer(0)}
}

// read fills buf with whole lines. It returns 0, nil when there are none, after
// waiting for at most wait, less if the pipe is woken or ctx is done.
func (p *pipe) read(ctx context.Context, buf []byte, wait time.Duration) (int, error) {
	n, err := readNow(p.fd, buf)
	if n == 0 && err == nil && wait > 0 { // not the end, only tracing being off
		p.sleep(ctx, wait)
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

// sleep waits until the time is over, the pipe is woken or ctx is done. It leaves that to Go's
// scheduler, which would put another thread in the place of one that blocks in a system call.
func (p *pipe) sleep(ctx context.Context, wait time.Duration) {
	p.timer.Reset(wait)
	select {
	case <-p.timer.C:
	case <-p.wake:
	case <-ctx.Done():
	}
}

// interrupt ends the present sleep, or else the next one, at once.
func (p *pipe) interrupt() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// pages are the open trace_pipe_raw of all CPUs.
type pages struct {
	cpus []pagesOfCPU
	buf  []byte
	rest bool // a pass was made before, and the last one has left nothing on any CPU
}

type pagesOfCPU struct{ cpu, fd int }

const (
	// bufferSize is no less than a page of the ring buffer: one of the kernel's, of 4 to 64 KB, unless somebody
	// has changed buffer_subbuf_size_kb (since Linux 6.8). A read returns one page at most
	// (kernel/trace/trace.c, tracing_buffers_read).
	bufferSize = 64 << 10
	// passPages is how many pages of a CPU a pass takes: one that is never empty must not delay others.
	passPages = 128
)

// openPages opens the pages of every CPU the kernel could have, as the directories below perCPU
// tell: one that is switched on later records, too. What is open when it fails is to be closed.
func openPages(files files, perCPU string) (*pages, error) {
	dirs, err := files.List(perCPU)
	if err != nil {
		return nil, err
	}
	r := &pages{buf: make([]byte, bufferSize)}
	for _, dir := range dirs {
		number, ok := strings.CutPrefix(dir, "cpu")
		cpu, err := strconv.Atoi(number)
		if !ok || err != nil || cpu < 0 {
			continue
		}
		fd, err := files.Pipe(filepath.Join(perCPU, dir, "trace_pipe_raw"))
		if err != nil {
			return r, err
		}
		r.cpus = append(r.cpus, pagesOfCPU{cpu, fd})
	}
	if len(r.cpus) == 0 {
		return r, fmt.Errorf("list %s: no CPU", perCPU)
	}
	return r, nil
}

// close closes them.
func (r *pages) close() error {
	var errs []error
	for _, c := range r.cpus {
		errs = append(errs, unix.Close(c.fd))
	}
	r.cpus = nil
	return errors.Join(errs...)
}

// pass reads every CPU until it is empty, or has given its share. A page is whole, or, while it is
// being written to, what is committed (kernel/trace/ring_buffer.c, ring_buffer_read_page).
func (r *pages) pass(page func(cpu int, page []byte)) (n int, err error) {
	r.rest = true
	for _, c := range r.cpus {
		left := passPages
		for ; left > 0; left-- {
			size, err := readNow(c.fd, r.buf)
			if err != nil {
				return n, fmt.Errorf("read trace_pipe_raw of CPU %d: %w", c.cpu, err)
			}
			if size == 0 {
				page(c.cpu, nil)
				break
			}
			page(c.cpu, r.buf[:size])
			n++
		}
		r.rest = r.rest && left > 0
	}
	return n, nil
}
