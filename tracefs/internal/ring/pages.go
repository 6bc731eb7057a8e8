package ring

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/tracefs/internal/files"
	"github.com/ftgo/ftgo/tracefs/internal/threads"
)

// Pages are the open trace_pipe_raw of all CPUs.
type Pages struct {
	cpus []pagesOfCPU
	buf  []byte
	// more: the last pass has left something on a CPU.
	more bool
	// began: a pass was made before.
	began bool
	// Owners are whose the threads of the records are.
	Owners *threads.OfPages
}

type pagesOfCPU struct {
	cpu, fd int
}

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
// notes are the kernel's, for [threads.OfPages].
func OpenPages(ops files.Ops, perCPU string, notes func() map[int]int) (*Pages, error) {
	dirs, err := ops.List(perCPU)
	if err != nil {
		return nil, files.Refused("list", perCPU, err)
	}
	r := &Pages{buf: make([]byte, bufferSize), Owners: threads.NewOfPages(notes)}
	for _, dir := range dirs {
		number, ok := strings.CutPrefix(dir, "cpu")
		cpu, err := strconv.Atoi(number)
		if !ok || err != nil || cpu < 0 {
			continue
		}
		file := filepath.Join(perCPU, dir, "trace_pipe_raw")
		fd, err := ops.Pipe(file)
		if err != nil {
			return r, files.Refused("open", file, err)
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

// Pass reads every CPU until it is empty, or has given its share.
func (r *Pages) Pass(page func(cpu int, page []byte)) (pages int, err error) {
	r.more, r.began = false, true
	r.Owners.Begin(time.Now())
	for _, c := range r.cpus {
		left := passPages
		for ; left > 0; left-- {
			n, err := r.read(c)
			if err != nil {
				return pages, err
			}
			if n == 0 {
				page(c.cpu, nil)
				break
			}
			page(c.cpu, r.buf[:n])
			pages++
		}
		r.more = r.more || left == 0
	}
	return pages, nil
}

// Rest tells whether the last pass has left nothing.
func (r *Pages) Rest() bool { return r.began && !r.more }

// read fills buf with one page: a whole one, or, of the page that is being written to,
// what is committed (kernel/trace/ring_buffer.c, ring_buffer_read_page). 0 says that
// there is nothing.
func (r *Pages) read(c pagesOfCPU) (int, error) {
	for {
		n, err := readNow(c.fd, r.buf)
		switch err {
		case nil:
			return n, nil
		case unix.EINTR:
		case unix.EAGAIN:
			return 0, nil
		default:
			return 0, fmt.Errorf("read trace_pipe_raw of CPU %d: %w", c.cpu, err)
		}
	}
}
