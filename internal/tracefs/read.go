package tracefs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/machine"
)

// readInterval is how long the reader sleeps when there is nothing to read.
//
// It does not poll the pipe: trace_pipe of all CPUs wakes its reader at the first
// event, whatever buffer_percent says (kernel/trace/ring_buffer.c,
// ring_buffer_poll_wait), and the interrupt for that is paid by the one who hit the
// probe. The ring buffer holds more than comes in meanwhile.
const readInterval = 20 * time.Millisecond

// Read fills buf, of 64 KB or more for speed, with lines of trace_pipe. 0, nil means that there was
// nothing for a moment; io.EOF comes when the session has been stopped and everything recorded has
// been read. It returns ctx.Err() as soon as ctx is done.
func (s *Session) Read(ctx context.Context, buf []byte) (n int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	stopped := s.hasStopped()
	if stopped && s.stopErr != nil {
		return 0, s.stopErr
	}
	n, err = readNow(s.pipe, buf)
	if n == 0 && err == nil && !stopped { // not the end, only tracing being off
		s.sleep(ctx)
		n, err = readNow(s.pipe, buf)
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("read trace_pipe: %w", err)
	case n == 0 && stopped:
		return 0, io.EOF
	case n == 0:
		return 0, ctx.Err()
	}
	return n, nil
}

// sleep waits for readInterval, until it is woken or ctx is done. It leaves that to Go's
// scheduler, which would put another thread in the place of one that blocks in a system call.
func (s *Session) sleep(ctx context.Context) {
	s.timer.Reset(readInterval)
	select {
	case <-s.timer.C:
	case <-s.wake:
	case <-ctx.Done():
	}
}

// Wake ends the rest of Read or ReadPages, or that of the next call if none rests now.
func (s *Session) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// ReadPages makes a pass over all CPUs of a session that is raw, after some rest
// if the last one has left nothing. page gets each page, valid until it returns; once a
// CPU's buffer is found empty it gets an empty one. n is the number of pages; 0, nil means
// that there was nothing. io.EOF comes, with no pages, when the session has been stopped
// and everything recorded has been read. ReadPages returns ctx.Err() as soon as ctx is
// done, but never in the middle of a pass. Of the kernel's own events, which are read beside
// probes, it neither rests nor comes to an end.
func (s *Session) ReadPages(ctx context.Context, page func(cpu int, page []byte)) (n int, err error) {
	if s.raw == nil {
		return 0, errors.New("read pages: the session is not Raw")
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	stopped := s.hasStopped()
	if s.raw.rest && !stopped && !s.kernel {
		s.sleep(ctx)
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		// Only what was recorded before the pass is found by it.
		stopped = s.hasStopped()
	}
	if stopped && s.stopErr != nil {
		return 0, s.stopErr
	}
	s.beginPass(time.Now())
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

// Names are the kernel's own events, GROUP:EVENT each.
func (s *Session) Names() (names []string) {
	for i := range s.events {
		names = append(names, s.events[i].group+":"+s.events[i].Name)
	}
	return names
}

// Formats are the kernel's descriptions of how the events lie in raw pages, in the order
// in which they were given; none unless the session is raw.
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

// Profile returns how often each site of each event has been hit, by the kernel's
// count: before any filter and any ring buffer, in every process that maps the
// file. result[i][j] belongs to events[i].Sites[j].
func (s *Session) Profile() ([][]uint64, error) {
	hits, _, err := s.profile()
	return hits, err
}

// profile also tells when it had read what it returns.
func (s *Session) profile() (hits [][]uint64, read time.Time, err error) {
	for try := 0; ; try++ {
		text, err := s.fs.files.Read(s.fs.path("uprobe_profile"))
		read = time.Now()
		if err == nil {
			hits, err = parseProfile(string(text), s.events)
		}
		if !errors.Is(err, errIncomplete) || try == profileTries {
			return hits, read, err
		}
		time.Sleep(time.Duration(try) * time.Millisecond)
	}
}

// profileTries is how often a profile is read again that lacks sites. The kernel writes a
// page of it at a time and goes on at the same index of its list: when somebody removes a
// probe in between, the entries behind it move up, and one is left out (seq_list_start in
// fs/seq_file.c; new probes go to the end of the list, so that none comes twice).
const profileTries = 50

var errIncomplete = errors.New("incomplete")

// parseProfile reads lines (kernel/trace/trace_uprobe.c, probes_profile_seq_show):
//
//	"  %s %-44s %15lu\n"   PATH EVENT HITS
//
// There is one a site, in order of definition, and only the event's name tells
// whose it is; names are unique per session, and PATH may hold blanks.
func parseProfile(text string, events []Event) ([][]uint64, error) {
	index := make(map[string]int, len(events))
	hits := make([][]uint64, len(events))
	for i := range events {
		index[events[i].Name] = i
		hits[i] = make([]uint64, 0, len(events[i].Sites))
	}
	// Lines of an event follow one another.
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

// lastField is the last word of a line, and what is before it.
func lastField(line string) (rest, last string) {
	line = strings.TrimRight(line, " ")
	at := strings.LastIndexByte(line, ' ') + 1
	return line[:at], line[at:]
}

// Overruns is how many events the session's ring buffer has lost: overwritten before
// they were read, or not recorded because there was no room.
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

// parseOverruns adds up the losses in per-CPU stats (kernel/trace/trace.c, tracing_stats_read).
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

// Timebase converts the time stamps of the session's events. It must not be asked for
// before Start has returned, nor after Close. The first time it waits, if need be, until
// the session is 20 ms old: nobody who only wants the probes armed waits for that. The
// clocks are compared anew when the session is twice as old, and each minute: who shows
// when something was asks again from time to time.
func (s *Session) Timebase() (machine.Timebase, error) { return s.clocks.Timebase() }

// Mark is a moment of a session: what the clocks showed, and what the kernel had counted.
type Mark struct {
	// Ticks is the moment by the trace clock, in units of time stamps; At by the system's.
	Ticks uint64
	At    time.Time
	// Hits[i][j] is how often site j of event i had been hit, as [Session.Profile] has it.
	Hits [][]uint64
	// Width is how long it took to read the counters from Ticks on: two may be so far apart.
	Width time.Duration
}

// A pass that takes between narrow and wide is tried again, markTries times at most: whoever
// reads may have lost its CPU between two pages of the counters. One that takes longer has
// thousands of sites to read, since the kernel looks for its place in the list from the
// beginning for each page (fs/seq_file.c, seq_list_start).
const (
	narrow    = time.Millisecond
	wide      = 20 * time.Millisecond
	markTries = 4
)

// Mark reads the clocks, and then, if hits are asked for, all counters: the shortest of a few passes.
func (s *Session) Mark(hits bool) (best Mark, err error) {
	for try := range markTries {
		now, _, err := s.clocks.Now()
		m := Mark{Ticks: now.Ticks, At: now.At}
		if err != nil || !hits {
			return m, err
		}
		var read time.Time
		m.Hits, read, err = s.profile()
		m.Width = read.Sub(m.At)
		if try == 0 || m.Width < best.Width {
			best = m
		}
		if err != nil || best.Width <= narrow || best.Width >= wide {
			return best, err
		}
	}
	return best, nil
}
