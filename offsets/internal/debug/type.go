package debug

import (
	"debug/dwarf"
	"reflect"
	"strings"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// Attributes of Go's own (cmd/internal/dwarf/dwarf.go): the kind by the numbers of
// package reflect, what a slice, map or channel holds, whether a field is embedded, and
// where in a closure a variable is.
const (
	attrGoKind          = dwarf.Attr(0x2900)
	attrGoElem          = dwarf.Attr(0x2902)
	attrGoEmbedded      = dwarf.Attr(0x2903)
	attrGoDictIndex     = dwarf.Attr(0x2906)
	attrGoClosureOffset = dwarf.Attr(0x2907)
)

// maxTypeDepth limits the types by value in a type.
const maxTypeDepth = 40

// MaxValueSize is more bytes than any value has.
const MaxValueSize = 1 << 40

// typeAt is the type that an entry describes. What can't be made sense of is of kind
// Unknown, of size -1 if not even that is told.
func (d *Info) typeAt(at dwarf.Offset, depth int) *gotype.Type {
	if t, ok := d.types[at]; ok {
		return t
	}
	d.types[at] = Unknown("?", -1) // what it is for itself: no type contains itself
	t := d.readType(at, depth)
	if t.Size > MaxValueSize || t.Size < 0 && t.Kind != reflect.Invalid {
		t = Unknown(t.Name, -1)
	}
	d.types[at] = t
	return t
}

// Unknown is a type of which only the size is known, -1 if not even that.
func Unknown(name string, size int64) *gotype.Type {
	return &gotype.Type{Name: name, Size: size, Align: 1}
}

func (d *Info) readType(at dwarf.Offset, depth int) *gotype.Type {
	if depth > maxTypeDepth {
		return Unknown("?", -1)
	}
	e, err := d.at(at)
	if err != nil {
		return Unknown("?", -1)
	}
	name, _ := e.Val(dwarf.AttrName).(string)
	name = typeName(name)
	size := int64(-1)
	if n, ok := e.Val(dwarf.AttrByteSize).(int64); ok {
		size = n
	}
	switch e.Tag {
	case dwarf.TagBaseType:
		return baseType(name, size, e)
	case dwarf.TagPointerType:
		return d.pointerType(name, e)
	case dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
		return &gotype.Type{Name: cmpName(name, "&"), Kind: reflect.Pointer, Size: 8, Align: 8}
	case dwarf.TagSubroutineType:
		// Of a value in Go; C has values of pointers to functions only.
		return &gotype.Type{Name: cmpName(name, "func()"), Kind: reflect.Func, Size: 8, Align: 8}
	case dwarf.TagEnumerationType:
		return &gotype.Type{Name: cmpName(name, "enum"), Kind: reflect.Int, Size: size, Align: numberAlign(size)}
	case dwarf.TagStructType, dwarf.TagClassType:
		return d.structType(name, size, e, depth)
	case dwarf.TagArrayType:
		return d.arrayType(name, size, e, depth)
	case dwarf.TagTypedef:
		return d.typedef(name, e, depth)
	case dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType:
		if to, ok := e.Val(dwarf.AttrType).(dwarf.Offset); ok {
			return d.typeAt(to, depth+1)
		}
	}
	return Unknown(cmpName(name, "?"), size)
}

// cmpName is the name, or what to call the type that has none.
func cmpName(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}

// typeName is the name of a type as source files spell it: without what the compilers
// put in front, gc of the types that instances of generic functions share and of those
// that it does not make hash functions for, gccgo of those of the package itself.
func typeName(name string) string {
	if shape, ok := strings.CutPrefix(name, "go.shape."); ok {
		if base := strings.TrimRight(shape, "0123456789"); strings.HasSuffix(base, "_") && base != shape {
			shape = base[:len(base)-1] // Go 1.18 and 1.19 number the parameters
		}
		name = shape
	}
	name = strings.ReplaceAll(name, "go.shape.", "")
	name = strings.TrimPrefix(name, "noalg.")
	return strings.TrimPrefix(name, ".")
}

func numberAlign(size int64) int64 { return max(1, min(size, 8)) }

// baseType is a number: the kinds of package reflect and DW_ATE_… (DWARF 5, 7.8) say
// the same.
func baseType(name string, size int64, e *dwarf.Entry) *gotype.Type {
	t := &gotype.Type{Name: name, Size: size, Align: numberAlign(size)}
	encoding, _ := e.Val(dwarf.AttrEncoding).(int64)
	switch encoding {
	case 0x02:
		t.Kind = reflect.Bool
	case 0x03:
		t.Kind, t.Align = reflect.Complex128, numberAlign(size/2)
	case 0x04:
		t.Kind = reflect.Float64
	case 0x05, 0x06:
		t.Kind = reflect.Int
	case 0x07, 0x08, 0x10:
		t.Kind = reflect.Uint
	}
	switch {
	case t.Kind == reflect.Invalid:
	case size != 1 && size != 2 && size != 4 && size != 8 && size != 16, size == 16 && t.Kind != reflect.Complex128:
		// C's __int128 and long double among them.
		return &gotype.Type{Name: name, Size: size, Align: 16}
	}
	return t
}

// pointerType: what it points to is looked up when it is asked for.
func (d *Info) pointerType(name string, e *dwarf.Entry) *gotype.Type {
	to, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
	if !ok || name == "unsafe.Pointer" {
		return &gotype.Type{Name: "unsafe.Pointer", Kind: reflect.UnsafePointer, Size: 8, Align: 8}
	}
	t := &gotype.Type{Name: name, Kind: reflect.Pointer, Size: 8, Align: 8}
	if name == "" {
		t.Name = "*" + d.nameOf(to)
		switch t.Name { // of gccgo
		case "*__go_descriptor":
			return &gotype.Type{Name: "func()", Kind: reflect.Func, Size: 8, Align: 8}
		case "*__go_channel":
			return &gotype.Type{Name: "chan", Kind: reflect.Chan, Size: 8, Align: 8}
		case "*runtime.hmap":
			return &gotype.Type{Name: "map", Kind: reflect.Map, Size: 8, Align: 8}
		}
	}
	t.SetElem(d.finder(to))
	return t
}

// finder looks a type up later.
func (d *Info) finder(at dwarf.Offset) func() *gotype.Type {
	return func() *gotype.Type {
		d.mu.Lock()
		defer d.mu.Unlock()
		t := d.typeAt(at, 0)
		if t.Kind == reflect.Invalid && t.Size < 0 {
			return nil
		}
		return t
	}
}

// nameOf names a type without making it: types lead to each other in circles.
func (d *Info) nameOf(at dwarf.Offset) string {
	prefix := ""
	for range maxTypeDepth {
		e, err := d.at(at)
		if err != nil {
			break
		}
		if name, ok := e.Val(dwarf.AttrName).(string); ok {
			return prefix + typeName(name)
		}
		to, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
		switch e.Tag {
		case dwarf.TagPointerType:
			if !ok {
				return prefix + "unsafe.Pointer"
			}
			prefix += "*"
		case dwarf.TagSubroutineType:
			return prefix + "func()"
		case dwarf.TagStructType:
			first, err := d.next()
			if err != nil || first == nil {
				return prefix + "struct"
			}
			name, _ := first.Val(dwarf.AttrName).(string)
			return prefix + gccgoName(name)
		case dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType:
			if !ok {
				return prefix + "void"
			}
		default:
			ok = false
		}
		if !ok {
			break
		}
		at = to
	}
	return prefix + "?"
}

func (d *Info) arrayType(name string, size int64, e *dwarf.Entry, depth int) *gotype.Type {
	unknown := Unknown(cmpName(name, "[]?"), size)
	to, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
	if !ok {
		return unknown
	}
	count := int64(-1)
	for more := e.Children; more; {
		sub, err := d.next()
		if err != nil || sub == nil || sub.Tag == 0 {
			break
		}
		if sub.Tag != dwarf.TagSubrangeType || count >= 0 {
			return unknown // C's arrays of arrays
		}
		if n, ok := sub.Val(dwarf.AttrCount).(int64); ok {
			count = n
		} else if last, ok := sub.Val(dwarf.AttrUpperBound).(int64); ok {
			count = last + 1
		}
	}
	elem := d.typeAt(to, depth+1)
	if count < 0 || elem.Size < 0 || count > 1<<16 && elem.Size == 0 || elem.Size > 0 && count > MaxValueSize/elem.Size {
		return unknown
	}
	t := &gotype.Type{Name: name, Kind: reflect.Array, Size: count * elem.Size, Align: elem.Align, Len: count}
	if name == "" {
		t.Name = arrayName(count, elem.Name)
	}
	t.SetElem(func() *gotype.Type { return elem })
	return t
}
