package gotab

import (
	"errors"
	"fmt"
	"sync"

	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// place finds out the address that the entries of a table count from; not ok if they are not
// of this program. The header has it from Go 1.18 to 1.25; since Go 1.26 there is a 0, and the
// only place left is runtime.firstmoduledata. The start of .text is another address wherever C
// was linked in.
func (t *table) place(m *image.Image) bool {
	if t.form.oldest >= 18 && (t.text == 0 || !m.IsCode(t.text+t.low, t.text+t.high)) {
		module, ok := t.findModule(m)
		if !ok {
			return false
		}
		t.text = module.text
	}
	return m.IsCode(t.text+t.low, t.text+t.high)
}

// module is what is read of runtime.moduledata (runtime/symtab.go), which begins with the
// address of the function table and has
//
//	minpc, maxpc, text, …, types, etypes, rodata, gofunc
//
// further on, the last two since Go 1.18.
type module struct {
	text          uint64
	types, etypes uint64
	behind        uint64 // the address of what follows these two
	gofunc        uint64 // what offsets of a function's data count from
}

// findModule finds the one that the table belongs to: minpc and maxpc are what the table says.
func (t *table) findModule(m *image.Image) (found module, ok bool) {
	m.ScanPointers(t.addr, func(addr uint64) bool {
		word := func(at uint64) uint64 {
			v, _ := m.Pointer(addr + at)
			return v
		}
		text, base := word(t.form.minpc+16), uint64(0)
		if t.form.oldest >= 18 {
			base = text
		}
		if minpc, maxpc := word(t.form.minpc), word(t.form.minpc+8); minpc != base+t.low || maxpc != base+t.high || !m.IsCode(minpc, maxpc) {
			return true
		}
		found = module{text: text, types: word(t.form.types), etypes: word(t.form.types + 8), behind: addr + t.form.types + 16}
		if t.form.oldest >= 18 {
			found.gofunc = word(t.form.types + 24)
		}
		ok = true
		return false
	})
	return found, ok
}

// types is where a program's types are, and those that were asked for.
type types struct {
	form rtypeForm
	// start is runtime.types, which names count from; end is runtime.etypes. Before Go
	// 1.7 types have no place of their own.
	start, end uint64

	mu    sync.Mutex
	known map[uint64]*gotype.Type
	// named are addresses by name, unnamed why there are none; both nil before one is asked for.
	named   map[string][]uint64
	unnamed error
	// mentioned are the addresses of words that may be the code of methods, by that; nil before many are asked for.
	mentioned map[uint32][]uint64
	scans     int
}

// findTypes goes by runtime.firstmoduledata.
func (g *Tables) findTypes() (*types, error) {
	v := g.Version
	if v.Minor == 0 {
		return nil, errors.New("find runtime types: not a Go program")
	}
	if v.Minor < 4 {
		return nil, fmt.Errorf("find runtime types of %s: version not known", v)
	}
	t := &types{form: rtypeFormOf(v.Minor), known: make(map[uint64]*gotype.Type)}
	if !t.form.interned {
		t.end = 1<<64 - 1
		return t, nil
	}
	module := g.module()
	if t.start, t.end = module.types, module.etypes; t.start == 0 || t.start >= t.end || !g.image.Read(t.start, make([]byte, 8)) {
		return nil, fmt.Errorf("find runtime types of %s: no module data", v)
	}
	return t, nil
}
