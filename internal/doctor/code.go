package doctor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// code is a private copy of the measured functions' instructions, in a file without a name. Probes go into
// this file and not into ftgo's executable, because the kernel keeps probes by file: every running ftgo would
// hit the probes of all others. The copy has the same bytes at the same offsets as the executable. The kernel
// deletes it when ftgo ends, even after SIGKILL.
type code struct {
	file   *os.File
	offset int64 // file offset of the first page
	pages  []byte
	at     unsafe.Pointer // the address of the pages in this process
	plan   *uprobe.Plan   // of the probes in the file
}

// mapped holds the code that is mapped at the functions' addresses. The mutex serializes measurements, because
// several runs may be active in one process.
var mapped struct {
	sync.Mutex
	code *code
}

// newCode copies the pages of the plan's functions into a file and maps it. call is the address of the first function in this
// process.
func newCode(b *offsets.Binary, plan *uprobe.Plan, call unsafe.Pointer) (*code, error) {
	page := uint64(os.Getpagesize())
	funcs := plan.Funcs
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
		plan:   plan,
		offset: int64(offset - (first - start)),
		pages:  make([]byte, (end-start+page-1)&^(page-1)),
		at:     unsafe.Add(call, -int(funcs[0].Addr-start)),
	}
	if _, err := b.File().Reader().ReadAt(c.pages, c.offset); err != nil && err != io.EOF {
		return nil, err
	}
	// The system may forbid executable memory files, or mount the temporary directory noexec. Linux before 3.17
	// has no memfd_create.
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

// write fills the file and maps it, which fails if the file may not be executed.
func (c *code) write() error {
	if _, err := c.file.WriteAt(c.pages, c.offset); err != nil {
		return err
	}
	mapped.Lock()
	defer mapped.Unlock()
	return c.use()
}

// run maps this code and calls do. Meanwhile, calls of the functions hit only the probes of this measurement.
func (c *code) run(do func()) error {
	mapped.Lock()
	defer mapped.Unlock()
	err := c.use()
	if err == nil {
		do()
	}
	return err
}

// use maps the file's pages over the functions. The bytes are the same, so a thread that executes them
// meanwhile is not disturbed.
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
