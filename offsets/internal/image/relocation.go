package image

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"slices"
)

// relocation is a word that the loader writes: an address in the file, load bias not
// counted, which it then adds.
type relocation struct {
	addr, value uint64
	// symbol: it is the address of a symbol, which another file may define instead.
	symbol bool
}

// Pointer returns the address that the program finds at an address, load bias not
// counted. Go's linker and GNU ld write what a relocation gives into the file as well,
// but LLVM's lld leaves a 0 there.
func (m *Image) Pointer(addr uint64) (uint64, bool) {
	if r, ok := m.relocationAt(addr); ok {
		return r.value, true
	}
	return m.wordInFile(addr)
}

// OwnPointer is Pointer, but that what another file may change is not known.
func (m *Image) OwnPointer(addr uint64) (uint64, bool) {
	if r, ok := m.relocationAt(addr); ok {
		return r.value, !r.symbol
	}
	return m.wordInFile(addr)
}

func (m *Image) wordInFile(addr uint64) (uint64, bool) {
	var word [8]byte
	if !m.Read(addr, word[:]) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(word[:]), true
}

func (m *Image) relocationAt(addr uint64) (r relocation, ok bool) {
	list := m.relocations()
	i, ok := slices.BinarySearchFunc(list, addr, func(r relocation, addr uint64) int { return cmp.Compare(r.addr, addr) })
	if !ok {
		return r, false
	}
	return list[i], true
}

// readRelocations reads those of which this file alone tells the value:
// relative ones, and, which plugins have, absolute ones of symbols that the file
// defines. A file without section headers has them too.
func (m *Image) readRelocations() []relocation {
	if !m.Relocatable() {
		return nil
	}
	var start, size, symbols uint64
	for _, d := range m.dynamic() {
		switch d.tag {
		case elf.DT_RELA:
			start = d.value
		case elf.DT_RELASZ:
			size = d.value
		case elf.DT_SYMTAB:
			symbols = d.value
		}
	}
	if size > m.most {
		return nil
	}
	data := make([]byte, size)
	if !m.Read(start, data) {
		return nil
	}
	list := make([]relocation, 0, size/relaSize)
	le, machine := binary.LittleEndian, m.Processor.Machine()
	for ; len(data) >= relaSize; data = data[relaSize:] {
		addr, info, addend := le.Uint64(data), le.Uint64(data[8:]), le.Uint64(data[16:])
		switch uint32(info) {
		case machine.Relative:
			list = append(list, relocation{addr: addr, value: addend})
		case machine.Absolute:
			var sym [elf.Sym64Size]byte
			defined := m.Read(symbols+elf.Sym64Size*(info>>32), sym[:]) && le.Uint16(sym[6:]) != uint16(elf.SHN_UNDEF)
			if defined {
				list = append(list, relocation{addr, le.Uint64(sym[8:]) + addend, true})
			}
		}
	}
	slices.SortFunc(list, func(x, y relocation) int { return cmp.Compare(x.addr, y.addr) })
	return list
}

// relaSize is the size of an Elf64_Rela.
const relaSize = 24

// dynamicEntry is an Elf64_Dyn.
type dynamicEntry struct {
	tag   elf.DynTag
	value uint64
}

// dynamic reads what the file tells the loader, by its program headers.
func (m *Image) dynamic() []dynamicEntry {
	const limit = 1 << 16 // some thirty entries of 16 bytes are usual
	for _, p := range m.ELF.Progs {
		if p.Type != elf.PT_DYNAMIC {
			continue
		}
		data := make([]byte, min(p.Filesz, limit))
		if _, err := p.ReadAt(data, 0); err != nil {
			return nil
		}
		var entries []dynamicEntry
		for ; len(data) >= 16; data = data[16:] {
			tag := elf.DynTag(binary.LittleEndian.Uint64(data))
			if tag == elf.DT_NULL {
				break
			}
			entries = append(entries, dynamicEntry{tag, binary.LittleEndian.Uint64(data[8:])})
		}
		return entries
	}
	return nil
}
