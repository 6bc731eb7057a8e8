package machine

import (
	"fmt"
	"strconv"
	"strings"
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
	// LeastBufferKB is worth having where memory is short.
	LeastBufferKB = 64
)

// BufferKB is the size per CPU of ring buffers whose size nobody has chosen.
func (m Machine) BufferKB() int {
	available, cpus, ok := m.AvailableMemory()
	if !ok {
		return usualBufferKB
	}
	return max(min(usualBufferKB, available/bufferShare/cpus), LeastBufferKB)
}

// AvailableMemory is in KB; cpus is how many share it.
func (m Machine) AvailableMemory() (kb, cpus int, ok bool) {
	_, after, _ := strings.Cut(m.Read("/proc/meminfo"), "MemAvailable:")
	n, _ := fmt.Sscan(after, &kb)
	cpus = countList(m.Read("/sys/devices/system/cpu/online"))
	return kb, cpus, n == 1 && cpus > 0
}

// countList is how many numbers a list like "0-3,8" has.
func countList(list string) (n int) {
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, err1 := strconv.Atoi(first)
		b, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || b < a {
			return 0
		}
		n += b - a + 1
	}
	return n
}
