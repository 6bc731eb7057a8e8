package debug

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/offsets/gotype"
)

func arrayName(count int64, elem string) string { return fmt.Sprintf("[%d]%s", count, elem) }

// Kinds of package reflect.
const (
	kindChan      = 18
	kindInterface = 20
	kindMap       = 21
	kindSlice     = 23
	kindString    = 24
)

// structType is a struct, or one of the types that the runtimes make structs for. The
// reader is at its members.
func (d *Info) structType(name string, size int64, e *dwarf.Entry, depth int) *gotype.Type {
	kind, _ := e.Val(attrGoKind).(int64)
	switch {
	case kind == kindString:
		return &gotype.Type{Name: name, Kind: reflect.String, Size: 16, Align: 8}
	case kind == kindSlice:
		t := &gotype.Type{Name: name, Kind: reflect.Slice, Size: 24, Align: 8}
		if to, ok := e.Val(attrGoElem).(dwarf.Offset); ok {
			t.SetElem(d.finder(to))
		}
		return t
	case name == "runtime.eface" || name == "runtime.iface":
		return &gotype.Type{Name: name, Kind: reflect.Interface, Size: 16, Align: 8, Methods: name == "runtime.iface"}
	}
	t := &gotype.Type{Name: cmpName(name, "struct"), Kind: reflect.Struct, Size: size, Align: 1}
	if size < 0 { // declared only
		return Unknown(t.Name, -1)
	}
	if !e.Children {
		return t
	}
	found, ok := d.readMembers()
	if !ok {
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

// readMembers reads the fields of the struct that the reader is in, in order.
func (d *Info) readMembers() (found []structMember, ok bool) {
	for {
		e, err := d.next()
		if err != nil || e == nil {
			return nil, false
		}
		if e.Tag == 0 {
			return found, true
		}
		if err := d.skip(e); err != nil {
			return nil, false
		}
		if e.Tag == dwarf.TagInheritance {
			return nil, false
		}
		if e.Tag != dwarf.TagMember {
			continue
		}
		var m structMember
		m.name, _ = e.Val(dwarf.AttrName).(string)
		m.embedded, _ = e.Val(attrGoEmbedded).(bool)
		m.typ, ok = e.Val(dwarf.AttrType).(dwarf.Offset)
		offset := e.Val(dwarf.AttrDataMemberLoc)
		if !ok || e.Val(dwarf.AttrBitSize) != nil {
			return nil, false
		}
		if offset == nil {
			if declared, _ := e.Val(dwarf.AttrDeclaration).(bool); declared {
				continue // static, of C++
			}
			return nil, false
		}
		if m.offset, ok = memberOffset(offset); !ok {
			return nil, false
		}
		found = append(found, m)
	}
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
	switch found[0].name + " " + found[1].name {
	case "__data __length":
		return &gotype.Type{Name: cmpName(name, "string"), Kind: reflect.String, Size: 16, Align: 8}
	case "__methods __object":
		return &gotype.Type{Name: cmpName(name, "interface"), Kind: reflect.Interface, Size: 16, Align: 8, Methods: true}
	case "__type_descriptor __object":
		return &gotype.Type{Name: cmpName(name, "interface {}"), Kind: reflect.Interface, Size: 16, Align: 8}
	case "__values __count":
		t := &gotype.Type{Name: name, Kind: reflect.Slice, Size: 24, Align: 8}
		if array, err := d.at(found[0].typ); err == nil && array.Tag == dwarf.TagPointerType {
			if to, ok := array.Val(dwarf.AttrType).(dwarf.Offset); ok {
				t.Name = cmpName(name, "[]"+d.nameOf(to))
				t.SetElem(d.finder(to))
			}
		}
		return t
	}
	return nil
}

// gccgoName names a struct without a name by its first field.
func gccgoName(field string) string {
	switch field {
	case "__data":
		return "string"
	case "__methods":
		return "interface"
	case "__type_descriptor":
		return "interface {}"
	}
	return "struct"
}

// typedef is a map, a channel, an interface or, if it has no kind, another name.
func (d *Info) typedef(name string, e *dwarf.Entry, depth int) *gotype.Type {
	kind, _ := e.Val(attrGoKind).(int64)
	to, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
	switch kind {
	case kindMap, kindChan:
		t := &gotype.Type{Name: name, Kind: reflect.Map, Size: 8, Align: 8}
		if kind == kindChan {
			t.Kind = reflect.Chan
		}
		if elem, ok := e.Val(attrGoElem).(dwarf.Offset); ok {
			t.SetElem(d.finder(elem))
		}
		return t
	}
	if !ok {
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
		d.r.Seek(from)
		at, err := d.nextStruct(name)
		switch {
		case err == nil:
			return d.typeAt(at, 0), nil
		case from == 0:
			return nil, err
		}
		from = 0
	}
}

func (d *Info) nextStruct(name string) (dwarf.Offset, error) {
	for {
		e, err := d.next()
		if err != nil {
			return 0, fmt.Errorf("read debug information: %w", err)
		}
		if e == nil {
			return 0, fmt.Errorf("find type %s: not in debug information", name)
		}
		if e.Tag == dwarf.TagStructType && e.Children && e.Val(dwarf.AttrName) == name {
			return e.Offset, nil
		}
	}
}
