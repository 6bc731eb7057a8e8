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
	file := s.fs.path("uprobe_profile")
	b, err := s.fs.ops.Read(file)
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
