package main

import (
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
	"github.com/ftgo/ftgo/tracefs/uprobe/capture"
)

// memories tell what words from processes mean, each in a process of its own.
type memories struct {
	binary *offsets.Binary
	bias   *uprobe.Biases
	of     map[int]*memory
	// types are by their address in the file.
	types map[uint64]offsets.RuntimeType
}

// memory is one process, as a [capture.Process].
type memory struct {
	*memories
	pid int
	// gone: it had ended before it was looked at.
	gone bool
}

func newMemories(b *offsets.Binary, bias *uprobe.Biases) *memories {
	return &memories{binary: b, bias: bias, of: make(map[int]*memory), types: make(map[uint64]offsets.RuntimeType)}
}

func (m *memories) process(pid int) capture.Process {
	p := m.of[pid]
	if p == nil {
		p = &memory{m, pid, !processAlive(pid)}
		tracefs.Readable(pid, 0, 1) // has it remember the mappings
		m.of[pid] = p
	}
	return p
}

func (m *memory) DynamicType(addr uint64) (t *gotype.Type, direct, ok bool) {
	addr -= m.bias.Known(m.pid)
	r, known := m.types[addr]
	if !known {
		// One that can't be read is remembered, too.
		r, _ = m.binary.RuntimeType(addr)
		m.types[addr] = r
	}
	return r.Type, r.Direct, r.Type != nil
}

func (m *memory) ItabType(itab uint64) (addr uint64, ok bool) {
	bias := m.bias.Known(m.pid)
	addr, ok = m.binary.ItabType(itab - bias)
	return addr + bias, ok
}

func (m *memory) FuncName(pc uint64) string {
	return m.binary.FuncValueName(pc - m.bias.Known(m.pid))
}

// Readable asks for the process's mappings as they are, or were when last seen.
func (m *memory) Readable(addr uint64, n int) (readable, known bool) {
	if tracefs.Readable(m.pid, addr, n) {
		return true, true
	}
	return false, !m.gone && processAlive(m.pid)
}
