package debug

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// structType is a struct, or one of the types that the runtimes make structs for.
func (d *Info) structType(name string, size int64, e *dwarf.Entry, depth int) *gotype.Type {
	switch kind := goKind(e); {
	case kind == reflect.String:
		return words(name, kind, 2)
	case kind == reflect.Slice:
		return d.leading(words(name, kind, 3), ref(e, attrGoElem))
	case name == "runtime.eface":
		return words(name, reflect.Interface, 2)
	case name == "runtime.iface":
		return methods(name)
	}
	t := &gotype.Type{Name: cmp.Or(name, "struct"), Kind: reflect.Struct, Size: size, Align: 1}
	if size < 0 { // declared only
		return Unknown(t.Name, -1)
	}
	found, ok := d.readMembers(e)
	if !ok {
		return Unknown(t.Name, size)
	}
	if special := d.gccgoType(name, found); special != nil {
		return special
	}
	end := int64(0)
	for _, m := range found {
		m.Type = d.typeAt(m.typ, depth+1)
		// Members that overlap are a union's, or those of bit fields.
		if m.Type.Size < 0 || m.Offset < end || m.Offset > size || m.Type.Size > size-m.Offset {
			return &gotype.Type{Name: t.Name, Size: size, Align: 8}
		}
		end = m.Offset + m.Type.Size
		t.Align = max(t.Align, m.Type.Align)
		t.Fields = append(t.Fields, m.Field)
	}
	if size == 0 {
		// Structs of nothing may contain each other by thousands.
		t.Fields = nil
	}
	return t
}

// structMember is a field but for its type, which is at an offset.
type structMember struct {
	gotype.Field
	typ dwarf.Offset
}

// readMembers reads the fields of a struct, in order; ok is false if it has what can't be told, a
// base class or a bit field.
func (d *Info) readMembers(of *dwarf.Entry) (found []structMember, ok bool) {
	for e, err := range d.below(of) {
		if err != nil || e.Tag == dwarf.TagInheritance {
			return nil, false
		}
		if e.Tag != dwarf.TagMember {
			continue
		}
		m := structMember{typ: ref(e, dwarf.AttrType)}
		m.Name, m.Embedded = strings.TrimPrefix(val[string](e, dwarf.AttrName), "."), val[bool](e, attrGoEmbedded)
		at := e.Val(dwarf.AttrDataMemberLoc)
		m.Offset, ok = memberOffset(at)
		static := at == nil && val[bool](e, dwarf.AttrDeclaration) // of C++
		if m.typ == 0 || e.Val(dwarf.AttrBitSize) != nil || !ok && !static {
			return nil, false
		}
		if ok {
			found = append(found, m)
		}
	}
	return found, true
}

// memberOffset decodes DW_AT_data_member_location: a number, or, as linkers of Go up to
// 1.9 wrote it, the expression DW_OP_plus_uconst N (DWARF 4, 2.5.1.4).
func memberOffset(val any) (int64, bool) {
	switch v := val.(type) {
	case int64:
		return v, true
	case []byte:
		const plusUconst = 0x23
		if len(v) < 2 || v[0] != plusUconst {
			return 0, false
		}
		n, size := binary.Uvarint(v[1:])
		return int64(n), size > 0 && n < 1<<31
	}
	return 0, false
}

// gccgoType recognises the structs that gccgo makes for strings, slices and interfaces
// (gcc/go/gofrontend/types.cc): they have no name, or that of a typedef.
func (d *Info) gccgoType(name string, found []structMember) *gotype.Type {
	if len(found) < 2 || len(found) > 3 {
		return nil
	}
	name = cmp.Or(name, gccgoName(found[0].Name))
	switch found[0].Name + " " + found[1].Name {
	case "__data __length":
		return words(name, reflect.String, 2)
	case "__methods __object":
		return methods(name)
	case "__type_descriptor __object":
		return words(name, reflect.Interface, 2)
	case "__values __count":
		t := words(name, reflect.Slice, 3)
		if array, err := d.at(found[0].typ); err == nil && array.Tag == dwarf.TagPointerType {
			if to := ref(array, dwarf.AttrType); to != 0 {
				t.Name = cmp.Or(name, "[]"+d.nameOf(to))
				d.leading(t, to)
			}
		}
		return t
	}
	return nil
}

// gccgoName names a struct without a name by its first field.
func gccgoName(field string) string {
	return map[string]string{"__data": "string", "__methods": "interface", "__type_descriptor": "interface {}"}[field]
}

// typedef is a map, a channel, an interface or, if it has no kind, another name.
func (d *Info) typedef(name string, e *dwarf.Entry, depth int) *gotype.Type {
	if kind := goKind(e); kind == reflect.Map || kind == reflect.Chan {
		return d.leading(words(name, kind, 1), ref(e, attrGoElem))
	}
	to := ref(e, dwarf.AttrType)
	if to == 0 {
		return Unknown(name, -1)
	}
	t := d.typeAt(to, depth+1)
	// What stands for the type parameters of a generic function is called .param0 ….
	if t.Name == name || strings.HasPrefix(name, "param") && e.Val(attrGoDictIndex) != nil {
		return t
	}
	return t.Named(name)
}

// Struct finds the struct type of a name, which is looked for in a unit, where it is most
// likely, and then everywhere: a package of Go is a unit.
func (d *Info) Struct(name, in string) (*gotype.Type, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	units := d.units
	likely := func(u *unit) bool { return val[string](u.entry, dwarf.AttrName) == in }
	if i := slices.IndexFunc(units, likely); i > 0 {
		units = slices.Concat(units[i:], units)
	}
	var failed error
	for _, u := range units {
		var at dwarf.Offset
		err := d.walk(u, func(e *dwarf.Entry) (inside bool, err error) {
			if e.Tag == dwarf.TagStructType && e.Children && e.Val(dwarf.AttrName) == name {
				at, err = e.Offset, io.EOF
			}
			return true, err
		})
		if at != 0 {
			return d.typeAt(at, 0), nil
		}
		failed = cmp.Or(failed, err)
	}
	if failed != nil {
		return nil, fmt.Errorf("read debug information: %w", failed)
	}
	return nil, fmt.Errorf("find type %s: not in debug information", name)
}
