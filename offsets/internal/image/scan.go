package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

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
