package tracefs

import (
	"strings"

	"github.com/ftgo/ftgo/tracefs/internal/files"
)

// plainOptions are how events are recorded and printed as this package reads them. A new
// instance has the options of the top level (kernel/trace/trace.c, trace_array_create), which
// somebody may have set for a trace of their own.
var plainOptions = []setting{
	{"latency-format", "0"}, {"raw", "0"}, {"hex", "0"}, {"bin", "0"}, {"fields", "0"},
	{"stacktrace", "0"}, {"userstacktrace", "0"}, // a record more for each event
	{"context-info", "1"}, {"irq-info", "1"}, {"markers", "1"},
}

// setPlain gives the session's own instance these options. Before Linux 4.4 there is one set
// for all instances, not in theirs, which is left alone.
func (s *Session) setPlain() error {
	for _, o := range plainOptions {
		file := s.file("options", o.file)
		now, err := s.fs.ops.Read(file)
		if files.IsNotExist(err) || err == nil && strings.TrimSpace(string(now)) == o.value {
			continue
		}
		if err != nil {
			return files.Refused("read", file, err)
		}
		if err := s.fs.ops.Write(file, o.value); err != nil {
			return files.Refused("write", file, err)
		}
	}
	return nil
}
