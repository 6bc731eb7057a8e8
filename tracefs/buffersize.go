package tracefs

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/tracefs/internal/files"
	"github.com/ftgo/ftgo/tracefs/internal/machine"
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
	now, err := s.fs.readTrimmed("buffer_size_kb")
	if err != nil {
		return files.Refused("read", s.fs.path("buffer_size_kb"), err)
	}
	if !strings.Contains(now, "(expanded") {
		return nil
	}
	if err := s.fs.ops.Write(s.file("events/enable"), "0"); err != nil {
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
		err := s.fs.ops.Write(file, fmt.Sprint(kb))
		if err == nil {
			return nil
		}
		if chosenKB != 0 || !errors.Is(err, unix.ENOMEM) || kb <= machine.LeastBufferKB {
			return fmt.Errorf("make ring buffers of %d KB per CPU: %w%s", kb, files.Refused("write", file, err), memoryLeft(err))
		}
		kb /= 2
	}
}
