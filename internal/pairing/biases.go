package pairing

import (
	"slices"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Biases finds, for each process, the distance between the addresses in it and
// those in the file: 0 for programs linked to a fixed address, else what the kernel
// chose when it mapped the file.
type Biases struct {
	plan     *uprobe.Plan
	mappings func(pid int) ([]procfs.Mapping, error)
	// known is the bias of each process or, where its mappings can't be read any more, those that all addresses seen in it
	// agree with.
	known  map[int][]uint64
	sites  map[uint64]bool // all addresses of the plan
	events int             // of the plan that sites has
	// recent are answers that still hold, by the lowest bits of the address: the bias of a process, 0 for none, as told
	// for an address.
	recent [256]struct {
		pid        int
		addr, bias uint64
	}
}

// NewBiases returns the biases of a plan. With recorded, the plan's processes were of another
// time or machine: the processes that are here now are not asked.
func NewBiases(plan *uprobe.Plan, recorded bool) *Biases {
	b := &Biases{plan: plan, mappings: procfs.Mappings, known: make(map[int][]uint64), sites: make(map[uint64]bool)}
	if recorded {
		b.mappings = func(int) ([]procfs.Mapping, error) { return nil, nil }
	}
	return b
}

// Bias is that of a process in which a probe was hit at an address. ok is false as
// long as it can't be told: ask again with the next address.
func (b *Biases) Bias(pid int, addr uint64) (bias uint64, ok bool) {
	recent := &b.recent[(addr^uint64(pid))&0xff]
	if recent.addr == addr && recent.pid == pid && pid != 0 {
		return recent.bias, true
	}
	for ; b.events < len(b.plan.Events); b.events++ { // which others may have joined
		for _, s := range b.plan.Events[b.events].Sites {
			b.sites[s.Addr] = true
		}
	}
	known := b.known[pid]
	if len(known) == 1 && b.sites[addr-known[0]] {
		recent.pid, recent.addr, recent.bias = pid, addr, known[0]
		return known[0], true
	}
	// Not seen before, or it has executed the file anew.
	if bias, ok = b.fromMappings(pid, addr); ok {
		known = []uint64{bias}
	} else {
		known = b.fromPageOffsets(known, addr)
	}
	b.know(pid, known)
	if len(known) != 1 {
		return 0, false
	}
	return known[0], true
}

func (b *Biases) know(pid int, known []uint64) {
	b.known[pid] = known
	clear(b.recent[:]) // of the file that the process had executed before
}

// Learn reads the bias of a process that has just been started, before it has a chance
// to end. Failing to is no harm.
func (b *Biases) Learn(pid int) {
	if !b.plan.Relocatable {
		return
	}
	maps, _ := b.mappings(pid) // none is as good as an error
	for _, m := range maps {
		va, err := b.plan.Binary.File().AddrOf(m.Offset)
		if err == nil && m.Inode == b.plan.Binary.File().Inode() {
			b.know(pid, []uint64{m.Start - va})
			return
		}
	}
}

func (b *Biases) fromMappings(pid int, addr uint64) (uint64, bool) {
	maps, _ := b.mappings(pid) // none is as good as an error
	for _, m := range maps {
		if addr < m.Start || addr >= m.End {
			continue
		}
		va, err := b.plan.Binary.File().AddrOf(addr - m.Start + m.Offset)
		if err != nil || !b.sites[va] {
			return 0, false
		}
		return addr - va, true
	}
	return 0, false
}

// fromPageOffsets is for processes that are gone: files are mapped in whole pages, so
// that an address keeps its lowest 12 bits, and one bias must explain all addresses.
func (b *Biases) fromPageOffsets(known []uint64, addr uint64) []uint64 {
	known = slices.DeleteFunc(known, func(bias uint64) bool { return !b.sites[addr-bias] })
	if len(known) == 0 {
		for a := range b.sites {
			if (addr-a)&0xfff == 0 {
				known = append(known, addr-a)
			}
		}
	}
	return known
}

// Forget drops what is known of a process that has ended: another may get its number.
func (b *Biases) Forget(pid int) {
	if _, known := b.known[pid]; known {
		delete(b.known, pid)
		clear(b.recent[:])
	}
}
