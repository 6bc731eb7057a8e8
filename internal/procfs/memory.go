package procfs

import "os"

// Memory remembers which addresses of processes can be read. It is for one goroutine.
type Memory struct {
	of   map[int][]Mapping
	read func(pid int, permission string) ([]Mapping, error)
}

// NewMemory remembers nothing yet.
func NewMemory() *Memory { return &Memory{of: make(map[int][]Mapping), read: readMappings} }

// maxRemembered is how many processes are remembered.
const maxRemembered = 1024

// Readable tells whether a process has n bytes of readable memory at an address, which
// sets zeros that are there apart from those that the kernel puts in place of what it
// can't read. It remembers the mappings of each process, and reads them anew where they
// do not have the address: still is asked then whether they are of the process that is meant,
// and not of another program that it executes now. Of a process that has ended, or gives up
// its memory to end, or is another, known is true only for what was last seen of it.
func (m *Memory) Readable(pid int, addr uint64, n int, still func() bool) (readable, known bool) {
	if holds(m.of[pid], addr, n) {
		return true, true
	}
	mapped, err := m.read(pid, mayRead)
	if err != nil || len(mapped) == 0 || !still() { // ending processes have none
		return false, false
	}
	if len(m.of) >= maxRemembered {
		clear(m.of)
	}
	m.of[pid] = mapped
	return holds(mapped, addr, n), true
}

// Forget drops what is remembered of a process that has ended: another may get its number.
func (m *Memory) Forget(pid int) { delete(m.of, pid) }

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

// OpenMemory opens the memory of a process, to be read by its addresses. It stays that of the
// program that the process executes now.
func OpenMemory(pid int) (*os.File, error) { return os.Open(folder(pid) + "/mem") }
