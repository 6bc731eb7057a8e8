package tracefs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/tracefs/internal/files"
	"github.com/ftgo/ftgo/tracefs/internal/threads"
)

// Reader is how a session's events are read.
type Reader int

const (
	// Pipe reads trace_pipe, which the kernel formats as text: [Session.Read].
	Pipe Reader = iota
	// Raw reads the pages of the ring buffer as they are, CPU by CPU:
	// [Session.ReadPages]. It costs a fraction of the text, and time stamps of clocks
	// that text cuts to microseconds come whole.
	Raw
)

// rawPages are the open trace_pipe_raw of all CPUs.
type rawPages struct {
	cpus []rawCPU
	buf  []byte
	// more: the last pass has left something on a CPU.
	more bool
	// began: a pass was made before.
	began  bool
	owners *threads.OfPages
}

type rawCPU struct {
	cpu, fd int
}

const (
	// rawBuffer is more than a page of the ring buffer: 4 KB, unless somebody has
	// changed buffer_subbuf_size_kb (since Linux 6.8). A read returns one page at most
	// (kernel/trace/trace.c, tracing_buffers_read).
	rawBuffer = 64 << 10
	// passPages is how many pages of a CPU a pass takes: a CPU that is never found empty
	// must not keep the others waiting.
	passPages = 128
)

// openRaw opens the pages of every CPU the kernel could have, as the directories tell:
// one that is switched on later records, too.
func (s *Session) openRaw() error {
	dirs, err := s.fs.ops.List(s.file("per_cpu"))
	if err != nil {
		return files.Refused("list", s.file("per_cpu"), err)
	}
	s.raw = &rawPages{
		buf:    make([]byte, rawBuffer),
		owners: threads.NewOfPages(s.fs.notedProcesses),
	}
	for _, dir := range dirs {
		number, ok := strings.CutPrefix(dir, "cpu")
		cpu, err := strconv.Atoi(number)
		if !ok || err != nil || cpu < 0 {
			continue
		}
		file := s.file("per_cpu", dir, "trace_pipe_raw")
		fd, err := s.fs.ops.Pipe(file)
		if err != nil {
			return files.Refused("open", file, err)
		}
		s.raw.cpus = append(s.raw.cpus, rawCPU{cpu, fd})
	}
	if len(s.raw.cpus) == 0 {
		return fmt.Errorf("list %s: no CPU", s.file("per_cpu"))
	}
	return nil
}

func (r *rawPages) close() error {
	var errs []error
	for _, c := range r.cpus {
		errs = append(errs, unix.Close(c.fd))
	}
	r.cpus = nil
	return errors.Join(errs...)
}

// pass reads every CPU until it is empty, or has given its share.
func (r *rawPages) pass(page func(cpu int, page []byte)) (pages int, err error) {
	r.more, r.began = false, true
	r.owners.Begin(time.Now())
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

// read fills buf with one page: a whole one, or, of the page that is being written to,
// what is committed (kernel/trace/ring_buffer.c, ring_buffer_read_page). 0 says that
// there is nothing.
func (r *rawPages) read(c rawCPU) (int, error) {
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

// ReadPages makes a pass over all CPUs of a session with the Raw reader, after some rest
// if the last one has left nothing. page gets each page, valid until it returns; once a
// CPU's buffer is found empty it gets an empty one. n is the number of pages; 0, nil means
// that there was nothing. io.EOF comes, with no pages, when the session has been stopped
// and everything recorded has been read. ReadPages returns ctx.Err() as soon as ctx is
// done, but never in the middle of a pass.
func (s *Session) ReadPages(ctx context.Context, page func(cpu int, page []byte)) (n int, err error) {
	if s.raw == nil {
		return 0, errors.New("read pages: the session's reader is not Raw")
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	stopped := s.hasStopped()
	if s.raw.began && !s.raw.more && !stopped {
		s.pipe.sleep(ctx, readInterval)
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		// Only what was recorded before the pass is found by it.
		stopped = s.hasStopped()
	}
	if stopped && s.stopErr != nil {
		return 0, s.stopErr
	}
	n, err = s.raw.pass(page)
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
// in which they were given to Start; none unless the session's reader is Raw.
func (s *Session) Formats() ([]string, error) {
	if s.raw == nil {
		return nil, nil
	}
	texts := make([]string, len(s.events))
	for i := range s.events {
		file := s.eventFile(&s.events[i], "format")
		b, err := s.fs.ops.Read(file)
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
	text, _ := f.ops.Read(f.path("saved_tgids"))
	return threads.Notes(string(text))
}
