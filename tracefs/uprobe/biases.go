package uprobe

import (
	"github.com/ftgo/ftgo/tracefs"
)

// Biases finds, for each process, the distance between the addresses in it and
// those in the file: 0 for programs linked to a fixed address, else what the kernel
// chose when it mapped the file.
type Biases struct {
	plan     *Plan
	mappings func(pid int) ([]tracefs.Mapping, error)
	known    map[int]uint64
	sites    map[uint64]bool // all addresses of the plan
	fixed    bool
}

// NewBiases returns the biases for a plan; mappings tells what a process has mapped.
func NewBiases(plan *Plan, mappings func(pid int) ([]tracefs.Mapping, error)) *Biases {
	b := &Biases{plan: plan, mappings: mappings, known: make(map[int]uint64), sites: make(map[uint64]bool)}
	b.fixed = !plan.Binary.Relocatable()
	for i := range plan.Events {
		for _, a := range plan.Events[i].addrs {
			b.sites[a] = true
		}
	}
	return b
}

// Of is the bias of a process, in which a probe was hit at an address. It is 0 where
// it can't be told; the address is then none of the plan's.
func (b *Biases) Of(pid int, addr uint64) uint64 {
	if b.fixed {
		return 0
	}
	if bias, ok := b.known[pid]; ok && b.sites[addr-bias] {
		return bias
	}
	// Not seen before, or it has executed the file anew.
	bias, ok := b.fromMappings(pid, addr)
	if !ok {
		bias, ok = b.fromPageOffset(addr)
	}
	if ok {
		b.known[pid] = bias
	}
	return bias
}

func (b *Biases) fromMappings(pid int, addr uint64) (uint64, bool) {
	maps, err := b.mappings(pid)
	if err != nil {
		return 0, false
	}
	for _, m := range maps {
		if addr < m.Start || addr >= m.End {
			continue
		}
		va, err := b.plan.Binary.AddrOf(addr - m.Start + m.Offset)
		if err != nil || !b.sites[va] {
			return 0, false
		}
		return addr - va, true
	}
	return 0, false
}

// fromPageOffset is for processes that are gone: files are mapped in whole pages, so
// that an address keeps its lowest 12 bits. It helps where only one site has them.
func (b *Biases) fromPageOffset(addr uint64) (bias uint64, ok bool) {
	for a := range b.sites {
		if (addr-a)&0xfff != 0 {
			continue
		}
		if ok {
			return 0, false
		}
		bias, ok = addr-a, true
	}
	return bias, ok
}
