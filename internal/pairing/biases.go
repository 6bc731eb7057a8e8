package pairing

import (
	"slices"

	"github.com/ftgo/ftgo/parse"
)

// bias returns the load bias of a process that has sent an event: the difference between the address of an instruction
// in the process and its address in the file. It is 0 for programs linked to a fixed address; else the kernel chose it
// when it mapped the file. ok is false unless exactly one bias explains all addresses so far; the next address may
// decide.
func (p *Stream) bias(proc *process, ev *parse.Event) (bias uint64, ok bool) {
	sites := p.sites[ev.Format]
	isSite := func(bias uint64) bool {
		_, ok := sites[ev.Addr-bias]
		return ok
	}
	if len(proc.biases) == 1 && isSite(proc.biases[0]) {
		return proc.biases[0], true
	}
	// The process is new, or several biases are possible, or the process has executed the file again, with another bias.
	if bias, ok := p.mappedBias(proc.pid, ev.Addr); ok && isSite(bias) {
		proc.biases = []uint64{bias}
		return bias, true
	}
	// The mappings of a process that has ended can't be read. Files are mapped in whole pages of 4 KiB, so that a bias
	// is a multiple of 4 KiB.
	proc.biases = slices.DeleteFunc(proc.biases, func(bias uint64) bool { return !isSite(bias) })
	if len(proc.biases) == 0 {
		for addr := range sites {
			if (ev.Addr-addr)&0xfff == 0 {
				proc.biases = append(proc.biases, ev.Addr-addr)
			}
		}
	}
	if len(proc.biases) != 1 {
		return 0, false
	}
	return proc.biases[0], true
}

// mappedBias returns the bias by the mapping that contains an address. ok is false if no such mapping can be read.
func (p *Stream) mappedBias(pid int, addr uint64) (bias uint64, ok bool) {
	if p.opt.Mappings == nil {
		return 0, false
	}
	maps, _ := p.opt.Mappings(pid) // empty after an error
	for _, m := range maps {
		if m.Start <= addr && addr < m.End {
			va, err := p.plan.Binary.File().AddrOf(addr - m.Start + m.Offset)
			return addr - va, err == nil
		}
	}
	return 0, false
}

// Learn reads the bias of a process that has just started, because its mappings can't be read after it has ended. It
// ignores errors, because the addresses of hits may show the bias instead.
func (p *Stream) Learn(pid int) {
	if !p.plan.Relocatable {
		return
	}
	maps, _ := p.opt.Mappings(pid)
	for _, m := range maps {
		va, err := p.plan.Binary.File().AddrOf(m.Offset)
		if err == nil && m.Inode == p.plan.Binary.File().Inode() {
			p.process(pid).biases = []uint64{m.Start - va}
			return
		}
	}
}
