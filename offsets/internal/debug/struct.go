package debug

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
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
	found, err := d.readMembers(e)
	if err != nil {
		return Unknown(t.Name, size)
	}
	if special := d.gccgoType(name, found); special != nil {
		return special
	}
	end := int64(0)
	for _, m := range found {
		field := gotype.Field{Name: strings.TrimPrefix(m.name, "."), Offset: m.offset, Type: d.typeAt(m.typ, depth+1), Embedded: m.embedded}
		ft := field.Type
		// Members that overlap are a union's, or those of bit fields.
		if ft.Size < 0 || m.offset < end || m.offset > size || ft.Size > size-m.offset {
			return &gotype.Type{Name: t.Name, Size: size, Align: 8}
		}
		end = m.offset + ft.Size
		t.Align = max(t.Align, ft.Align)
		t.Fields = append(t.Fields, field)
	}
	if size == 0 {
		// Structs of nothing may contain each other by thousands.
		t.Fields = nil
	}
	return t
}

type structMember struct {
	name     string
	offset   int64 // bytes from the start of the struct
	typ      dwarf.Offset
	embedded bool
}

// errMember says that a struct has what can't be told, a base class or a bit field.
var errMember = errors.New("members not understood")

// readMembers reads the fields of a struct, in order.
func (d *Info) readMembers(of *dwarf.Entry) (found []structMember, err error) {
	err = d.below(of, func(e *dwarf.Entry) error {
		if e.Tag == dwarf.TagInheritance {
			return errMember
		}
		if e.Tag != dwarf.TagMember {
			return nil
		}
		m := structMember{name: val[string](e, dwarf.AttrName), embedded: val[bool](e, attrGoEmbedded), typ: ref(e, dwarf.AttrType)}
		offset, ok := memberOffset(e.Val(dwarf.AttrDataMemberLoc))
		if m.offset = offset; m.typ == 0 || e.Val(dwarf.AttrBitSize) != nil {
			return errMember
		}
		switch {
		case ok:
			found = append(found, m)
		case e.Val(dwarf.AttrDataMemberLoc) != nil || !val[bool](e, dwarf.AttrDeclaration): // else static, of C++
			return errMember
		}
		return nil
	})
	return found, err
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
	name = cmp.Or(name, gccgoName(found[0].name))
	switch found[0].name + " " + found[1].name {
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
	from := dwarf.Offset(0)
	if i := slices.IndexFunc(d.units, func(u *unit) bool { return u.name == in }); i >= 0 {
		from = d.units[i].start
	}
	for {
		var at dwarf.Offset
		err := d.walk(from, math.MaxUint32, func(e *dwarf.Entry) (inside bool, err error) {
			if e.Tag == dwarf.TagStructType && e.Children && e.Val(dwarf.AttrName) == name {
				at, err = e.Offset, io.EOF
			}
			return true, err
		})
		switch {
		case at != 0:
			return d.typeAt(at, 0), nil
		case from != 0:
			from = 0
		case err != nil:
			return nil, fmt.Errorf("read debug information: %w", err)
		default:
			return nil, fmt.Errorf("find type %s: not in debug information", name)
		}
	}
}
