package engine

import (
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/offsets"
)

// Memories interprets words that were fetched in processes of a binary.
type Memories struct {
	binary    *offsets.Binary
	byPID     map[int]*memory
	mapped    *procfs.Memory
	elsewhere bool                    // /proc lacks the processes: see NewMemories and procfs.ForeignNumbers
	types     map[uint64]*gotype.Type // cache by address in the file, without the bias; nil for types that can't be read
}

// memory implements [capture.Process].
type memory struct {
	*Memories
	pid    int
	bias   uint64
	gone   bool            // its memory maps can't be read: it has ended or executed another file, or elsewhere is true
	arenas map[uint64]bool // the arenas that contain the stack of a goroutine, by address >> arenaBits
}

// NewMemories returns the Memories of a binary. elsewhere says that the processes ran earlier or on another machine.
func NewMemories(b *offsets.Binary, elsewhere bool) *Memories {
	return &Memories{
		binary: b, byPID: make(map[int]*memory), mapped: procfs.NewMemory(), elsewhere: elsewhere || procfs.ForeignNumbers(), types: make(map[uint64]*gotype.Type),
	}
}

// Process returns the process of a call. It also records the arena of the call's stack.
func (m *Memories) Process(c *pairing.Call) capture.Process {
	pid := c.PID
	p := m.byPID[pid]
	if p == nil || p.bias != c.Bias {
		p = &memory{Memories: m, pid: pid, bias: c.Bias, gone: m.elsewhere, arenas: make(map[uint64]bool)}
		if !p.gone {
			_, known := m.mapped.Readable(pid, 0, 1, p.executes) // caches the mappings now, because the process may have ended when they are needed
			p.gone = !known
		}
		m.byPID[pid] = p
	}
	if c.Goid != 0 { // the call ran on a goroutine's stack, which lies in an arena
		p.arenas[c.SP>>arenaBits] = true
	}
	return p
}

// Forget drops the state of a process that has ended.
func (m *Memories) Forget(pid int) {
	delete(m.byPID, pid)
	m.mapped.Forget(pid)
}

// executes reports whether the process still executes the binary, at the expected address. False means that the process has
// ended, is ending, or executes another file.
func (m *memory) executes() bool {
	bias, err := biasIn(m.binary, m.pid)
	return err == nil && bias == m.bias
}

func (m *memory) DynamicType(addr uint64) *gotype.Type {
	addr -= m.bias
	t, known := m.types[addr]
	if !known {
		t, _ = m.binary.Internals().RuntimeType(addr)
		if m.binary.File().Loaded(addr) { // a cache of addresses outside of the file would have no limit
			m.types[addr] = t
		}
	}
	return t
}

func (m *memory) ItabType(itab uint64) (addr uint64, ok bool) {
	addr, ok = m.binary.Internals().ItabType(itab - m.bias)
	return addr + m.bias, ok
}

func (m *memory) Bias() uint64 { return m.bias }

func (m *memory) FuncName(pc uint64) string {
	if f, ok := m.binary.FuncAt(pc - m.bias); ok && f.Addr == pc-m.bias {
		return f.Name
	}
	return ""
}

// arenaBits is the number of address bits within an arena of Go's heap. An arena is 64 MB of memory that the runtime
// reserves at once (heapArenaBytes in runtime/malloc.go).
const arenaBits = 26

// Readable reports whether the process has mapped an address, and whether this is known. It checks the mappings of the
// process. If the process has ended, is ending, or executes another file, it checks the mappings that were read last. If
// the mappings do not show it, an address was certainly mapped if it is in a segment of the file, or in an arena that
// contains the stack of a goroutine.
func (m *memory) Readable(addr uint64) (readable, known bool) {
	if !m.gone {
		if readable, known := m.mapped.Readable(m.pid, addr, 1, m.executes); known {
			return readable, true
		}
	}
	sure := m.arenas[addr>>arenaBits] || m.binary.File().Loaded(addr-m.bias)
	return sure, sure
}
