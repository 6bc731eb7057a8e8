package debug

import (
	"debug/dwarf"
	"encoding/binary"
	"reflect"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/gotype"
)

// maxTypeDepth is the maximum depth of types that contain each other by value.
const maxTypeDepth = 40

// MaxValueSize is larger than any value, in bytes.
const MaxValueSize = 1 << 40

// typeAt returns the type that the entry at an offset describes. If it can't read the entry, the type has kind Invalid. If
// it can't read the size either, the type has size -1.
func (d *Info) typeAt(at dwarf.Offset, depth int) *gotype.Type {
	if t, ok := d.types[at]; ok {
		return t
	}
	d.types[at] = Unknown("?", -1) // in case a damaged type contains itself
	t := d.readType(at, depth)
	if t.Size > MaxValueSize || t.Size < 0 && t.Kind != reflect.Invalid {
		t = Unknown(t.Name, -1)
	}
	d.types[at] = t
	return t
}

// Unknown returns a type of unknown kind. size is -1 if the size is unknown, too.
func Unknown(name string, size int64) *gotype.Type {
	return &gotype.Type{Name: name, Size: size, Align: 1}
}

func (d *Info) readType(at dwarf.Offset, depth int) *gotype.Type {
	e, err := d.at(at)
	if err != nil || depth > maxTypeDepth {
		return Unknown("?", -1)
	}
	name, size := typeName(val[string](e, dwarf.AttrName)), int64(-1)
	if n, ok := e.Val(dwarf.AttrByteSize).(int64); ok {
		size = n
	}
	switch e.Tag {
	case dwarf.TagBaseType:
		return d.withConstants(baseType(name, size, e), at)
	case dwarf.TagPointerType:
		to := ref(e, dwarf.AttrType)
		switch {
		case strings.HasPrefix(name, anyPointer):
			return words(name, reflect.Pointer, 1)
		case to == 0 || name == "unsafe.Pointer":
			return words("unsafe.Pointer", reflect.UnsafePointer, 1)
		}
		return d.leading(words(name, reflect.Pointer, 1), to)
	case dwarf.TagSubroutineType:
		return words(name, reflect.Func, 1)
	case dwarf.TagStructType:
		return d.structType(name, size, e, depth)
	case dwarf.TagArrayType:
		return d.arrayType(name, size, e, depth)
	case dwarf.TagTypedef:
		return d.typedef(name, e, depth)
	}
	return Unknown(name, size)
}

// anyPointer is the type of every pointer in the shape of a generic function.
const anyPointer = "go.shape.*uint8"

// shapeless removes "go.shape." from names. It keeps the name anyPointer, because *uint8 would be another type.
var shapeless = strings.NewReplacer(anyPointer, anyPointer, "go.shape.", "")

// typeName returns the name of a type in the spelling of source files, without the compiler's prefixes for shapes of generic
// functions (it keeps anyPointer) and for types without hash functions.
func typeName(name string) string {
	if shape, ok := strings.CutPrefix(name, "go.shape."); ok {
		if base := strings.TrimRight(shape, "0123456789"); strings.HasSuffix(base, "_") && base != shape {
			shape = base[:len(base)-1] // Go 1.18 and 1.19 append the number of the type parameter
		}
		name = "go.shape." + shape
	}
	return strings.TrimPrefix(shapeless.Replace(name), "noalg.")
}

// encodings maps DW_ATE_… (DWARF 5, 7.8) to kinds of package reflect.
var encodings = map[int64]reflect.Kind{
	0x02: reflect.Bool, 0x03: reflect.Complex128, 0x04: reflect.Float64, 0x05: reflect.Int, 0x06: reflect.Int,
	0x07: reflect.Uint, 0x08: reflect.Uint, 0x10: reflect.Uint,
}

// baseType returns the type of a number or a bool.
func baseType(name string, size int64, e *dwarf.Entry) *gotype.Type {
	t := &gotype.Type{Name: name, Size: size, Align: size, Kind: encodings[val[int64](e, dwarf.AttrEncoding)]}
	if t.Kind == reflect.Complex128 {
		t.Align = size / 2
	}
	if !slices.Contains([]int64{1, 2, 4, 8}, t.Align) {
		return Unknown(name, size)
	}
	return t
}

