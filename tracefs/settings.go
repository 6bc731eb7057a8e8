package tracefs

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/tracefs/internal/files"
)

// memoryLeft says how much memory there is, where an error says that it is not enough.
func memoryLeft(err error) string {
	available, cpus, ok := machine.This().AvailableMemory()
	if !errors.Is(err, unix.ENOMEM) || !ok {
		return ""
	}
	return fmt.Sprintf(" (%d KB are available for %d CPUs)", available, cpus)
}

// growTopLevel has the buffer of the top level grow as it does when anybody's first event is
// switched on: nothing is, but the kernel does it all the same when told that nothing shall be.
// Before Linux 6.7 it would stay as small as it is, a page, for good, once any buffer was given
// a size (ring_buffer_expanded in kernel/trace/trace.c), and who traces there next would lose
// almost everything.
func (s *Session) growTopLevel() error {
	if !s.features.Instances {
		return nil
	}
	now, err := s.fs.tree.ReadTrimmed("buffer_size_kb")
	if err != nil {
		return files.Refused("read", s.fs.tree.Path("buffer_size_kb"), err)
	}
	if !strings.Contains(now, "(expanded") {
		return nil
	}
	if err := s.fs.tree.Ops.Write(s.file("events/enable"), "0"); err != nil {
		return files.Refused("write", s.file("events/enable"), err)
	}
	return nil
}

// resize gives the session's ring buffers their size. One that was chosen is had or not;
// else the kernel may have less to give than it seemed.
func (s *Session) resize(chosenKB int) error {
	file := s.file("buffer_size_kb")
	kb := chosenKB
	if kb == 0 {
		kb = machine.This().BufferKB()
	}
	for {
		err := s.fs.tree.Ops.Write(file, fmt.Sprint(kb))
		if err == nil {
			return nil
		}
		if chosenKB != 0 || !errors.Is(err, unix.ENOMEM) || kb <= machine.LeastBufferKB {
			return fmt.Errorf("make ring buffers of %d KB per CPU: %w%s", kb, files.Refused("write", file, err), memoryLeft(err))
		}
		kb /= 2
	}
}

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
		now, err := s.fs.tree.Ops.Read(file)
		if files.IsNotExist(err) || err == nil && strings.TrimSpace(string(now)) == o.value {
			continue
		}
		if err != nil {
			return files.Refused("read", file, err)
		}
		if err := s.fs.tree.Ops.Write(file, o.value); err != nil {
			return files.Refused("write", file, err)
		}
	}
	return nil
}
