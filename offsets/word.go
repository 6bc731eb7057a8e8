package offsets

import (
	"debug/elf"
	"encoding/binary"
)

// word returns the 8 bytes at an address as they are once the file is loaded, but
// for the load bias.
func (b *Binary) word(addr uint64) (uint64, bool) {
	if v, ok := b.relocated(addr); ok {
		return v, true
	}
	for _, p := range b.elf.Progs {
		if p.Type != elf.PT_LOAD || addr < p.Vaddr || addr-p.Vaddr >= p.Filesz || p.Filesz-(addr-p.Vaddr) < 8 {
			continue
		}
		var word [8]byte
		if _, err := p.ReadAt(word[:], int64(addr-p.Vaddr)); err == nil {
			return binary.LittleEndian.Uint64(word[:]), true
		}
	}
	return 0, false
}

// relocated returns the value that the loader writes to an address whatever the other
// files of the program are: of a relocation R_X86_64_RELATIVE (System V ABI,
// x86-64, 4.4).
func (b *Binary) relocated(addr uint64) (uint64, bool) {
	s := b.elf.Section(".rela.dyn")
	if s == nil {
		return 0, false
	}
	data, err := s.Data()
	if err != nil {
		return 0, false
	}
	for ; len(data) >= 24; data = data[24:] {
		if binary.LittleEndian.Uint64(data) == addr &&
			elf.R_X86_64(binary.LittleEndian.Uint32(data[8:])) == elf.R_X86_64_RELATIVE {
			return binary.LittleEndian.Uint64(data[16:]), true
		}
	}
	return 0, false
}