// words returns a type of n words.
func words(name string, kind reflect.Kind, n int64) *gotype.Type {
	return &gotype.Type{Name: name, Kind: kind, Size: 8 * n, Align: 8}
}

// leading sets the element type of t to the type at the offset to, unless the offset is 0. The element type is read at the
// first call of Elem.
func (d *Info) leading(t *gotype.Type, to dwarf.Offset) *gotype.Type {
	if to != 0 {
		t.SetElem(func() *gotype.Type {
			d.mu.Lock()
			defer d.mu.Unlock()
			elem := d.typeAt(to, 0)
			if elem.Kind == reflect.Invalid && elem.Size < 0 {
				return nil
			}
			return elem
		})
	}
	return t
}

func (d *Info) arrayType(name string, size int64, e *dwarf.Entry, depth int) *gotype.Type {
	count := int64(-1)
	for sub, err := range d.below(e) {
		if err != nil {
			break
		}
		if n, ok := sub.Val(dwarf.AttrCount).(int64); ok {
			count = n
		}
	}
	elem := d.typeAt(ref(e, dwarf.AttrType), depth+1)
	if count < 0 || elem.Size < 0 || count > 1<<16 && elem.Size == 0 || elem.Size > 0 && count > MaxValueSize/elem.Size {
		return Unknown(name, size)
	}
	t := &gotype.Type{Name: name, Kind: reflect.Array, Size: count * elem.Size, Align: elem.Align, Len: count}
	t.SetElem(func() *gotype.Type { return elem })
	return t
}

// structType returns a struct type, or the type that a runtime implements as a struct, such as a string.
func (d *Info) structType(name string, size int64, e *dwarf.Entry, depth int) *gotype.Type {
	switch kind := goKind(e); {
	case kind == reflect.String:
		return words(name, kind, 2)
	case kind == reflect.Slice:
		return d.leading(words(name, kind, 3), ref(e, attrGoElem))
	case name == "runtime.eface", name == "runtime.iface":
		t := words(name, reflect.Interface, 2)
		t.Methods = name == "runtime.iface"
		return t
	}
	t := &gotype.Type{Name: name, Kind: reflect.Struct, Size: size, Align: 1}
	end := int64(0)
	for m, err := range d.below(e) {
		if err != nil {
			return Unknown(name, size)
		}
		f := gotype.Field{Name: val[string](m, dwarf.AttrName), Embedded: val[bool](m, attrGoEmbedded), Type: d.typeAt(ref(m, dwarf.AttrType), depth+1)}
		var ok bool
		if f.Offset, ok = memberOffset(m.Val(dwarf.AttrDataMemberLoc)); !ok || f.Type.Size < 0 || f.Offset < end || f.Offset > size || f.Type.Size > size-f.Offset {
			return Unknown(name, size)
		}
		end = f.Offset + f.Type.Size
		t.Align = max(t.Align, f.Type.Align)
		t.Fields = append(t.Fields, f)
	}
	if size == 0 {
		// Empty structs may contain each other thousands of times.
		t.Fields = nil
	}
	return t
}

// memberOffset decodes DW_AT_data_member_location: a number, or the expression DW_OP_plus_uconst N (DWARF 4, 2.5.1.4),
// which the linkers of Go up to 1.9 wrote.
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

// typedef returns the type of a typedef. In Go a typedef with attribute attrGoKind is a map or a channel. Any other typedef
// gives another type a name.
func (d *Info) typedef(name string, e *dwarf.Entry, depth int) *gotype.Type {
	if kind := goKind(e); kind == reflect.Map || kind == reflect.Chan {
		t := d.leading(words(name, kind, 1), ref(e, attrGoElem))
		if header := ref(e, dwarf.AttrType); header != 0 && kind == reflect.Map {
			t.SetGroup(d.mapGroup(header))
		}
		return t
	}
	t := d.typeAt(ref(e, dwarf.AttrType), depth+1)
	if t.Name == name || strings.HasPrefix(name, ".param") { // the type parameters of a generic function: .param0, .param1
		return t
	}
	return t.Named(name)
}
