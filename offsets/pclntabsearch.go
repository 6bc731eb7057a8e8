package offsets

import (
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
		s := b.image.Plain(name)
		if s == nil {
			continue
		}
		if t, err := pclntabOf(s); err == nil && b.placePclntab(t, s.Addr) {
			return t
		}
	}
	var found *pclntab
	tries := 8 // each reads a segment; binaries have the magic number once
	b.image.Scan(pclnMagic(b.image.Processor.Machine().Quantum), func(p *elf.Prog, addr uint64) bool {
		var first [1]byte
		if addr%4 != 1 {
			return true
		}
		addr--
		at := addr - p.Vaddr
		if _, err := p.ReadAt(first[:], int64(at)); err != nil || pclnForms[first[0]] == nil {
			return true
		}
		data := make([]byte, min(p.Filesz-at, b.image.Most()))
		if n, err := p.ReadAt(data, int64(at)); err == nil || err == io.EOF {
			found = b.usePclntab(data[:n], addr)
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
	return b.image.IsCode(t.entry(0), t.entry(t.count))
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
	if text := t.word(2); text != 0 && b.image.IsCode(text+first, text+last) {
		t.text = text
		return true
	}
	const minpc, maxpc, textAt = 160, 168, 176
	le := binary.LittleEndian
	b.image.ScanPointers(addr, func(at uint64) bool {
		var module [textAt + 8]byte
		if !b.image.Read(at, module[:]) {
			return true
		}
		text := le.Uint64(module[textAt:])
		if text+first == le.Uint64(module[minpc:]) && text+last == le.Uint64(module[maxpc:]) && b.image.IsCode(text+first, text+last) {
			t.text = text
		}
		return t.text == 0
	})
	return t.text != 0
}
