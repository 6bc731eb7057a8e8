// Package gotype describes Go types as they lie in memory (64 bits, little-endian).
package gotype

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Type is a Go type. Types lead to each other in circles: what a pointer, slice, map or
// channel leads to is looked up when it is asked for.
type Type struct {
	// Name is the type as Go spells it: "int", "*main.T", "time.Duration".
	Name string
	// Kind is Int for all signed integers, Uint for unsigned ones, uintptr among them, Float64 and
	// Complex128 for both sizes, and Invalid for a type of which only the size is known, if that.
	Kind reflect.Kind
	// Size and Align are in bytes.
	Size, Align int64
	// Len is the number of an array's elements.
	Len int64
	// Fields are a struct's, in order of offset.
	Fields []Field
	// Methods: it is an interface type that has methods, so that its first word is an
	// itab and no type.
	Methods bool
	// Direct: an interface's second word is the value itself, a pointer or a struct or array of
	// just one; else it points to the value. Only types that the runtime has tell.
	Direct bool
	// Dictionary is set for what a type parameter stands for: this is the shape of the type, which is
	// entry Dictionary-1 of the dictionary that the function is passed.
	Dictionary int

	// These find Elem, Group and what Constant knows, and keep it.
	elem, group func() *Type
	constants   func() map[uint64]string
}

// Field is a field of a struct.
type Field struct {
	Name     string
	Offset   int64 // bytes from the start of the struct
	Type     *Type
	Embedded bool
}

// Elem is what a pointer points to, and what a slice, array, map or channel holds; nil if it
// is not known.
func (t *Type) Elem() *Type { return found(t.elem) }

// SetElem tells how to find Elem, which is done when it is first asked for.
func (t *Type) SetElem(find func() *Type) { t.elem = sync.OnceValue(find) }

// Group is the struct in which a map keeps eight of its keys and elements; nil if it is not known.
func (t *Type) Group() *Type { return found(t.group) }

// SetGroup tells how to find Group, which is done when it is first asked for.
func (t *Type) SetGroup(find func() *Type) { t.group = sync.OnceValue(find) }

// Constant is the name of the constant of a type that has a value, as source files spell it, "" if
// there is none.
func (t *Type) Constant(value uint64) string { return found(t.constants)[value] }

// SetConstants tells how to find the names of constants by their values, which is done when one is
// first asked for.
func (t *Type) SetConstants(find func() map[uint64]string) { t.constants = sync.OnceValue(find) }

func found[T any](find func() T) (none T) {
	if find == nil {
		return none
	}
	return find()
}

// PointerTo returns the type *elem.
func PointerTo(elem *Type) *Type {
	return &Type{Name: "*" + elem.Name, Kind: reflect.Pointer, Size: 8, Align: 8, elem: func() *Type { return elem }}
}

// SliceOf returns the type []elem.
func SliceOf(elem *Type) *Type {
	return &Type{Name: "[]" + elem.Name, Kind: reflect.Slice, Size: 24, Align: 8, elem: func() *Type { return elem }}
}

// Basic returns the predeclared type of that name, "error" and "any" among them.
func Basic(name string) (t *Type, ok bool) {
	b, ok := basic[name]
	if !ok {
		return nil, false
	}
	return &Type{Name: name, Kind: b.kind, Size: b.size, Align: align(b.kind, b.size), Methods: name == "error"}, true
}

var basic = map[string]struct {
	kind reflect.Kind
	size int64
}{
	"bool": {reflect.Bool, 1},
	"int8": {reflect.Int, 1}, "int16": {reflect.Int, 2}, "int32": {reflect.Int, 4}, "rune": {reflect.Int, 4}, "int64": {reflect.Int, 8}, "int": {reflect.Int, 8},
	"uint8": {reflect.Uint, 1}, "byte": {reflect.Uint, 1}, "uint16": {reflect.Uint, 2}, "uint32": {reflect.Uint, 4}, "uint64": {reflect.Uint, 8}, "uint": {reflect.Uint, 8}, "uintptr": {reflect.Uint, 8},
	"float32": {reflect.Float64, 4}, "float64": {reflect.Float64, 8}, "complex64": {reflect.Complex128, 8}, "complex128": {reflect.Complex128, 16},
	"string": {reflect.String, 16}, "error": {reflect.Interface, 16}, "any": {reflect.Interface, 16}, "interface {}": {reflect.Interface, 16},
	"unsafe.Pointer": {reflect.UnsafePointer, 8},
}

// align is that of a predeclared type: a complex number's is that of its parts.
func align(k reflect.Kind, size int64) int64 {
	if k == reflect.Complex128 {
		size /= 2
	}
	return min(size, 8)
}

// IsWord tells of types that stand for none: of a word of an argument nothing but its size is known. It
// is "word", "word8" … of fewer bits, and ends with "?" if the word may be another one's. Those of several are structs,
// "{word, word8}", which end with "…" if they are not all.
func (t *Type) IsWord() bool {
	return t.Kind == reflect.UnsafePointer && strings.HasPrefix(t.Name, "word") || t.Kind == reflect.Struct && strings.HasPrefix(t.Name, "{")
}

// Named returns the type under another name.
func (t *Type) Named(name string) *Type {
	named := *t
	named.Name = name
	return &named
}

// FieldOffset is where a struct has a field, or a field of that.
func (t *Type) FieldOffset(path ...string) (offset int64, ok bool) {
	for _, name := range path {
		i := slices.IndexFunc(t.Fields, func(f Field) bool { return f.Name == name })
		if i < 0 {
			return 0, false
		}
		offset, t = offset+t.Fields[i].Offset, t.Fields[i].Type
	}
	return offset, true
}
