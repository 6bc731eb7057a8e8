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

// place finds out the address that the entries of a table count from; not ok if they are not
// of this program. The header has it from Go 1.18 to 1.25; since Go 1.26 there is a 0, and the
// only place left is runtime.firstmoduledata. The start of .text is another address wherever C
// was linked in.
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

// module is what is read of runtime.moduledata (runtime/symtab.go).
type module struct {
	form          *moduleForm // nil if none fits: then no more than text is known
	text          uint64
	types, etypes uint64
	gofunc        uint64 // what offsets of a function's data count from
	typelinks     uint64 // the address of that slice
	typedesclen   uint64
}

// moduleForm is where versions of Go have fields of runtime.moduledata, in words from minpc on, which
// maxpc and text follow; 0 if there is no such field.
type moduleForm struct {
	oldest        int // minor version of Go
	types, etypes uint64
	// gofunc is there since Go 1.18. Since Go 1.26 it is in the table of Funcs, which epclntab ends.
	rodata, gofunc, epclntab uint64
	typelinks                uint64
	// typedesclen is how many bytes those take, since Go 1.27, that typelinks listed before. They are the
	// first of all types, and itabs are the last.
	typedesclen, itaboffset, itabsize uint64
}

// moduleForms are those that are known, the newest first.
var moduleForms = []*moduleForm{
	{oldest: 27, types: 17, typedesclen: 18, etypes: 19, itaboffset: 20, itabsize: 21, rodata: 22, gofunc: 23, epclntab: 24},
	{oldest: 26, types: 17, etypes: 18, rodata: 19, gofunc: 20, epclntab: 21, typelinks: 25},
	{oldest: 20, types: 17, etypes: 18, rodata: 19, gofunc: 20, typelinks: 24}, // covctrs
	{oldest: 18, types: 15, etypes: 16, rodata: 17, gofunc: 18, typelinks: 22},
	{oldest: 8, types: 15, etypes: 16, typelinks: 20}, // textsectmap
	{oldest: 7, types: 15, etypes: 16, typelinks: 17},
}

// findModule finds minpc in the moduledata that the table belongs to, which begins with the table's
// address: minpc and maxpc are what the table says.
func (t *table) findModule(m *image.Image) (minpc uint64, ok bool) {
	const most = 40 // words before minpc
	tries := 64     // programs have the address once or twice
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

// readModule reads the fields of moduledata by the form of the newest version that is not newer than the program's,
// if it fits: a version that is not known may have its own.
func (g *Tables) readModule() (found module) {
	if g.table == nil {
		return found
	}
	minpc, ok := g.table.findModule(g.image)
	if !ok {
		return found
	}
	field := func(n uint64) uint64 {
		v, _ := g.image.Pointer(minpc + 8*n)
		return v
	}
	found.text = field(2)
	i := slices.IndexFunc(moduleForms, func(form *moduleForm) bool { return form.oldest <= g.Version.Minor })
	if i < 0 || !g.fits(moduleForms[i], field) {
		return found
	}
	form := moduleForms[i]
	found.form, found.types, found.etypes = form, field(form.types), field(form.etypes)
	if form.gofunc > 0 {
		found.gofunc = field(form.gofunc)
	}
	if form.typelinks > 0 {
		found.typelinks = minpc + 8*form.typelinks
	}
	if form.typedesclen > 0 {
		found.typedesclen = field(form.typedesclen)
	}
	return found
}

// fits tells whether fields are what they must be in a form.
func (g *Tables) fits(form *moduleForm, field func(n uint64) uint64) bool {
	types, etypes := field(form.types), field(form.etypes)
	if !g.image.Holds(types, etypes) || form.gofunc > 0 && (!g.image.Loaded(field(form.rodata)) || !g.image.Loaded(field(form.gofunc))) {
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
	if s := g.image.Plain(".gopclntab"); s != nil && end != s.Size {
		return false
	}
	return gofunc >= g.table.funcs && gofunc <= end && end <= g.table.size
}

// Known tells whether the version of Go lays out in a known way what the program has for its own runtime. If
// not, neither types nor inlined calls can be read of that.
func (g *Tables) Known() bool { return g.Version.Minor < 26 || g.module().form != nil }

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

// kind is that of the type whose _type begins with head, without the size of numbers.
func (t *types) kind(head []byte) reflect.Kind {
	return plainKind(reflect.Kind(head[t.form.kind] & kindMask))
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
	if t.start, t.end = module.types, module.etypes; module.form == nil {
		return nil, fmt.Errorf("find runtime types of %s: no module data", v)
	}
	return t, nil
}
