package tracefs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/tracefs/internal/files"
)

// Overruns is how many events the session's ring buffer has lost: overwritten before
// they were read, or not recorded because there was no room.
func (s *Session) Overruns() (uint64, error) {
	cpus, err := s.fs.ops.List(s.file("per_cpu"))
	if err != nil {
		return 0, files.Refused("list", s.file("per_cpu"), err)
	}
	var sum uint64
	for _, cpu := range cpus {
		b, err := s.fs.ops.Read(s.file("per_cpu", cpu, "stats"))
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
