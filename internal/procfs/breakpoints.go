package procfs

import (
	"bytes"
	"slices"
)

// MissingBreakpoints returns the number of sites that have lost their breakpoints in the memory of a process. sites are
// the file offsets of probed instructions. breakpoints are the instructions that the kernel puts in their place.
//
// A process loses breakpoints by madvise(MADV_DONTNEED), after which the page is read from the file again, by a write
// to its code, or when it maps other memory over it. The kernel does not restore them (uprobe_mmap in
// kernel/events/uprobes.c handles only mappings of the file).
//
// MissingBreakpoints reads a few bytes of /proc/PID/mem for each site. Sites that can't be read do not count: the
// process has ended, executes another program now, or may not be read.
func MissingBreakpoints(pid int, inode uint64, sites []uint64, breakpoints [][]byte) (missing int) {
	// The memory is opened before the mappings are read. If the process executes another program in between, reads
	// of the old program's memory fail.
	mem, err := OpenMemory(pid)
	if err != nil {
		return 0
	}
	defer mem.Close()
	all, _ := Mappings(pid) // empty after an error
	for _, site := range sites {
		addr, ok := mappedAt(all, inode, site)
		code := make([]byte, len(breakpoints[0]))
		if !ok {
			continue
		}
		if n, _ := mem.ReadAt(code, int64(addr)); n > 0 && !slices.ContainsFunc(breakpoints, func(b []byte) bool { return bytes.HasPrefix(code, b) }) {
			missing++
		}
	}
	return missing
}

// mappedAt returns the address of a file's offset in a process. It also finds offsets over which the process has mapped
// anonymous memory, because the distance to the rest of the file's code is the same as in the file.
func mappedAt(code []Mapping, inode, offset uint64) (addr uint64, ok bool) {
	for _, m := range code {
		if m.Inode != inode || m.Offset > offset {
			continue
		}
		addr = m.Start + offset - m.Offset
		if addr < m.End {
			return addr, true
		}
		ok = slices.ContainsFunc(code, func(a Mapping) bool { return a.Inode == 0 && a.Start <= addr && addr < a.End })
	}
	return addr, ok
}
