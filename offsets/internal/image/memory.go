package image

import (
	"bytes"
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
	var word [8]byte
	ok := m.Read(addr, word[:])
	return binary.LittleEndian.Uint64(word[:]), ok
}

// OwnPointer is Pointer, but that what another file may change is not known.
func (m *Image) OwnPointer(addr uint64) (uint64, bool) {
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

// readRelocations reads those of which this file alone tells the value:
// relative ones, and, which plugins have, absolute ones of symbols that the file
// defines. A file without section headers has them too.
func (m *Image) readRelocations() []relocation {
	if !m.Relocatable() {
		return nil
	}
	dynamic := m.dynamic()
	size := dynamic[elf.DT_RELASZ]
	if size > m.most {
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

// dynamic reads what the file tells the loader, by its program headers.
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

// Scan calls found with each address where the loaded segments have the pattern, and the
// segment there, until it returns false.
func (m *Image) Scan(pattern []byte, found func(p *elf.Prog, addr uint64) bool) {
	m.scan(pattern, 0, found)
}

// ScanPointers calls found with each address of a word, in what the program can write, that
// holds a value: the file may have it there, or a relocation. It ends when found returns false.
func (m *Image) ScanPointers(value uint64, found func(addr uint64) bool) {
	more := true
	m.scan(binary.LittleEndian.AppendUint64(nil, value), elf.PF_W, func(_ *elf.Prog, addr uint64) bool {
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

func (m *Image) scan(pattern []byte, flags elf.ProgFlag, found func(p *elf.Prog, addr uint64) bool) {
	const chunk = 1 << 16
	buf := make([]byte, chunk+len(pattern)-1)
	// Segments share no more than a page with each other; thousands that all cover
	// the whole file are a trap.
	budget := int64(2 * m.most)
	for _, p := range m.ELF.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&flags != flags {
			continue
		}
		for at := int64(0); budget > 0; at += chunk {
			// The patterns have no part in holes.
			start, ok := m.dataFrom(int64(p.Off) + at)
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
