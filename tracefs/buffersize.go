package tracefs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A ring buffer is as large as it will ever be before the first event: the kernel stops
// recording while it changes the size (kernel/trace/trace.c, __tracing_resize_ring_buffer),
// and hits meanwhile would be missing. Its memory is taken at once, and given back when
// the session's instance is removed.
const (
	// usualBufferKB holds 0.4 s of the fastest flood there is: 1.7 million records a second
	// of 24 bytes. The reader comes by every 20 ms; the rest is for a machine so busy that
	// it comes late.
	usualBufferKB = 16 << 10
	// bufferShare of the available memory is the most that the buffers of all CPUs take.
	bufferShare = 16
	// leastBufferKB is worth having where memory is short.
	leastBufferKB = 64
)

// bufferKB is the size per CPU of ring buffers whose size nobody has chosen.
func (m *machine) bufferKB() int {
	available, cpus, ok := m.memoryPerCPU()
	if !ok {
		return usualBufferKB
	}
	return max(min(usualBufferKB, available/bufferShare/cpus), leastBufferKB)
}

// memoryPerCPU is the available memory in KB, and how many CPUs share it.
func (m *machine) memoryPerCPU() (available, cpus int, ok bool) {
	available, err := strconv.Atoi(meminfo(m.read("/proc/meminfo"), "MemAvailable"))
	cpus = countList(m.read("/sys/devices/system/cpu/online"))
	return available, cpus, err == nil && cpus > 0
}

// memoryLeft says how much memory there is, where an error says that it is not enough.
func (m *machine) memoryLeft(err error) string {
	available, cpus, ok := m.memoryPerCPU()
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
		return refused("read", s.fs.path("buffer_size_kb"), err)
	}
	if !strings.Contains(now, "(expanded") {
		return nil
	}
	if err := s.fs.ops.Write(s.file("events/enable"), "0"); err != nil {
		return refused("write", s.file("events/enable"), err)
	}
	return nil
}

// resize gives the session's ring buffers their size. One that was chosen is had or not;
// else the kernel may have less to give than it seemed.
func (s *Session) resize(chosenKB int) error {
	file := s.file("buffer_size_kb")
	kb := chosenKB
	if kb == 0 {
		kb = thisMachine().bufferKB()
	}
	for {
		err := s.fs.ops.Write(file, fmt.Sprint(kb))
		if err == nil {
			return nil
		}
		if chosenKB != 0 || !errors.Is(err, unix.ENOMEM) || kb <= leastBufferKB {
			return fmt.Errorf("make ring buffers of %d KB per CPU: %w%s", kb, refused("write", file, err), thisMachine().memoryLeft(err))
		}
		kb /= 2
	}
}
