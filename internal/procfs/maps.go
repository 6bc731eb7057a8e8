package procfs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Mapping is a range of a process's addresses.
type Mapping struct {
	Start, End uint64
	// Offset is the file offset at Start, and Inode is the file's inode number. Both are 0 without a file.
	Offset, Inode uint64
	// Device is MAJOR:MINOR in hexadecimal.
	Device string
	// Path is the file's path as the process sees it. It has "\012" for a newline, except in [MappedFiles]. It ends
	// with " (deleted)" if the file was deleted.
	Path string
}

// Link returns the path of the link to the mapped file, relative to /proc/PID (fs/proc/base.c, proc_map_files_readdir).
func (m Mapping) Link() string { return fmt.Sprintf("map_files/%x-%x", m.Start, m.End) }

// Mappings returns the executable mappings of a process.
func Mappings(pid int) ([]Mapping, error) { return readMappings(pid, "x") }

// readMappings returns the mappings with a permission: "r" or "x". If the first thread has ended and others have not,
// it reads the mappings of another thread.
func readMappings(pid int, permission string) ([]Mapping, error) {
	b, err := os.ReadFile(folder(pid) + "/maps")
	if len(b) == 0 { // the first thread has ended; since Linux 6.16, reading also fails
		if tid := LiveThread(pid); tid != pid {
			b, err = os.ReadFile(folder(tid) + "/maps")
		}
	}
	if err != nil {
		return nil, err
	}
	return parseMappings(string(b), permission)
}

// MappedFiles returns the executable mappings of files of a process. folder is the process's folder in /proc.
func MappedFiles(folder string) ([]Mapping, error) {
	b, err := os.ReadFile(filepath.Join(folder, "maps"))
	if err != nil {
		return nil, err
	}
	all, err := parseMappings(string(b), "x")
	all = slices.DeleteFunc(all, func(m Mapping) bool { return m.Path == "" })
	for i := range all {
		if path, err := os.Readlink(filepath.Join(folder, all[i].Link())); err == nil { // the link does not escape newlines
			all[i].Path = path
		}
	}
	return all, err
}

// parseMappings parses lines "START-END PERM OFFSET DEV INODE PATH". Numbers are hexadecimal, except INODE
// (proc_pid_maps(5)).
func parseMappings(text, permission string) (all []Mapping, err error) {
	for line := range strings.SplitSeq(text, "\n") {
		head, path := line, ""
		if slash := strings.IndexByte(line, '/'); slash >= 0 {
			head, path = line[:slash], line[slash:]
		}
		f := strings.Fields(head)
		if len(f) < 5 || !strings.Contains(f[1], permission) {
			continue
		}
		if len(f) > 5 { // "[heap]", or another such name, which may contain a slash
			path = ""
		}
		start, end, _ := strings.Cut(f[0], "-")
		m := Mapping{Device: f[3], Path: path}
		for _, n := range []struct {
			to   *uint64
			text string
			base int
		}{{&m.Start, start, 16}, {&m.End, end, 16}, {&m.Offset, f[2], 16}, {&m.Inode, f[4], 10}} {
			if *n.to, err = strconv.ParseUint(n.text, n.base, 64); err != nil {
				return nil, fmt.Errorf("parse mapping %q: not START-END PERM OFFSET DEV INODE", line)
			}
		}
		all = append(all, m)
	}
	return all, nil
}

// Memory finds out which addresses of processes can be read. It caches the mappings of processes. Only one
// goroutine may use it.
type Memory struct {
	mappings map[int][]Mapping
	read     func(pid int, permission string) ([]Mapping, error)
}

// NewMemory returns a Memory with an empty cache.
func NewMemory() *Memory { return &Memory{mappings: make(map[int][]Mapping), read: readMappings} }

// maxRemembered is the maximum number of processes in the cache.
const maxRemembered = 1024

// Readable reports whether n bytes at an address of a process can be read. The kernel fetches zeros from memory that it
// can't read, and Readable distinguishes them from real zeros.
//
// If the cached mappings do not contain the range, Readable reads the mappings again. Then sameProgram must report whether
// the process still executes the expected program. known is false if the cache does not
// contain the range and the process has ended, is ending, or executes another program.
func (m *Memory) Readable(pid int, addr uint64, n int, sameProgram func() bool) (readable, known bool) {
	if covers(m.mappings[pid], addr, n) {
		return true, true
	}
	mapped, err := m.read(pid, "r")
	if err != nil || len(mapped) == 0 || !sameProgram() { // an ending process has no mappings
		return false, false
	}
	if len(m.mappings) >= maxRemembered {
		clear(m.mappings)
	}
	m.mappings[pid] = mapped
	return covers(mapped, addr, n), true
}

// Forget removes a process that has ended from the cache, because another process may get its number.
func (m *Memory) Forget(pid int) { delete(m.mappings, pid) }

// covers reports whether a range lies in one mapping, or in several adjacent ones.
func covers(maps []Mapping, addr uint64, n int) bool {
	end := addr + uint64(n)
	if n <= 0 || end < addr {
		return false
	}
	for _, m := range maps {
		if addr < m.Start || addr >= m.End {
			continue
		}
		if end <= m.End {
			return true
		}
		addr = m.End
	}
	return false
}

// OpenMemory opens the memory of a process. Offsets in the file are addresses. If the process executes another program
// later, the file still refers to the old program's memory.
func OpenMemory(pid int) (*os.File, error) { return os.Open(folder(pid) + "/mem") }

// Breakpoints returns the number of sites that have breakpoints in the memory of a process, and the number of those that
// have not. sites are the file offsets of probed instructions. breakpoints are the instructions that the kernel puts in
// their place.
//
// A process loses breakpoints by madvise(MADV_DONTNEED), after which the page is read from the file again, by a write
// to its code, or when it maps other memory over it. The kernel does not restore them (uprobe_mmap in
// kernel/events/uprobes.c handles only mappings of the file).
//
// Breakpoints reads a few bytes of /proc/PID/mem for each site. Sites that can't be read do not count: the
// process has ended, executes another program now, or may not be read.
func Breakpoints(pid int, inode uint64, sites []uint64, breakpoints [][]byte) (found, missing int) {
	// The memory is opened before the mappings are read. If the process executes another program in between, reads
	// of the old program's memory fail.
	mem, err := OpenMemory(pid)
	if err != nil {
		return 0, 0
	}
	defer mem.Close()
	all, _ := Mappings(pid) // empty after an error
	for _, site := range sites {
		addr, ok := mappedAt(all, inode, site)
		code := make([]byte, len(breakpoints[0]))
		if !ok {
			continue
		}
		switch n, _ := mem.ReadAt(code, int64(addr)); {
		case n == 0:
		case slices.ContainsFunc(breakpoints, func(b []byte) bool { return bytes.HasPrefix(code, b) }):
			found++
		default:
			missing++
		}
	}
	return found, missing
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
