package gotab

import "github.com/ftgo/ftgo/offsets/internal/image"

// module is what is read of runtime.moduledata (runtime/symtab.go), which begins with the
// address of the function table and has
//
//	minpc, maxpc, text, …, types, etypes, rodata, gofunc
//
// further on, the last two since Go 1.18.
type module struct {
	text          uint64
	types, etypes uint64
	gofunc        uint64 // what offsets of a function's data count from
}

// findModule finds the one that the table belongs to: minpc and maxpc are what the table says.
func (t *table) findModule(m *image.Image) (found module, ok bool) {
	first, last := t.entry(0)-t.text, t.entry(t.count)-t.text
	m.ScanPointers(t.addr, func(addr uint64) bool {
		word := func(at uint64) uint64 {
			v, _ := m.Pointer(addr + at)
			return v
		}
		text, base := word(t.form.minpc+16), uint64(0)
		if t.form.oldest >= 18 {
			base = text
		}
		if minpc, maxpc := word(t.form.minpc), word(t.form.minpc+8); minpc != base+first || maxpc != base+last || !m.IsCode(minpc, maxpc) {
			return true
		}
		found = module{text: text, types: word(t.form.types), etypes: word(t.form.types + 8)}
		if t.form.oldest >= 18 {
			found.gofunc = word(t.form.types + 24)
		}
		ok = true
		return false
	})
	return found, ok
}
