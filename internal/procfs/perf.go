package procfs

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TryPerf returns an error if this process may not use perf_event_open on a process. It opens an event that counts
// nothing. The kernel checks the same for it as for other events (kernel/events/core.c, perf_event_open).
func TryPerf(pid int) error {
	fd, err := openPerf(unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_DUMMY}, pid)
	_ = unix.Close(fd) // -1 after an error
	return err
}

// openPerf opens an event for a thread (perf_event_open(2)).
func openPerf(attr unix.PerfEventAttr, tid int) (int, error) {
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		err = fmt.Errorf("perf_event_open of thread %d: %w", tid, err)
	}
	if errors.Is(err, os.ErrPermission) {
		err = fmt.Errorf("%w (it takes CAP_PERFMON, or kernel.perf_event_paranoid of at most 1)", err)
	}
	return fd, err
}

// OpenTracepoint opens a tracepoint for a thread, and for the threads that it starts: bit 35 is inherit_thread. With a filter, it
// counts the hits that the filter lets pass, else none.
func OpenTracepoint(id uint64, filter string, tid int) (int, error) {
	bits := uint64(unix.PerfBitDisabled | unix.PerfBitInherit | unix.CBitFieldMaskBit35)
	fd, err := openPerf(unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Config: id, Bits: bits}, tid)
	if err != nil || filter == "" {
		return fd, err
	}
	text := append([]byte(filter), 0)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PERF_EVENT_IOC_SET_FILTER, uintptr(unsafe.Pointer(&text[0])))
	if errno == 0 {
		_, _, errno = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PERF_EVENT_IOC_ENABLE, 0)
	}
	if errno != 0 {
		unix.Close(fd)
		return -1, fmt.Errorf("filter perf event by %q: %w", filter, errno)
	}
	return fd, nil
}

// Samples are addresses of instructions that a process executes. The kernel adds one after each samplePeriod of the CPU time of
// a thread, if the thread does not execute kernel code then.
type Samples [][]byte // a ring of each thread, as described at struct perf_event_mmap_page in include/uapi/linux/perf_event.h

const (
	samplePeriod = 200_000 // ns
	// maxSampled limits the threads with a ring, which takes 17 pages of memory. A full ring takes no more samples.
	maxSampled = 100
	ringPages  = 16
)

// StartSamples starts to take samples of all present threads of a process. Where the kernel does not allow it, there are none.
func StartSamples(pid int) (s Samples) {
	tids, _ := Threads(pid) // empty for a process that has ended
	for _, tid := range tids[:min(len(tids), maxSampled)] {
		fd, err := openPerf(unix.PerfEventAttr{
			Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Sample: samplePeriod,
			Sample_type: unix.PERF_SAMPLE_IP, Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
		}, tid)
		if err != nil {
			continue
		}
		ring, err := unix.Mmap(fd, 0, (1+ringPages)*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if unix.Close(fd); err == nil { // the mapping keeps the event
			s = append(s, ring)
		}
	}
	return s
}

// Stop ends the samples and returns their addresses.
func (s Samples) Stop() (addrs map[uint64]bool) {
	addrs = make(map[uint64]bool)
	for _, ring := range s {
		head, data := atomic.LoadUint64(&(*unix.PerfEventMmapPage)(unsafe.Pointer(&ring[0])).Data_head), ring[os.Getpagesize():]
		for at := uint64(0); at < head; {
			header := (*struct {
				Type       uint32
				Misc, Size uint16
				Addr       uint64
			})(unsafe.Pointer(&data[at]))
			if header.Type == unix.PERF_RECORD_SAMPLE {
				addrs[header.Addr] = true
			}
			at += uint64(header.Size)
		}
		_ = unix.Munmap(ring)
	}
	return addrs
}
