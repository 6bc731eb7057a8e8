package procfs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Mapping is a range of a process's addresses, which may show a file.
type Mapping struct {
	Start, End uint64
	// Offset is the offset in the file that Start shows; Inode is the file's number, 0 without a file.
	Offset, Inode uint64
	// Device is MAJOR:MINOR, in hexadecimal.
	Device string
	// Path is the path as the process sees it. A newline in it is "\012", except in [MappedFiles]. If the
	// file was deleted, " (deleted)" follows.
	Path string
}

// Link returns the link to the mapped file in the process's folder in /proc (fs/proc/base.c, proc_map_files_readdir).
func (m Mapping) Link() string { return fmt.Sprintf("map_files/%x-%x", m.Start, m.End) }

// Mappings returns the executable mappings of a process.
func Mappings(pid int) ([]Mapping, error) { return readMappings(pid, "x") }

// readMappings returns the mappings with a permission: "r" or "x". If the first thread has ended
// while others live, it reads those of another thread.
func readMappings(pid int, permission string) ([]Mapping, error) {
	b, err := os.ReadFile(folder(pid) + "/maps")
	if len(b) == 0 { // an error since Linux 6.16
		if tid := Executing(pid); tid != pid {
			b, err = os.ReadFile(folder(tid) + "/maps")
		}
	}
	if err != nil {
		return nil, err
	}
	return parseMappings(string(b), permission)
}

// MappedFiles returns the mappings of files that a process executes, from the process's folder
// in /proc.
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

// parseMappings reads lines "START-END PERM OFFSET DEV INODE PATH", numbers in
// hexadecimal but for INODE (proc_pid_maps(5)).
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
		if len(f) > 5 { // "[heap]", or the like with a slash in it
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

// Memory remembers which addresses of processes can be read. It is for one goroutine.
type Memory struct {
	of   map[int][]Mapping
	read func(pid int, permission string) ([]Mapping, error)
}

// NewMemory returns a Memory that remembers nothing.
func NewMemory() *Memory { return &Memory{of: make(map[int][]Mapping), read: readMappings} }

// maxRemembered is the largest number of processes that are remembered.
const maxRemembered = 1024

// Readable reports whether a process has n bytes of readable memory at an address. The kernel
// returns zeros for memory that it can't read, and this distinguishes them from real zeros.
// It remembers the mappings of each process, and reads them again if they
// do not contain the address. Then still must report whether they belong to the expected program,
// and not to another one that the process executes now. For a process that has ended, is
// ending, or runs another program, known is true only for remembered mappings.
func (m *Memory) Readable(pid int, addr uint64, n int, still func() bool) (readable, known bool) {
	if holds(m.of[pid], addr, n) {
		return true, true
	}
	mapped, err := m.read(pid, "r")
	if err != nil || len(mapped) == 0 || !still() { // an ending process has no mappings
		return false, false
	}
	if len(m.of) >= maxRemembered {
		clear(m.of)
	}
	m.of[pid] = mapped
	return holds(mapped, addr, n), true
}

// Forget drops the mappings of a process that has ended, because another may get its number.
func (m *Memory) Forget(pid int) { delete(m.of, pid) }

// holds reports whether the range lies in one mapping, or in several adjacent ones.
func holds(maps []Mapping, addr uint64, n int) bool {
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

// OpenMemory opens the memory of a process, to be read at its addresses. The file stays that of the
// program that the process executes now.
func OpenMemory(pid int) (*os.File, error) { return os.Open(folder(pid) + "/mem") }
