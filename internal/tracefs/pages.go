package tracefs

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

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
