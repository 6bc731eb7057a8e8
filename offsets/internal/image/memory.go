package image

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"slices"
)

// relocation is a word that the dynamic loader writes: it adds the load bias to value.
type relocation struct {
	addr, value uint64
	// symbol means that value is the address of a symbol, which another file may override.
	symbol bool
}

// Pointer returns the address that the word at addr holds after relocation. Both addresses are without load bias. Go's
// linker and GNU ld write the value of a relocation into the file as well, but LLVM's lld writes 0.
func (m *Image) Pointer(addr uint64) (uint64, bool) {
	if r, ok := m.relocationAt(addr); ok {
		return r.value, true
	}
	var word [8]byte
	ok := m.Read(addr, word[:])
	return binary.LittleEndian.Uint64(word[:]), ok
}

// LocalPointer is Pointer, but ok is false if another file may override the symbol that the address belongs to.
func (m *Image) LocalPointer(addr uint64) (uint64, bool) {
	value, ok := m.Pointer(addr)
	r, _ := m.relocationAt(addr)
	return value, ok && !r.symbol
}

func (m *Image) relocationAt(addr uint64) (r relocation, ok bool) {
	list := m.relocations()
	i, ok := slices.BinarySearchFunc(list, addr, func(r relocation, addr uint64) int { return cmp.Compare(r.addr, addr) })
	if ok {
		r = list[i]
	}
	return r, ok
}

// readRelocations returns the relocations with a value that depends only on this file, sorted by address: relative
// relocations, and (in plugins) absolute relocations of symbols that the file defines. It finds the relocations by the
// program headers, because a file may have no section headers.
func (m *Image) readRelocations() []relocation {
	if !m.Relocatable() {
		return nil
	}
	dynamic := m.dynamic()
	size := dynamic[elf.DT_RELASZ]
	if size > m.maxSize {
		return nil
	}
	data := make([]byte, size)
	if !m.Read(dynamic[elf.DT_RELA], data) {
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
			defined := m.Read(dynamic[elf.DT_SYMTAB]+elf.Sym64Size*(info>>32), sym[:]) && le.Uint16(sym[6:]) != uint16(elf.SHN_UNDEF)
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

// dynamic returns the entries of the PT_DYNAMIC segment.
func (m *Image) dynamic() map[elf.DynTag]uint64 {
	const limit = 1 << 16 // some thirty entries of 16 bytes are usual
	i := slices.IndexFunc(m.ELF.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_DYNAMIC })
	if i < 0 {
		return nil
	}
	data := make([]byte, min(m.ELF.Progs[i].Filesz, limit))
	if _, err := m.ELF.Progs[i].ReadAt(data, 0); err != nil {
		return nil
	}
	entries := make(map[elf.DynTag]uint64)
	for le := binary.LittleEndian; len(data) >= 16; data = data[16:] {
		tag := elf.DynTag(le.Uint64(data))
		if tag == elf.DT_NULL {
			break
		}
		entries[tag] = le.Uint64(data[8:])
	}
	return entries
}

// ScanPointers calls found with the address of each aligned word that holds value in the file (in writable segments) or
// after relocation, until found returns false.
func (m *Image) ScanPointers(value uint64, found func(addr uint64) bool) {
	more := true
	m.Scan(binary.LittleEndian.AppendUint64(nil, value), elf.PF_W, func(_ *elf.Prog, addr uint64) bool {
		more = addr%8 != 0 || found(addr)
		return more
	})
	if !more {
		return
	}
	for _, r := range m.relocations() {
		if r.value == value && !found(r.addr) {
			return
		}
	}
}

// Scan calls found with each address at which a loaded segment with these flags contains the pattern, and with that segment,
// until found returns false.
func (m *Image) Scan(pattern []byte, flags elf.ProgFlag, found func(p *elf.Prog, addr uint64) bool) {
	const chunk = 1 << 16
	buf := make([]byte, chunk+len(pattern)-1)
	// Valid segments overlap by at most a page. Without this budget, a file with thousands of segments that all cover
	// the whole file would take very long.
	budget := int64(2 * m.maxSize)
	for _, p := range m.ELF.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&flags != flags {
			continue
		}
		for at := int64(0); budget > 0; at += chunk {
			// No pattern consists of zeros, so holes can't match.
			start, ok := m.nextData(int64(p.Off) + at)
			if at = start - int64(p.Off); !ok || uint64(at) >= p.Filesz {
				break
			}
			n, err := p.ReadAt(buf, at)
			budget -= int64(min(n, chunk))
			for i := 0; ; {
				next := bytes.Index(buf[i:n], pattern)
				if next < 0 {
					break
				}
				if !found(p, p.Vaddr+uint64(at)+uint64(i+next)) {
					return
				}
				i += next + 1
			}
			if err != nil {
				break
			}
		}
	}
}
