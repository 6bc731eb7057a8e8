package offsets

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
)

// pclntab finds Go's function table and reads it; nil if the file has none.
func (b *Binary) pclntab() *pclntab {
	t := b.openPclntab()
	if t != nil && !b.load(t) {
		return nil
	}
	return t
}

// load reads all of a table.
func (b *Binary) load(t *pclntab) bool {
	if t.data != nil {
		return true
	}
	data := make([]byte, t.pieces.size)
	if _, err := t.pieces.r.ReadAt(data, 0); err != nil {
		return false
	}
	t.data = data
	return true
}

// openPclntab finds Go's function table; nil if the file has none. It is for one
// goroutine, and may be read in pieces.
//
// It is in a section of its own in most files. Position-independent ones linked by C's
// linker have it in the middle of .data.rel.ro up to Go 1.25, and section headers can
// be removed altogether: there it is found by its first bytes.
func (b *Binary) openPclntab() *pclntab {
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		s := b.elf.Section(name)
		if s == nil || b.checkPlain(s) != nil {
			continue
		}
		if t, err := pclntabOf(s); err == nil && b.placePclntab(t, s.Addr) {
			return t
		}
	}
	var found *pclntab
	tries := 8 // each reads a segment; binaries have the magic number once
	b.scan(pclnMagic(b.processor.Machine().Quantum), func(p *elf.Prog, at uint64) bool {
		var first [1]byte
		if at%4 != 1 {
			return true
		}
		at--
		if _, err := p.ReadAt(first[:], int64(at)); err != nil || pclnForms[first[0]] == nil {
			return true
		}
		data := make([]byte, min(p.Filesz-at, b.most))
		if n, err := p.ReadAt(data, int64(at)); err == nil || err == io.EOF {
			found = b.usePclntab(data[:n], p.Vaddr+at)
		}
		tries--
		return found == nil && tries > 0
	})
	return found
}

// usePclntab reads a table at an address, if it is one and of this program.
func (b *Binary) usePclntab(data []byte, addr uint64) *pclntab {
	t, err := newPclntab(data)
	if err != nil || !b.placePclntab(t, addr) {
		return nil
	}
	return t
}

// placePclntab finds out what the entries of a table count from; not ok if they are not
// of this program.
func (b *Binary) placePclntab(t *pclntab, addr uint64) bool {
	if t.form.oldest >= 18 && !b.setText(t, addr) {
		return false
	}
	return b.isCode(t.entry(0), t.entry(t.count))
}

// setText finds out the address that the entries of a table count from. Its header has
// it from Go 1.18 to 1.25; since Go 1.26 there is a 0, and the only place left is
// runtime.firstmoduledata, which begins with the table's address (runtime/symtab.go):
//
//	pcHeader, 5 slices, ftab slice, findfunctab, minpc, maxpc, text
//
// The start of .text is another address wherever C was linked in.
func (b *Binary) setText(t *pclntab, addr uint64) bool {
	first, last := t.entry(0), t.entry(t.count)
	if text := t.word(2); text != 0 && b.isCode(text+first, text+last) {
		t.text = text
		return true
	}
	const minpc, maxpc, textAt = 160, 168, 176
	le := binary.LittleEndian
	b.scanData(le.AppendUint64(nil, addr), func(p *elf.Prog, at uint64) bool {
		var module [textAt + 8]byte
		if at%8 != 0 {
			return true
		}
		if _, err := p.ReadAt(module[:], int64(at)); err != nil {
			return true
		}
		text := le.Uint64(module[textAt:])
		if text+first == le.Uint64(module[minpc:]) && text+last == le.Uint64(module[maxpc:]) && b.isCode(text+first, text+last) {
			t.text = text
		}
		return t.text == 0
	})
	return t.text != 0
}

// isCode tells whether the bytes from an address up to another are of one executable
// segment.
func (b *Binary) isCode(start, end uint64) bool {
	for _, s := range b.code {
		if start >= s.addr && start < end && end-s.addr <= s.size {
			return true
		}
	}
	return false
}

// scan calls found with each place, counted from the segment's start, where the
// loaded segments have the pattern, until it returns false.
func (b *Binary) scan(pattern []byte, found func(p *elf.Prog, at uint64) bool) {
	b.scanSegments(pattern, 0, found)
}

// scanData is scan of what the program can write.
func (b *Binary) scanData(pattern []byte, found func(p *elf.Prog, at uint64) bool) {
	b.scanSegments(pattern, elf.PF_W, found)
}

func (b *Binary) scanSegments(pattern []byte, flags elf.ProgFlag, found func(p *elf.Prog, at uint64) bool) {
	const chunk = 1 << 16
	buf := make([]byte, chunk+len(pattern)-1)
	// Segments share no more than a page with each other; thousands that all cover
	// the whole file are a trap.
	budget := int64(2 * b.most)
	for _, p := range b.elf.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&flags != flags {
			continue
		}
		for at := int64(0); budget > 0; at += chunk {
			// The patterns have no part in holes.
			start, ok := b.dataFrom(int64(p.Off) + at)
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
				if !found(p, uint64(at)+uint64(i+next)) {
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
