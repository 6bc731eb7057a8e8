// Package ring reads the ring buffer: as text, and page by page. It tells whose the threads are that
// have written it.
package ring

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

	"github.com/ftgo/ftgo/tracefs/internal/tree"
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

// Pages are the open trace_pipe_raw of all CPUs.
type Pages struct {
	cpus []pagesOfCPU
	buf  []byte
	// rest: a pass was made before, and the last one has left nothing on any CPU.
	rest bool
	// Owners are whose the threads of the records are.
	Owners *Owners
}

type pagesOfCPU struct{ cpu, fd int }

const (
	// bufferSize is more than a page of the ring buffer: 4 KB, unless somebody has
	// changed buffer_subbuf_size_kb (since Linux 6.8). A read returns one page at most
	// (kernel/trace/trace.c, tracing_buffers_read).
	bufferSize = 64 << 10
	// passPages is how many pages of a CPU a pass takes: a CPU that is never found empty
	// must not keep the others waiting.
	passPages = 128
)

// OpenPages opens the pages of every CPU the kernel could have, as the directories below perCPU
// tell: one that is switched on later records, too. What is open when it fails is to be closed.
// The file saved_tgids has the kernel's notes of the processes of threads, since Linux 4.13.
func OpenPages(ops tree.Ops, perCPU, savedTGIDs string) (*Pages, error) {
	dirs, err := ops.List(perCPU)
	if err != nil {
		return nil, err
	}
	r := &Pages{buf: make([]byte, bufferSize)}
	r.Owners = NewOwners(func() map[int]int {
		text, _ := ops.Read(savedTGIDs)
		return notes(string(text))
	})
	for _, dir := range dirs {
		number, ok := strings.CutPrefix(dir, "cpu")
		cpu, err := strconv.Atoi(number)
		if !ok || err != nil || cpu < 0 {
			continue
		}
		fd, err := ops.Pipe(filepath.Join(perCPU, dir, "trace_pipe_raw"))
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

// Close closes them.
func (r *Pages) Close() error {
	var errs []error
	for _, c := range r.cpus {
		errs = append(errs, unix.Close(c.fd))
	}
	r.cpus = nil
	return errors.Join(errs...)
}

// Pass reads every CPU until it is empty, or has given its share. A page is a whole one, or, of the
// page that is being written to, what is committed (kernel/trace/ring_buffer.c,
// ring_buffer_read_page).
func (r *Pages) Pass(page func(cpu int, page []byte)) (pages int, err error) {
	r.rest = true
	r.Owners.Begin(time.Now())
	for _, c := range r.cpus {
		left := passPages
		for ; left > 0; left-- {
			n, err := readNow(c.fd, r.buf)
			if err != nil {
				return pages, fmt.Errorf("read trace_pipe_raw of CPU %d: %w", c.cpu, err)
			}
			if n == 0 {
				page(c.cpu, nil)
				break
			}
			page(c.cpu, r.buf[:n])
			pages++
		}
		r.rest = r.rest && left > 0
	}
	return pages, nil
}

// Rest tells whether the last pass has left nothing.
func (r *Pages) Rest() bool { return r.rest }
