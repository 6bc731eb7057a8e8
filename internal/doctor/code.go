package doctor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/offsets"
)

// code is a file with the functions' instructions, in place of ftgo's own file: the kernel keeps probes by
// file, so every ftgo that runs would hit the probes of all others. It has the same bytes at the same
// offsets, and nothing else. Nobody knows its name, so that it is gone when ftgo is, whatever of.
type code struct {
	file   *os.File
	offset int64 // of the first page
	pages  []byte
	at     unsafe.Pointer // where this process has them
}

// mapped is the code that this process runs by now. Measurements take turns: several runs may go on in a process.
var mapped struct {
	sync.Mutex
	code *code
}

// newCode copies the pages of functions, of which call is the first one's.
func newCode(b *offsets.Binary, funcs []*offsets.Func, call unsafe.Pointer) (*code, error) {
	page := uint64(os.Getpagesize())
	first, end := funcs[0].Addr, funcs[0].Addr
	for _, fn := range funcs {
		first, end = min(first, fn.Addr), max(end, fn.Addr+fn.Size)
	}
	start := first &^ (page - 1)
	offset, err := b.File().FileOffset(first)
	if err != nil {
		return nil, err
	}
	c := &code{
		offset: int64(offset - (first - start)),
		pages:  make([]byte, (end-start+page-1)&^(page-1)),
		at:     unsafe.Add(call, -int(funcs[0].Addr-start)),
	}
	if _, err := b.File().Reader().ReadAt(c.pages, c.offset); err != nil && err != io.EOF {
		return nil, err
	}
	// Executables may be forbidden in memory, or where temporary files are. Linux before 3.17 has no memfd.
	for _, create := range []func() (*os.File, error){inMemory, onDisk} {
		file, failed := create()
		if failed == nil {
			c.file = file
			if failed = c.write(); failed == nil {
				return c, nil
			}
			file.Close()
		}
		err = errors.Join(err, failed)
	}
	return nil, fmt.Errorf("%w: copy ftgo's own functions: %w", ErrNotTried, err)
}

func inMemory() (*os.File, error) {
	fd, err := unix.MemfdCreate("ftgo", unix.MFD_CLOEXEC|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL { // before Linux 6.3
		fd, err = unix.MemfdCreate("ftgo", unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "memfd:ftgo"), nil
}

func onDisk() (*os.File, error) {
	file, err := os.CreateTemp("", "ftgo-")
	if err != nil {
		return nil, err
	}
	return file, os.Remove(file.Name())
}

// write fills the file, and sees that it may be executed.
func (c *code) write() error {
	if _, err := c.file.WriteAt(c.pages, c.offset); err != nil {
		return err
	}
	mapped.Lock()
	defer mapped.Unlock()
	return c.use()
}

// target is what the kernel is to probe. Nobody else can change it.
func (c *code) target() tracefs.Target {
	return tracefs.Target{Path: fmt.Sprintf("/proc/self/fd/%d", c.file.Fd())}
}

// run calls do, which calls functions, while no other measurement's probes are hit.
func (c *code) run(do func()) error {
	mapped.Lock()
	defer mapped.Unlock()
	err := c.use()
	if err == nil {
		do()
	}
	return err
}

// use puts the file's pages where the process has the functions. They have the same bytes: who executes
// there meanwhile goes on.
func (c *code) use() error {
	if mapped.code == c {
		return nil
	}
	_, err := unix.MmapPtr(int(c.file.Fd()), c.offset, c.at, uintptr(len(c.pages)), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_FIXED)
	if err != nil {
		return os.NewSyscallError("mmap", err)
	}
	mapped.code = c
	return nil
}
