package gotab

import (
	"debug/elf"
	"io"

	"github.com/ftgo/ftgo/offsets/internal/image"
)

// findTable finds Go's function table; nil if the file has none. It is for one
// goroutine, and may be read in pieces.
//
// It is in a section of its own in most files. Position-independent ones linked by C's
// linker have it in the middle of .data.rel.ro up to Go 1.25, and section headers can
// be removed altogether: there it is found by its first bytes.
func findTable(m *image.Image) *table {
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		s := m.Plain(name)
		if s == nil {
			continue
		}
		if t, err := tableOf(s); err == nil && t.place(m) {
			return t
		}
	}
	var found *table
	tries := 8 // each reads a segment; binaries have the magic number once
	m.Scan(magic(m.Processor.Machine().Quantum), func(p *elf.Prog, addr uint64) bool {
		var first [1]byte
		if addr%4 != 1 {
			return true
		}
		addr--
		at := addr - p.Vaddr
		if _, err := p.ReadAt(first[:], int64(at)); err != nil || forms[first[0]] == nil {
			return true
		}
		data := make([]byte, min(p.Filesz-at, m.Most()))
		if n, err := p.ReadAt(data, int64(at)); err == nil || err == io.EOF {
			if t, err := newTable(data[:n]); err == nil {
				if t.addr = addr; t.place(m) {
					found = t
				}
			}
		}
		tries--
		return found == nil && tries > 0
	})
	return found
}

// place finds out the address that the entries of a table count from; not ok if they are not
// of this program. The header has it from Go 1.18 to 1.25; since Go 1.26 there is a 0, and the
// only place left is runtime.firstmoduledata. The start of .text is another address wherever C
// was linked in.
func (t *table) place(m *image.Image) bool {
	if t.form.oldest >= 18 {
		first, last := t.entry(0), t.entry(t.count)
		text := t.word(2)
		if text == 0 || !m.IsCode(text+first, text+last) {
			module, ok := t.findModule(m)
			if !ok {
				return false
			}
			text = module.text
		}
		t.text = text
	}
	return m.IsCode(t.entry(0), t.entry(t.count))
}
