// Package ring reads the ring buffer as text or by the page, and tells whose threads have written it.
package ring

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/procfs"
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
func NewPipe(fd int) *Pipe {
	return &Pipe{fd: fd, wake: make(chan struct{}, 1), timer: time.NewTimer(0)}
}

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

// Sleep waits until the time is over, the pipe is woken or ctx is done. It leaves that to Go's
// scheduler, which would put another thread in the place of one that blocks in a system call.
func (p *Pipe) Sleep(ctx context.Context, wait time.Duration) {
	p.timer.Reset(wait)
	select {
	case <-p.timer.C:
	case <-p.wake:
	case <-ctx.Done():
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
	cpus   []pagesOfCPU
	buf    []byte
	Rest   bool    // a pass was made before, and the last one has left nothing on any CPU
	Owners *Owners // whose the threads of the records are
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

// Pass reads every CPU until it is empty, or has given its share. A page is whole, or, while it is
// being written to, what is committed (kernel/trace/ring_buffer.c, ring_buffer_read_page).
func (r *Pages) Pass(page func(cpu int, page []byte)) (pages int, err error) {
	r.Rest = true
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
		r.Rest = r.Rest && left > 0
	}
	return pages, nil
}

// Owners knows the processes of threads that hits name. /proc tells while a thread is there; for one
// that has ended the kernel's notes do, which always have the last switch away from a thread.
//
// They are what the kernel noted when the thread was last switched to while something recorded
// TGIDs (tracing_record_taskinfo_sched_switch in kernel/trace/trace_sched_switch.c, since 4.13).
// Text has them in the TGID column, looked up when the line is printed. The notes are never
// cleared: until a new thread is switched, they show the process of an earlier thread of the same
// number. So /proc is asked first.
type Owners struct {
	// known are the threads looked up last, and older those before them: threads of processes that
	// nobody has selected are forgotten by nobody, and neither are those in another PID namespace.
	known, older map[int]ownedThread
	// recent are some of known, by the lowest bits of a thread's number; of pages, the present pass's.
	recent [64]struct{ tid, printed, process int }
	// Of pages alone: notes reads the kernel's notes, thread → process; now is the present pass
	// over the CPUs, asked the one in which noted was read.
	notes      func() map[int]int
	noted      map[int]int
	now, asked time.Time
}

type ownedThread struct {
	printed int // the column, when it was last looked at; 0 of pages
	process int
	asked   time.Time // the pass
}

// trusted is how long a thread of pages is believed to be the one of its number that was asked
// for: after that the number may have gone to another. Of text the column tells.
const trusted = time.Second

// maxOwned is how many threads known has room for.
const maxOwned = 8192

// NewOwners knows what notes tells; nil where lines of text do.
func NewOwners(notes func() map[int]int) *Owners {
	return &Owners{notes: notes, known: make(map[int]ownedThread)}
}

// Begin starts a pass.
func (o *Owners) Begin(now time.Time) {
	o.now = now
	clear(o.recent[:])
}

// Process returns the process of a thread, 0 if it is unknown or the idle one. printed is the TGID
// column of the thread's newest line, 0 where it has none; pages have none.
func (o *Owners) Process(tid, printed int) int {
	if o.notes != nil {
		printed = 0
	}
	recent := &o.recent[tid&63]
	if recent.tid == tid && recent.printed == printed {
		return recent.process
	}
	thread, known := o.known[tid]
	if !known {
		thread, known = o.older[tid]
	}
	switch {
	case !known || o.now.Sub(thread.asked) >= trusted:
		thread = ownedThread{printed, o.find(tid, printed, thread.process), o.now}
	case printed != 0 && printed != thread.printed:
		thread = ownedThread{printed, printed, o.now} // noted anew
	}
	if thread.process == 0 && o.notes == nil {
		return 0 // it may be noted yet
	}
	if len(o.known) >= maxOwned {
		o.known, o.older = make(map[int]ownedThread), o.known
	}
	o.known[tid] = thread
	recent.tid, recent.printed, recent.process = tid, printed, thread.process
	return thread.process
}

// find asks /proc, and then the notes; before is what nobody may remember any more.
func (o *Owners) find(tid, printed, before int) int {
	if process := procfs.ThreadGroup(tid); process != 0 {
		return process
	}
	if o.notes == nil {
		return printed // it has ended, and was noted when it was switched away from
	}
	if o.noted == nil || !o.asked.Equal(o.now) {
		o.noted, o.asked = o.notes(), o.now
	}
	if noted := o.noted[tid]; noted != 0 {
		return noted
	}
	return before
}

// Forget drops what is known of processes that have ended, all of whose events have been
// read: others may get their numbers, and those of their threads.
func (o *Owners) Forget(ended map[int]bool) {
	for _, threads := range []map[int]ownedThread{o.known, o.older} {
		maps.DeleteFunc(threads, func(_ int, thread ownedThread) bool { return ended[thread.process] })
	}
	clear(o.recent[:])
}

// notes reads saved_tgids: lines "TID TGID" (kernel/trace/trace.c, saved_tgids_show).
func notes(text string) map[int]int {
	noted := make(map[int]int)
	for line := range strings.Lines(text) {
		thread, process, _ := strings.Cut(strings.TrimSpace(line), " ")
		tid, terr := strconv.Atoi(thread)
		pid, perr := strconv.Atoi(process)
		if terr == nil && perr == nil {
			noted[tid] = pid
		}
	}
	return noted
}
