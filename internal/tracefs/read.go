package tracefs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// readInterval is how long the reader sleeps when there is nothing to read.
//
// The reader does not poll trace_pipe: the kernel wakes a poller of the all-CPU pipe at the first event, whatever
// buffer_percent is (kernel/trace/ring_buffer.c, ring_buffer_poll_wait), and the thread that has hit the probe pays
// for the interrupt. The ring buffer has room for the events of one interval.
const readInterval = 20 * time.Millisecond

// Read fills buf with lines of trace_pipe. A buffer of 64 KB or more is fastest. It returns 0, nil if there was nothing
// to read, and the next call then first sleeps for readInterval. It returns io.EOF after Stop when all recorded events have
// been read, and ctx.Err() as soon as ctx is done.
func (s *Session) Read(ctx context.Context, buf []byte) (n int, err error) {
	stopped, err := s.await(ctx)
	if err != nil {
		return 0, err
	}
	if n, err = readNow(s.pipe, buf); err != nil {
		return 0, fmt.Errorf("read trace_pipe: %w", err)
	}
	if s.drained = n == 0; s.drained && stopped {
		err = io.EOF
	}
	return n, err
}

// await sleeps if the last read has emptied the buffers. stopped reports whether the session was stopped before the read
// that follows. Such a read finds all events that were recorded.
func (s *Session) await(ctx context.Context) (stopped bool, err error) {
	if s.drained && !s.hasStopped() && !s.kernel {
		s.sleep(ctx)
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if stopped = s.hasStopped(); stopped {
		err = s.stopErr
	}
	return stopped, err
}

// sleep waits for readInterval, for Wake or for ctx. It blocks in Go's scheduler, which would start another thread in
// place of one that blocks in a system call.
func (s *Session) sleep(ctx context.Context) {
	select {
	case <-time.After(readInterval):
	case <-s.wake:
	case <-ctx.Done():
	}
}

// Wake ends the sleep of Read or ReadPages, or skips the next sleep if the reader does not sleep now.
func (s *Session) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// ReadPages reads the pages of all CPUs of a raw session once. If the previous call has emptied all buffers, it first
// sleeps for readInterval. It calls page for each page, which is valid until page returns, and with an empty page when
// a CPU's buffer is empty. n is the number of pages that are not empty.
//
// It returns 0, nil if there was nothing to read, and io.EOF after Stop when all recorded events have been read. It
// returns ctx.Err() as soon as ctx is done, but never in the middle of a pass. In a session of kernel events
// it never sleeps, because its caller also reads a session of probes.
func (s *Session) ReadPages(ctx context.Context, page func(cpu int, page []byte)) (n int, err error) {
	if s.raw == nil {
		return 0, errors.New("read pages: the session is not Raw")
	}
	stopped, err := s.await(ctx)
	if err != nil {
		return 0, err
	}
	s.beginPass(time.Now())
	n, s.drained, err = s.raw.pass(page)
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

// Names returns the session's kernel events, as GROUP:EVENT.
func (s *Session) Names() (names []string) {
	for i := range s.events {
		names = append(names, s.events[i].group+":"+s.events[i].Name)
	}
	return names
}

// Formats returns the kernel's descriptions of the session's events in raw pages (the format files), in the order of
// the events. It returns nil if the session is not raw.
func (s *Session) Formats() ([]string, error) {
	if s.raw == nil {
		return nil, nil
	}
	texts := make([]string, len(s.events))
	for i := range s.events {
		b, err := s.fs.files.Read(s.eventFile(&s.events[i], "format"))
		if err != nil {
			return nil, err
		}
		texts[i] = string(b)
	}
	return texts, nil
}

// Profile returns the kernel's hit counts: result[i][j] is the count of events[i].Sites[j]. It includes the hits of all
// processes that map the file, and hits that a filter or a full ring buffer has dropped.
func (s *Session) Profile() (hits [][]uint64, err error) {
	for try := 0; ; try++ {
		text, err := s.fs.files.Read(s.fs.path("uprobe_profile"))
		if err == nil {
			hits, err = parseProfile(string(text), s.events)
		}
		if !errors.Is(err, errIncomplete) || try == profileTries {
			return hits, err
		}
		time.Sleep(time.Duration(try) * time.Millisecond)
	}
}

// profileTries is how often an incomplete profile is read again. The kernel writes one page of it at a time and
// continues at the same index of its list. If another process removes a probe in between, the following entries move
// up and one is skipped (seq_list_start in fs/seq_file.c). No entry comes twice, because new probes are appended.
const profileTries = 50

var errIncomplete = errors.New("incomplete")

// parseProfile reads lines (kernel/trace/trace_uprobe.c, probes_profile_seq_show):
//
//	"  %s %-44s %15lu\n"   PATH EVENT HITS
//
// There is one line for each site, in order of definition. The event's name, which is unique for its session,
// identifies the event. PATH may contain blanks.
func parseProfile(text string, events []Event) ([][]uint64, error) {
	index := make(map[string]int, len(events))
	hits := make([][]uint64, len(events))
	for i := range events {
		index[events[i].Name] = i
		hits[i] = make([]uint64, 0, len(events[i].Sites))
	}
	// The lines of an event follow each other, so look the event up once.
	event, i, ours := "", 0, false
	for line := range strings.SplitSeq(text, "\n") {
		rest, count := lastField(line)
		if _, name := lastField(rest); name != event {
			event = name
			i, ours = index[name]
		}
		if !ours {
			continue
		}
		n, err := strconv.ParseUint(count, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("parse uprobe_profile line %q: %w", line, err)
		}
		hits[i] = append(hits[i], n)
	}
	for i := range events {
		if len(hits[i]) != len(events[i].Sites) {
			return nil, fmt.Errorf("read uprobe_profile: event %s has %d sites, not %d: %w", events[i].Name, len(hits[i]), len(events[i].Sites), errIncomplete)
		}
	}
	return hits, nil
}

// lastField splits a line before its last word.
func lastField(line string) (rest, last string) {
	line = strings.TrimRight(line, " ")
	at := strings.LastIndexByte(line, ' ') + 1
	return line[:at], line[at:]
}

// Overruns returns the number of events that the session's ring buffer has lost: they were overwritten before they were
// read, or not recorded for lack of room.
func (s *Session) Overruns() (sum uint64, err error) {
	cpus, err := s.fs.files.List(s.file("per_cpu"))
	if err != nil {
		return 0, err
	}
	for _, cpu := range cpus {
		b, err := s.fs.files.Read(s.file("per_cpu", cpu, "stats"))
		if err != nil {
			return 0, err
		}
		n, err := parseOverruns(string(b))
		if sum += n; err != nil {
			return 0, fmt.Errorf("parse stats of %s: %w", cpu, err)
		}
	}
	return sum, nil
}

// parseOverruns sums the lost events in per-CPU stats (kernel/trace/trace.c, tracing_stats_read).
func parseOverruns(stats string) (sum uint64, err error) {
	for line := range strings.Lines(stats) {
		switch name, text, _ := strings.Cut(line, ":"); name {
		case "overrun", "commit overrun", "dropped events":
			n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
			if err != nil {
				return 0, err
			}
			sum += n
		}
	}
	return sum, nil
}

// Timebase returns the conversion of the session's time stamps to wall-clock time. It is valid between Start and Close.
// The first call waits until the session is 20 ms old, so that two readings of the clocks differ enough. The clocks are
// compared again when the session is twice as old, and then every minute, so callers that convert times call it
// regularly.
func (s *Session) Timebase() (Timebase, error) { return s.clocks.Timebase() }

// Mark holds the clocks and the hit counts at one moment of a session.
type Mark struct {
	// Ticks is the trace clock, in units of time stamps, and At the system clock.
	Ticks uint64
	At    time.Time
	// Hits[i][j] is the hit count of site j of event i, as in [Session.Profile].
	Hits [][]uint64
	// Width is the time from Ticks until all counters were read, so the difference between two counters' moments is
	// at most Width.
	Width time.Duration
}

// Mark reads the clocks and then, if hits is true, all counters.
func (s *Session) Mark(hits bool) (m Mark, err error) {
	now, _, err := s.clocks.Now()
	m.Ticks, m.At = now.Ticks, now.At
	if err == nil && hits {
		m.Hits, err = s.Profile()
		m.Width = time.Since(m.At)
	}
	return m, err
}
