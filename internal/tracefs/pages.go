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

// readNow calls read(2) on a non-blocking descriptor. It returns 0 if there is nothing to read. It bypasses Go's
// scheduler. While the kernel formats a buffer, the scheduler would regard the thread as blocked, and start another thread
// in its place each time.
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

// pages reads the trace_pipe_raw files of all CPUs.
type pages struct {
	cpus []int // the numbers of the CPUs
	fds  []int // by index in cpus
	buf  []byte
}

const (
	// bufferSize is at least the size of a ring buffer page: 4 to 64 KB, the kernel's page size, unless
	// buffer_subbuf_size_kb was changed (since Linux 6.8). A read returns at most one page (kernel/trace/trace.c,
	// tracing_buffers_read).
	bufferSize = 64 << 10
	// passPages is the most pages that a pass reads of a CPU, so that a busy CPU does not delay the others.
	passPages = 128
)

// openPages opens trace_pipe_raw of every possible CPU below perCPU. CPUs that are offline may go online and record
// events, too. After an error, the caller closes the result if it is not nil.
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
		r.cpus, r.fds = append(r.cpus, cpu), append(r.fds, fd)
	}
	if len(r.cpus) == 0 {
		return r, fmt.Errorf("list %s: no CPU", perCPU)
	}
	return r, nil
}

// close closes all files.
func (r *pages) close() error {
	var errs []error
	for _, fd := range r.fds {
		errs = append(errs, unix.Close(fd))
	}
	return errors.Join(errs...)
}

// pass reads each CPU's pages until its buffer is empty, or passPages pages. n is the number of pages. drained is true if all
// buffers are empty. A page that the kernel is still writing to
// ends with its last committed event (kernel/trace/ring_buffer.c, ring_buffer_read_page).
func (r *pages) pass(page func(cpu int, page []byte)) (n int, drained bool, err error) {
	drained = true
	for i, cpu := range r.cpus {
		left := passPages
		for ; left > 0; left-- {
			size, err := readNow(r.fds[i], r.buf)
			if err != nil {
				return n, false, fmt.Errorf("read trace_pipe_raw of CPU %d: %w", cpu, err)
			}
			if size == 0 {
				page(cpu, nil)
				break
			}
			page(cpu, r.buf[:size])
			n++
		}
		drained = drained && left > 0
	}
	return n, drained, nil
}
