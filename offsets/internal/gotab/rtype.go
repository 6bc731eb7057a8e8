package gotab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// RuntimeType decodes the runtime._type at a virtual address of the file, load bias not
// counted: the first word of an interface without methods, or what ItabType returns. It
// works without symbols and debug information. Types that the program makes as it runs,
// with package reflect, are not in the file. The type is named as %T prints it. What is not in the
// file, or damaged, is of kind Invalid. Elem reads the file when it is first asked for.
func (g *Tables) RuntimeType(addr uint64) (*gotype.Type, error) {
	t, err := g.types()
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := rtypeReader{tables: g, table: t, open: make(map[uint64]bool), budget: maxHeldBytes}
	typ, err := r.read(addr)
	if err != nil {
		return nil, fmt.Errorf("read type at %#x: %w", addr, err)
	}
	return typ, nil
}

const (
	// maxHeldBytes is about how much memory a type may take with all that it holds by
	// value.
	maxHeldBytes = 1 << 20
	// maxNesting is how deep structs and arrays are followed into each other.
	maxNesting = 100
	// maxTypeSize is more than the compiler allows (cmd/compile/internal/amd64/galign.go).
	maxTypeSize = 1<<50 + 1
)

// rtypeReader reads one type with all that it holds by value.
type rtypeReader struct {
	tables *Tables
	table  *types
	open   map[uint64]bool // structs and arrays that are being read: none holds itself
	budget int
}

func (r *rtypeReader) read(addr uint64) (*gotype.Type, error) {
	form := r.table.form
	if known, ok := r.table.known[addr]; ok {
		return known, nil
	}
	if addr%8 != 0 || addr < r.table.start || addr >= r.table.end {
		return nil, errors.New("no type is there")
	}
	var head [48]byte // the fields that are read lie in it, in all forms
	if !r.tables.image.Read(addr, head[:]) {
		return nil, errors.New("not in the file")
	}
	size, align, number := binary.LittleEndian.Uint64(head[:]), head[form.align], head[form.kind]
	n := int(number & kindMask)
	if n >= len(rtypeKinds) || rtypeKinds[n].kind == reflect.Invalid {
		return nil, fmt.Errorf("kind %d is none", n)
	}
	kind := &rtypeKinds[n]
	if size >= maxTypeSize || kind.size != 0 && size != kind.size || align == 0 || align > 64 || align&(align-1) != 0 {
		return nil, fmt.Errorf("%d bytes, aligned to %d, of kind %d", size, align, n)
	}
	name, err := r.name(addr, head[:], kind)
	if err != nil {
		return nil, err
	}
	known := &gotype.Type{Name: name, Kind: kind.kind, Size: int64(size), Align: int64(align), Direct: number&kindDirect != 0}
	if form.directFlag {
		known.Direct = head[tflagAt]&tflagDirect != 0
	}
	r.budget -= 256 + len(name)
	r.open[addr] = true
	r.detail(known, addr)
	delete(r.open, addr)
	r.table.known[addr] = known
	return known, nil
}

// name is that of the type whose _type begins with head.
func (r *rtypeReader) name(addr uint64, head []byte, kind *rtypeKind) (string, error) {
	form := r.table.form
	if !form.interned {
		at, ok := r.tables.image.Pointer(addr + form.name)
		name, ok2 := stringVariable(r.tables.image, at)
		if !ok || !ok2 || name == "" {
			return "", errors.New("no name")
		}
		return name, nil
	}
	offset := binary.LittleEndian.Uint32(head[form.name:])
	if offset == 0 || uint64(offset) >= r.table.end-r.table.start {
		return "", errors.New("no name")
	}
	name, _, ok := r.tables.nameAt(r.table.start+uint64(offset), form)
	if ok && head[tflagAt]&tflagExtraStar != 0 {
		name, ok = strings.CutPrefix(name, "*")
	}
	declared := head[tflagAt]&tflagNamed != 0 || kind.kind == reflect.Struct && strings.HasPrefix(name, "map.")
	if !ok || name == "" || !declared && !strings.HasPrefix(name, kind.literal) {
		return "", fmt.Errorf("name %.100q of kind %d", name, kind.kind)
	}
	return name, nil
}

// detail reads what follows the _type at an address.
func (r *rtypeReader) detail(t *gotype.Type, addr uint64) {
	form := r.table.form
	first := addr + form.size
	var ok bool
	switch t.Kind {
	case reflect.Pointer, reflect.Slice, reflect.Chan:
		elem, found := r.tables.image.Pointer(first)
		if form.size == 0 || !found {
			return
		}
		t.SetElem(func() *gotype.Type {
			typ, _ := r.tables.RuntimeType(elem)
			return typ
		})
		return
	case reflect.Array:
		ok = r.array(t, first)
	case reflect.Struct:
		ok = r.fields(t, first)
	case reflect.Interface:
		ok = r.methods(t, first)
	default:
		return
	}
	if !ok {
		t.Kind, t.Fields = reflect.Invalid, nil
	}
}

// array reads runtime.arraytype: element, slice of it, length.
func (r *rtypeReader) array(t *gotype.Type, at uint64) bool {
	elem, ok1 := r.heldAt(at)
	length, ok2 := r.tables.image.Pointer(at + 16)
	if !ok1 || !ok2 || length >= maxTypeSize {
		return false
	}
	if size := uint64(elem.Size); size > maxTypeSize/max(length, 1) || size*length != uint64(t.Size) {
		return false
	}
	t.Len = int64(length)
	t.SetElem(func() *gotype.Type { return elem })
	return true
}

// methods reads how many an interface type has, runtime.interfacetype: a slice, behind
// the package since Go 1.7.
func (r *rtypeReader) methods(t *gotype.Type, at uint64) bool {
	if r.table.form.interned {
		at += 8
	}
	n, ok := r.tables.image.Pointer(at + 8)
	t.Methods = n > 0
	return ok && n < 1<<16
}

// heldAt reads the type whose address is at an address, and of which a value is a part
// of another.
func (r *rtypeReader) heldAt(at uint64) (*gotype.Type, bool) {
	addr, ok := r.tables.image.Pointer(at)
	if !ok || r.table.form.size == 0 || r.open[addr] || len(r.open) > maxNesting || r.budget < 0 {
		return nil, false
	}
	held, err := r.read(addr)
	return held, err == nil
}
