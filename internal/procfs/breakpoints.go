package procfs

import (
	"bytes"
	"slices"
)

// Missing tells how many of a file's instructions that are probed, by their offsets
// in the file, have none of the breakpoints, as they begin, in a process. The kernel does not put one back that the
// process has lost: by madvise(MADV_DONTNEED), after which the page is read from the file
// anew, by writing to its code, or by mapping other memory in its place (uprobe_mmap in
// kernel/events/uprobes.c is for mappings of the file alone).
//
// It reads a few bytes of /proc/PID/mem for each. Those that can't be read are not missing: the
// process has ended, executes another program meanwhile, or may not be looked at.
func Missing(pid int, inode uint64, sites []uint64, breakpoints [][]byte) (missing int) {
	// Before its mappings: if it executes another program in between, the memory of the
	// first has nothing to read any more.
	mem, err := OpenMemory(pid)
	if err != nil {
		return 0
	}
	defer mem.Close()
	all, _ := Mappings(pid) // none is as good as an error
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

// mappedAt is where a process has an offset of a file, or had it before it mapped anonymous
// memory for code there: as far behind the file's other code as in the file.
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
