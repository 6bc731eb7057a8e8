package tracefs

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Mapping is an executable range of a process's addresses that shows a file.
type Mapping struct {
	Start, End uint64
	// Offset is the place in the file that Start shows; Inode is the file's number.
	Offset, Inode uint64
}

// Mappings reads the executable mappings of a process from /proc/PID/maps.
func Mappings(pid int) ([]Mapping, error) {
	return readMappings(pid, "x")
}

// readMappings reads those mappings that a permission, "r" or "x", is given for. A thread that
// has ended has none, while others of its process, whose first it was, still live.
func readMappings(pid int, permission string) ([]Mapping, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if len(b) == 0 { // which Linux 6.16 makes an error
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/maps", pid))
		for _, file := range tasks {
			if of, readErr := os.ReadFile(file); len(of) > 0 {
				b, err = of, readErr
				break
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return parseMappings(string(b), permission)
}

// parseMappings reads lines "START-END PERM OFFSET DEV INODE PATH", numbers in
// hexadecimal but for INODE (proc_pid_maps(5)).
func parseMappings(text, permission string) ([]Mapping, error) {
	var out []Mapping
	for line := range strings.SplitSeq(text, "\n") {
		f := strings.Fields(line)
		if len(f) < 5 || !strings.Contains(f[1], permission) {
			continue
		}
		start, end, ok := strings.Cut(f[0], "-")
		var m Mapping
		var err1, err2, err3, err4 error
		m.Start, err1 = strconv.ParseUint(start, 16, 64)
		m.End, err2 = strconv.ParseUint(end, 16, 64)
		m.Offset, err3 = strconv.ParseUint(f[2], 16, 64)
		m.Inode, err4 = strconv.ParseUint(f[4], 10, 64)
		if !ok || err1 != nil || err2 != nil || err3 != nil || err4 != nil {
			return nil, fmt.Errorf("parse mapping %q: not START-END PERM OFFSET", line)
		}
		out = append(out, m)
	}
	return out, nil
}

// Readable tells whether a process has n bytes of readable memory at an address, which
// sets zeros that are there apart from those that the kernel puts in place of what it
// can't read. It remembers the mappings of each process, and reads them anew where they
// do not have the address: still is asked then whether they are of the process that is meant,
// and not of another program that it executes now. Of a process that has ended, or gives up
// its memory to end, or is another, known is true only for what was last seen of it. still
// must not call Readable.
func Readable(pid int, addr uint64, n int, still func() bool) (readable, known bool) {
	return remembered.holds(pid, addr, n, still)
}

// remembered are the mappings of all processes asked for.
var remembered = memoryMaps{of: make(map[int][]Mapping), read: readMappings}

// memoryMaps remembers the readable mappings of processes, by address.
type memoryMaps struct {
	mu   sync.Mutex
	of   map[int][]Mapping
	read func(pid int, permission string) ([]Mapping, error)
}

// maxMemoryMaps is how many processes are remembered.
const maxMemoryMaps = 1024

func (m *memoryMaps) holds(pid int, addr uint64, n int, still func() bool) (readable, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if holds(m.of[pid], addr, n) {
		return true, true
	}
	mapped, err := m.read(pid, "r")
	if err != nil || len(mapped) == 0 || !still() { // ending processes have none
		return false, false
	}
	if len(m.of) >= maxMemoryMaps {
		clear(m.of)
	}
	m.of[pid] = mapped
	return holds(mapped, addr, n), true
}

func (m *memoryMaps) forget(ended map[int]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.of, func(pid int, _ []Mapping) bool { return ended[pid] })
}

// holds tells whether the range lies in mappings, which may be several that follow each
// other.
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
