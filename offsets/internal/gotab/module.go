package gotab

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// place finds the address that the entries of a table are relative to. It returns false if the entries are not code of
// this program. From Go 1.18 to 1.25 the header holds the address. Since Go 1.26 the header holds 0, and only
// runtime.firstmoduledata has the address. The start of .text differs from it in programs that contain C code.
func (t *table) place(m *image.Image) bool {
	if t.form.oldest >= 18 && (t.text == 0 || !m.IsCode(t.text+t.low, t.text+t.high)) {
		at, ok := t.findModule(m)
		if !ok {
			return false
		}
		t.text, _ = m.Pointer(at + 16)
	}
	return m.IsCode(t.text+t.low, t.text+t.high)
}

// module holds the fields of runtime.moduledata that are used (runtime/symtab.go).
type module struct {
	form          *moduleForm // nil if no known form fits; then only text is set
	text          uint64
	types, etypes uint64
	gofunc        uint64 // the address that offsets of functions' data are relative to
	typelinks     uint64 // the address of the slice header
	typedesclen   uint64
}

// moduleForm holds the offsets of fields in runtime.moduledata for some versions of Go, in words from minpc, which maxpc
// and text follow. The offset of a field that does not exist is 0.
type moduleForm struct {
	oldest        int // minor version of Go
	types, etypes uint64
	// gofunc exists since Go 1.18. Since Go 1.26 it is in the function table, which ends at epclntab.
	rodata, gofunc, epclntab uint64
	typelinks                uint64
	// typedesclen is the number of bytes of the type descriptors that typelinks listed before Go 1.27. They are at the
	// start of the types, and itabs are at the end.
	typedesclen, itaboffset, itabsize uint64
}

// moduleForms lists the known forms, the newest first.
var moduleForms = []*moduleForm{
	{oldest: 27, types: 17, typedesclen: 18, etypes: 19, itaboffset: 20, itabsize: 21, rodata: 22, gofunc: 23, epclntab: 24},
	{oldest: 26, types: 17, etypes: 18, rodata: 19, gofunc: 20, epclntab: 21, typelinks: 25},
	{oldest: 20, types: 17, etypes: 18, rodata: 19, gofunc: 20, typelinks: 24}, // covctrs
	{oldest: 18, types: 15, etypes: 16, rodata: 17, gofunc: 18, typelinks: 22},
	{oldest: 8, types: 15, etypes: 16, typelinks: 20}, // textsectmap
	{oldest: 7, types: 15, etypes: 16, typelinks: 17},
}

// findModule returns the address of minpc in the table's moduledata. The moduledata begins with the table's address, and
// its minpc and maxpc agree with the table.
func (t *table) findModule(m *image.Image) (minpc uint64, ok bool) {
	const most = 40 // words from the table's address to maxpc
	tries := 64     // the address occurs once or twice in a program
	m.ScanPointers(t.addr, func(addr uint64) bool {
		var low, high, text uint64
		for range most {
			low, high = high, text
			text, _ = m.Pointer(addr)
			addr += 8
			base := text
			if t.form.oldest < 18 {
				base = 0
			}
			if low == base+t.low && high == base+t.high && m.IsCode(low, high) {
				minpc, ok = addr-24, true
				return false
			}
		}
		tries--
		return tries > 0
	})
	return minpc, ok
}

// readModule reads the fields of moduledata with the newest form that is not newer than the program. The form of a
// program of a newer, unknown Go may differ, so it uses the form only if the fields fit.
func (g *Tables) readModule() (found module) {
	if g.table == nil {
		return found
	}
	minpc, ok := g.table.findModule(g.image)
	if !ok {
		return found
	}
	field := func(n uint64) (v uint64) {
		if n > 0 {
			v, _ = g.image.Pointer(minpc + 8*n)
		}
		return v
	}
	found.text = field(2)
	i := slices.IndexFunc(moduleForms, func(form *moduleForm) bool { return form.oldest <= g.Version.Minor })
	if i < 0 || !g.fits(moduleForms[i], field) {
		return found
	}
	form := moduleForms[i]
	found.form, found.types, found.etypes = form, field(form.types), field(form.etypes)
	found.gofunc, found.typedesclen = field(form.gofunc), field(form.typedesclen)
	if form.typelinks > 0 {
		found.typelinks = minpc + 8*form.typelinks
	}
	return found
}

// fits reports whether the values of the fields are possible in a form.
func (g *Tables) fits(form *moduleForm, field func(n uint64) uint64) bool {
	types, etypes := field(form.types), field(form.etypes)
	if !g.image.Contains(types, etypes) || form.gofunc > 0 && (!g.image.Loaded(field(form.rodata)) || !g.image.Loaded(field(form.gofunc))) {
		return false
	}
	if form.typedesclen > 0 {
		length, itabs, size := field(form.typedesclen), field(form.itaboffset), field(form.itabsize)
		if length > itabs || itabs > etypes-types || size != etypes-types-itabs {
			return false
		}
	}
	if form.epclntab == 0 {
		return true
	}
	gofunc, end := field(form.gofunc)-g.table.addr, field(form.epclntab)-g.table.addr
	if s := g.image.RawSection(".gopclntab"); s != nil && end != s.Size {
		return false
	}
	return gofunc >= g.table.funcs && gofunc <= end && end <= g.table.size
}

// KnownLayout reports whether the layout of the program's runtime data is known. If it is unknown, neither types nor inlined
// calls can be read.
func (g *Tables) KnownLayout() bool { return g.Version.Minor < 26 || g.module().form != nil }

// types locates a program's types and caches those that were read.
type types struct {
	*Tables
	// size is the number of bytes of a _type, 0 if it is unknown. The words that depend on the kind follow the _type.
	size uint64
	// start is runtime.types, which offsets of names are relative to, and end runtime.etypes. Before Go 1.7 types are
	// scattered over the data.
	start, end uint64

	mu    sync.Mutex
	known map[uint64]*gotype.Type
	// While a type is read, open holds the structs and arrays that contain the present one (a type that contains itself is
	// damaged), and budget is what is left of maxHeldBytes.
	open   map[uint64]bool
	budget int
	// named returns linkedTypes, mentioned returns mentions.
	named     func() (map[string][]uint64, error)
	mentioned func() map[uint32][]uint64
}

// kind returns the kind of the type whose _type begins with head, without the size of numbers.
func (r *types) kind(head []byte) reflect.Kind {
	return plainKind(reflect.Kind(head[rtypeKind] & kindMask))
}

// findTypes finds the types by runtime.firstmoduledata. For Go 1.5 and 1.6 it takes every address as a possible type.
func (g *Tables) findTypes() (*types, error) {
	v := g.Version
	if v.Minor == 0 {
		return nil, errors.New("find runtime types: not a Go program")
	}
	if v.Minor < 5 {
		return nil, fmt.Errorf("find runtime types of %s: version not known", v)
	}
	if v.Minor < firstInterned {
		return g.newTypes(0, 1<<64-1), nil
	}
	module := g.module()
	if module.form == nil {
		return nil, fmt.Errorf("find runtime types of %s: no module data", v)
	}
	return g.newTypes(module.types, module.etypes), nil
}

func (g *Tables) newTypes(start, end uint64) *types {
	size := uint64(48)
	switch g.Version.Minor {
	case 5:
		size = 72
	case 6:
		size = 0
	}
	t := &types{Tables: g, size: size, start: start, end: end, known: make(map[uint64]*gotype.Type)}
	t.named = sync.OnceValues(t.linkedTypes)
	t.mentioned = sync.OnceValue(t.mentions)
	return t
}
