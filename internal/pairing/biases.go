package pairing

import (
	"slices"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Biases finds the load bias of each process: the difference between the address of an instruction in the process and
// its address in the file. It is 0 for programs linked to a fixed address; else the kernel chose it when it mapped the
// file.
type Biases struct {
	plan     *uprobe.Plan
	mappings func(pid int) ([]procfs.Mapping, error)
	// known has the bias of each process or, if its mappings can't be read, all biases that explain the addresses of
	// its hits so far.
	known  map[int][]uint64
	sites  map[uint64]bool // all addresses of the plan
	events int             // number of plan.Events whose addresses are in sites
}

// NewBiases returns the biases for a plan. If recorded is true, the processes ran at another time or on another
// machine, so that their mappings can't be read.
func NewBiases(plan *uprobe.Plan, recorded bool) *Biases {
	b := &Biases{plan: plan, mappings: procfs.Mappings, known: make(map[int][]uint64), sites: make(map[uint64]bool)}
	if recorded {
		b.mappings = func(int) ([]procfs.Mapping, error) { return nil, nil }
	}
	return b
}

// Bias returns the bias of a process in which a probe was hit at an address. ok is false unless exactly one bias
// explains all addresses so far; the next address may decide.
func (b *Biases) Bias(pid int, addr uint64) (bias uint64, ok bool) {
	for ; b.events < len(b.plan.Events); b.events++ { // the plan may have grown
		for _, s := range b.plan.Events[b.events].Sites {
			b.sites[s.Addr] = true
		}
	}
	known := b.known[pid]
	if len(known) == 1 && b.sites[addr-known[0]] {
		return known[0], true
	}
	// The process is new, or several biases are possible, or the process has executed the file again, with another bias.
	if bias, ok = b.fromMappings(pid, addr); ok {
		known = []uint64{bias}
	} else {
		known = b.fromPageOffsets(known, addr)
	}
	b.known[pid] = known
	if len(known) != 1 {
		return 0, false
	}
	return known[0], true
}

// Learn reads the bias of a process that has just started, because its mappings can't be read after it has ended. It
// ignores errors, because Bias can find the bias by the addresses of hits instead.
func (b *Biases) Learn(pid int) {
	if !b.plan.Relocatable {
		return
	}
	maps, _ := b.mappings(pid)
	for _, m := range maps {
		va, err := b.plan.Binary.File().AddrOf(m.Offset)
		if err == nil && m.Inode == b.plan.Binary.File().Inode() {
			b.known[pid] = []uint64{m.Start - va}
			return
		}
	}
}

// fromMappings returns the bias according to the mapping that contains an address. It returns false if no site has this
// address with this bias.
func (b *Biases) fromMappings(pid int, addr uint64) (uint64, bool) {
	maps, _ := b.mappings(pid)
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

// fromPageOffsets returns the biases that explain an address, for processes that have ended: the biases in known with
// which a site has this address. If known has no such bias, it returns all differences between the address and a site
// that are multiples of a page (4 KiB), because files are mapped in whole pages.
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

// Forget drops the bias of a process that has ended, because another may get its PID.
func (b *Biases) Forget(pid int) { delete(b.known, pid) }
