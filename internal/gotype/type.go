// Package gotype describes the memory layout of Go types (64 bits, little-endian).
package gotype

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Type is a Go type. Types may refer to each other in cycles, so Elem, Group and Constant look up their result on the
// first call.
type Type struct {
	// Name is the type as Go spells it: "int", "*main.T", "time.Duration".
	Name string
	// Kind is Int for all signed integers, Uint for all unsigned integers and uintptr, Float64 for both sizes of
	// floats, Complex128 for both sizes of complex numbers, and Invalid for a type of which at most the size is known.
	Kind reflect.Kind
	// Size and Align are in bytes. Size is negative if it is unknown.
	Size, Align int64
	// Len is the length of an array, and otherwise 0.
	Len int64
	// Fields are the fields of a struct, in order of offset.
	Fields []Field
	// Methods is true for an interface type with methods. The first word of such an interface is an itab pointer
	// instead of a type pointer.
	Methods bool
	// Direct is true if the second word of an interface is the value itself: a pointer, or a struct or array of one
	// pointer. Otherwise the second word points to the value. Only types decoded from the runtime's type data set
	// Direct.
	Direct bool

	// elem, group and constants compute the results of Elem, Group and Constant; nil if unknown.
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

// Elem returns the type that a pointer points to, or the element type of a slice, array, map or channel. It returns
// nil if the type is unknown.
func (t *Type) Elem() *Type { return found(t.elem) }

// SetElem sets the function that computes Elem. It runs once, on the first call of Elem.
func (t *Type) SetElem(find func() *Type) { t.elem = sync.OnceValue(find) }

// Group returns the struct in which a Swiss map stores a group of eight slots, or nil if it is unknown.
func (t *Type) Group() *Type { return found(t.group) }

// SetGroup sets the function that computes Group. It runs once, on the first call of Group.
func (t *Type) SetGroup(find func() *Type) { t.group = sync.OnceValue(find) }

// Constant returns the name of a constant of this type with the given value, as source files spell it, or "" if no such
// constant is known.
func (t *Type) Constant(value uint64) string { return found(t.constants)[value] }

// SetConstants sets the function that returns the names of constants by value. It runs once, on the first call of
// Constant.
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

// Basic returns the predeclared type with the given name, including "error", "any" and "unsafe.Pointer".
func Basic(name string) (t *Type, ok bool) {
	b, ok := basic[name]
	if !ok {
		return nil, false
	}
	t = &Type{Name: name, Kind: b.kind, Size: b.size, Align: min(b.size, 8), Methods: name == "error"}
	if b.kind == reflect.Complex128 { // aligned like its parts
		t.Align = b.size / 2
	}
	return t, true
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

// Names of types of a goroutine's labels, which no type in a program has. LabelList is a pointer to a list of keys and values in the
// order of the keys, LabelMap a map of strings (runtime/pprof/label.go since Go 1.24, and before).
const (
	LabelList = "label list"
	LabelMap  = "label map"
)

// IsWord reports whether t is a placeholder for argument words of unknown type, of which only the size is known. A
// word is named "word", or "word8", "word16" or "word32" if it is smaller, and its name ends with "?" if its register
// is uncertain. Several words are a struct named "{word, word8}"; the name ends with "…}" if the list is incomplete.
func (t *Type) IsWord() bool {
	return t.Kind == reflect.UnsafePointer && strings.HasPrefix(t.Name, "word") || t.Kind == reflect.Struct && strings.HasPrefix(t.Name, "{")
}

// Named returns a copy of the type with another name.
func (t *Type) Named(name string) *Type {
	named := *t
	named.Name = name
	return &named
}

// FieldOffset returns the byte offset of the field that path leads to: a field of t, then a field of that field, and
// so on.
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
