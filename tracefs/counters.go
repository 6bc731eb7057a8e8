package tracefs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/tracefs/internal/files"
)

// Profile returns how often each site of each event has been hit, by the kernel's
// count: before any filter and any ring buffer, in every process that maps the
// file. result[i][j] belongs to events[i].Sites[j].
func (s *Session) Profile() ([][]uint64, error) {
	for try := 0; ; try++ {
		text, err := s.readProfile()
		if err != nil {
			return nil, err
		}
		hits, err := parseProfile(text, s.events)
		if !errors.Is(err, errIncomplete) || try == profileTries {
			return hits, err
		}
		time.Sleep(time.Duration(try) * time.Millisecond)
	}
}

func (s *Session) readProfile() (string, error) {
	file := s.fs.tree.Path("uprobe_profile")
	b, err := s.fs.tree.Ops.Read(file)
	if err != nil {
		return "", files.Refused("read", file, err)
	}
	return string(b), nil
}

// profileTries is how often a profile is read again that lacks sites. The kernel writes a
// page of it at a time and goes on at the same index of its list: when somebody removes a
// probe in between, the entries behind it move up, and one is left out (seq_list_start in
// fs/seq_file.c; new probes go to the end of the list, so that none comes twice).
const profileTries = 50

var errIncomplete = errors.New("incomplete")

// parseProfile reads lines of the form (kernel/trace/trace_uprobe.c,
// probes_profile_seq_show):
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
	for line := range strings.SplitSeq(text, "\n") {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		i, ours := index[fields[len(fields)-2]]
		if !ours {
			continue
		}
		n, err := strconv.ParseUint(fields[len(fields)-1], 10, 64)
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

// Overruns is how many events the session's ring buffer has lost: overwritten before
// they were read, or not recorded because there was no room.
func (s *Session) Overruns() (uint64, error) {
	cpus, err := s.fs.tree.Ops.List(s.file("per_cpu"))
	if err != nil {
		return 0, files.Refused("list", s.file("per_cpu"), err)
	}
	var sum uint64
	for _, cpu := range cpus {
		b, err := s.fs.tree.Ops.Read(s.file("per_cpu", cpu, "stats"))
		if err != nil {
			return 0, files.Refused("read", s.file("per_cpu", cpu, "stats"), err)
		}
		n, err := parseOverruns(string(b))
		if err != nil {
			return 0, fmt.Errorf("parse stats of %s: %w", cpu, err)
		}
		sum += n
	}
	return sum, nil
}

// parseOverruns adds up the lines of a per-CPU stats file that count losses
// (kernel/trace/trace.c, tracing_stats_read).
func parseOverruns(stats string) (uint64, error) {
	var sum uint64
	for _, name := range []string{"overrun:", "commit overrun:", "dropped events:"} {
		for line := range strings.SplitSeq(stats, "\n") {
			text, ok := strings.CutPrefix(line, name)
			if !ok {
				continue
			}
			n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
			if err != nil {
				return 0, err
			}
			sum += n
		}
	}
	return sum, nil
}

// Mark is a moment of a session: what the clocks showed, and what the kernel had counted.
type Mark struct {
	// Ticks is the moment by the trace clock, in units of the events' time stamps; At by
	// the system's.
	Ticks uint64
	At    time.Time
	// Hits[i][j] is how often site j of event i had been hit, as [Session.Profile] has it.
	Hits [][]uint64
	// Width is how long reading the counters took, from Ticks on: those of two sites may be
	// of moments so far apart.
	Width time.Duration
}

// Began is the trace clock's time before the first probe was armed.
func (s *Session) Began() uint64 { return s.began }

// A pass that takes between narrow and wide is tried again, markTries times at most: whoever
// reads may have lost its CPU between two pages of the counters. One that takes longer has
// thousands of sites to read, since the kernel looks for its place in the list from the
// beginning for each page (fs/seq_file.c, seq_list_start).
const (
	narrow    = time.Millisecond
	wide      = 20 * time.Millisecond
	markTries = 4
)

// Now reads the clocks alone: Hits is nil.
func (s *Session) Now() (Mark, error) {
	clock, _, err := s.readClock()
	return Mark{Ticks: clock.Ticks, At: clock.At}, err
}

// Mark reads the clocks, and then all counters in one pass: the shortest of a few.
func (s *Session) Mark() (Mark, error) {
	best, err := s.mark()
	for try := 1; try < markTries && err == nil && narrow < best.Width && best.Width < wide; try++ {
		var again Mark
		if again, err = s.mark(); again.Width < best.Width {
			best = again
		}
	}
	return best, err
}

func (s *Session) mark() (m Mark, err error) {
	if m, err = s.Now(); err != nil {
		return m, err
	}
	text, err := s.readProfile()
	if err != nil {
		return m, err
	}
	m.Width = time.Since(m.At)
	if m.Hits, err = parseProfile(text, s.events); err != nil {
		// Somebody removes probes, see Profile: then it takes longer.
		m.Hits, err = s.Profile()
		m.Width = time.Since(m.At)
	}
	return m, err
}
