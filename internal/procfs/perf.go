package procfs

import (
	"errors"
	"fmt"
	"os"
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
