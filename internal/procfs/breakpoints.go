package procfs

import (
	"bytes"
	"slices"
)

// Missing returns how many of a file's probed instructions, given by their offsets
// in the file, begin with none of the breakpoints in a process. A process can lose breakpoints, and the kernel does not
// restore them: by madvise(MADV_DONTNEED), after which the page is read from the file
// anew, by writing to its code, or by mapping other memory in its place (uprobe_mmap in
// kernel/events/uprobes.c handles only mappings of the file).
//
// It reads a few bytes of /proc/PID/mem for each. Bytes that can't be read do not count as missing: the
// process has ended, executes another program by now, or may not be read.
func Missing(pid int, inode uint64, sites []uint64, breakpoints [][]byte) (missing int) {
	// Open the memory before reading the mappings: if the process executes another program in between, the
	// memory of the first one can't be read any more.
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

// mappedAt returns the address of a file's offset in a process, also if the process has mapped anonymous
// memory for code there since: the distance to the file's other code is the same as in the file.
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
