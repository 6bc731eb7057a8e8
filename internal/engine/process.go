package engine

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/offsets"
)

// Process reads the memory of a running process that executes a binary. It neither stops the process nor writes to it, so
// that words which are read at different times may be of different states. Addresses are those of the process.
type Process struct {
	Binary *offsets.Binary
	PID    int
	Bias   uint64 // the difference between an address in the process and in the file
	memory *os.File
}

// OpenProcess opens the memory of a process.
func OpenProcess(b *offsets.Binary, pid int) (*Process, error) {
	// The memory is opened before the mappings are read. If the process executes another program in between, reads of
	// the old program's memory fail.
	memory, err := procfs.OpenMemory(pid)
	if err != nil {
		return nil, err
	}
	p := &Process{Binary: b, PID: pid, memory: memory}
	if p.Bias, err = biasIn(b, pid); err != nil {
		memory.Close()
		return nil, fmt.Errorf("find %s in process %d: %w", b.File().Path(), pid, err)
	}
	return p, nil
}

// biasIn returns the difference between an address in a process and in the binary that it executes.
func biasIn(b *offsets.Binary, pid int) (bias uint64, err error) {
	mapped, err := procfs.Mappings(pid)
	exe := ""
	if procfs.SameFile(procfs.Exe(pid), b.File().Link()) {
		exe, _ = os.Readlink(procfs.Exe(pid))
	}
	for _, m := range mapped {
		// In overlayfs, a mapping may have another inode number than the file.
		if va, unknown := b.File().AddrOf(m.Offset); unknown == nil && m.Path != "" && (m.Inode == b.File().Inode() || m.Path == exe) {
			return m.Start - va, nil
		}
	}
	return 0, cmp.Or(err, errors.New("it has no code of the file"))
}

// Close closes the memory, but not the binary.
func (p *Process) Close() error { return p.memory.Close() }

// Read fills buf with the memory at an address. ok is false if some of it can't be read.
func (p *Process) Read(addr uint64, buf []byte) (ok bool) {
	n, err := p.memory.ReadAt(buf, int64(addr))
	return err == nil && n == len(buf)
}

// Words reads n words at an address. It returns nil if it can't read all of them.
func (p *Process) Words(addr uint64, n int) []uint64 {
	buf := make([]byte, 8*n)
	if !p.Read(addr, buf) {
		return nil
	}
	words := make([]uint64, n)
	_, _ = binary.Decode(buf, binary.LittleEndian, words) // fails only if buf is too short
	return words
}

// Word reads a word. It returns 0 if it can't.
func (p *Process) Word(addr uint64) uint64 {
	if w := p.Words(addr, 1); w != nil {
		return w[0]
	}
	return 0
}

// Variables returns the addresses of the data to which the code of a function refers, in the order of the code. So a
// variable of the runtime is found in a stripped program, too. On arm64 some addresses may be wrong, because a register
// may have been overwritten. The caller must check what the memory holds.
func (p *Process) Variables(function string) (addrs []uint64, err error) {
	f, ok := p.Binary.Lookup(function)
	if !ok {
		return nil, fmt.Errorf("%s: no function %s", p.Binary.File().Path(), function)
	}
	refs := p.Binary.Internals().DataRefs(f)
	arm64 := p.Binary.File().Processor.Machine().GOARCH == "arm64"
	for _, addr := range refs {
		// On arm64, code gets the address of a page first.
		inPage := func(of uint64) bool { return of > addr && of-addr < 4096 }
		if arm64 && addr%4096 == 0 && slices.ContainsFunc(refs, inPage) {
			continue
		}
		if addr += p.Bias; !slices.Contains(addrs, addr) {
			addrs = append(addrs, addr)
		}
	}
	return addrs, nil
}
