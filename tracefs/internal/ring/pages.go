package ring

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/tracefs/internal/tree"
)

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
