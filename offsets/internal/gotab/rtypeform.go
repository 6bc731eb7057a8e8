package gotab

import "reflect"

// rtypeForm is how a range of Go's versions lays out a runtime._type (runtime/type.go,
// reflect/type.go, internal/abi/type.go). Numbers are byte offsets.
type rtypeForm struct {
	oldest int // minor version of Go

	align, kind, name uint64
	// size is that of the _type, behind which the words follow that depend on the kind;
	// 0 if not known.
	size uint64
	// interned: name and the names of fields are in runtime.types, where a byte of flags
	// and the length precede the text; before, they are addresses of strings.
	interned bool
	// varint: that length is a varint, else 2 bytes, big-endian.
	varint bool
	// shifted: the lowest bit of a field's offset tells an embedded field, the others are
	// the number. flagged: a bit in its name does. Without either it is one without a
	// name.
	shifted, flagged bool
	// directFlag: that a value is its interface's data word is said in tflag, not kind.
	directFlag bool
}

// rtypeForms begin with the latest. Of 1.6 the names and kinds alone are known.
var rtypeForms = []rtypeForm{
	{oldest: 26, align: 21, kind: 23, name: 40, size: 48, interned: true, varint: true, flagged: true, directFlag: true},
	{oldest: 20, align: 21, kind: 23, name: 40, size: 48, interned: true, varint: true, flagged: true}, // covctrs
	{oldest: 19, align: 21, kind: 23, name: 40, size: 48, interned: true, varint: true, flagged: true},
	{oldest: 17, align: 21, kind: 23, name: 40, size: 48, interned: true, varint: true, shifted: true},
	{oldest: 9, align: 21, kind: 23, name: 40, size: 48, interned: true, shifted: true}, // type aliases
	{oldest: 7, align: 21, kind: 23, name: 40, size: 48, interned: true},
	{oldest: 6, align: 21, kind: 23, name: 40},
	{oldest: 5, align: 21, kind: 23, name: 40, size: 72},
	{oldest: 4, align: 13, kind: 15, name: 40, size: 72},
}

func rtypeFormOf(minor int) *rtypeForm {
	for i := range rtypeForms {
		if minor >= rtypeForms[i].oldest {
			return &rtypeForms[i]
		}
	}
	return nil
}

// Bits of a _type's tflag, which is a byte at offset 20 since Go 1.7, of its kind, and
// of the flags that precede a name.
const (
	tflagAt        = 20
	tflagExtraStar = 1 << 1
	tflagNamed     = 1 << 2
	tflagDirect    = 1 << 5

	kindMask   = 1<<5 - 1
	kindDirect = 1 << 5

	nameEmbedded = 1 << 3
)

// rtypeKind is a kind as the runtime numbers it (reflect.Kind).
type rtypeKind struct {
	kind reflect.Kind
	size uint64 // of every type of that kind; 0: they differ
	// literal is what the names of types that were not declared begin with; "" if there
	// are none.
	literal string
}

var rtypeKinds = [...]rtypeKind{
	1: {reflect.Bool, 1, ""},
	2: {reflect.Int, 8, ""}, 3: {reflect.Int, 1, ""}, 4: {reflect.Int, 2, ""}, 5: {reflect.Int, 4, ""}, 6: {reflect.Int, 8, ""},
	7: {reflect.Uint, 8, ""}, 8: {reflect.Uint, 1, ""}, 9: {reflect.Uint, 2, ""}, 10: {reflect.Uint, 4, ""}, 11: {reflect.Uint, 8, ""},
	12: {reflect.Uint, 8, ""}, // uintptr
	13: {reflect.Float64, 4, ""}, 14: {reflect.Float64, 8, ""}, 15: {reflect.Complex128, 8, ""}, 16: {reflect.Complex128, 16, ""},
	17: {reflect.Array, 0, "["},
	18: {reflect.Chan, 8, ""}, // chan and <-chan
	19: {reflect.Func, 8, "func("},
	20: {reflect.Interface, 16, "interface {"},
	21: {reflect.Map, 8, "map["},
	22: {reflect.Pointer, 8, "*"},
	23: {reflect.Slice, 24, "[]"},
	24: {reflect.String, 16, ""},
	25: {reflect.Struct, 0, "struct {"},
	26: {reflect.UnsafePointer, 8, ""},
}
