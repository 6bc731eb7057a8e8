// Package capture decides what to fetch for variables, makes values of what was fetched, and writes these as
// text, as JSON and by the verbs of package fmt.
package capture

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ftgo/ftgo/internal/gotype"
)

// NotKnown is how a note begins that says of a function what is so of many: why its variables are not known.
const NotKnown = "not known: "

// State is how far a value is known.
type State uint8

const (
	Known State = iota // as far as its kind is shown at all
	// Unreadable: the kernel could not read it, or was not asked to: a pointer on the way is nil or bad.
	Unreadable
	// Unfetched: it is out of reach, as Why says: in a float register, too deep, of an unknown type.
	Unfetched
)

// Value is what a variable held.
type Value struct {
	Name  string // of the variable, the field or, for path expressions, the path
	Type  *gotype.Type
	State State
	Why   string // for Unreadable and Unfetched
	// Missing: it is Unreadable since a map has no such key, for which expressions of Go have zero.
	Missing bool

	// Num is a bool (0, 1), an integer (sign-extended if the type is signed), the bits of
	// a float (float32: the low 32), or the address in a pointer, slice, map, chan, func;
	// an interface's data word. Imag is the second part of a complex number.
	Num, Imag uint64
	Bytes     []byte  // a string's or a byte slice's, Len of them; fewer if it was cut; what two words may be
	Len, Cap  int64   // those of strings, slices, maps (Len), channels
	Items     []Value // the first elements of a slice, those of an array, a struct's fields
	Elem      *Value  // what a pointer points to or an interface holds, where it was fetched
	// Dynamic is the name of the type in an interface, or of a pointer to what was left out for its
	// size or because only the dictionary of generic code has its type, or of the function in a func value.
	// "" with Num and TypeWord 0 is nil.
	Dynamic  string
	TypeWord uint64 // an interface's type or itab address; 0 is the nil interface
}

// Nil tells whether the value is nil.
func (v *Value) Nil() bool {
	switch v.Type.Kind {
	case reflect.Interface:
		return v.TypeWord == 0
	case reflect.UnsafePointer:
		return v.State == Known && v.Num == 0 && !v.Type.IsWord()
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Chan, reflect.Func:
		return v.State == Known && v.Num == 0
	}
	return false
}

// Cut tells whether not all of a string or slice was fetched.
func (v *Value) Cut() bool {
	switch v.Type.Kind {
	case reflect.String, reflect.Struct:
		return int64(len(v.Bytes)) < v.Len || v.Len < 0
	case reflect.Slice:
		return int64(max(len(v.Bytes), len(v.Items))) < v.Len
	}
	return false
}

// OfBytes tells whether a type is a slice of bytes.
func OfBytes(t *gotype.Type) bool {
	elem := t.Elem()
	return t.Kind == reflect.Slice && elem != nil && elem.Kind == reflect.Uint && elem.Size == 1
}

// Number is a bool, an int64, a uint64, a float64 or a complex128; nil of other kinds.
func (v *Value) Number() any {
	switch v.Type.Kind {
	case reflect.Bool:
		return v.Num != 0
	case reflect.Int:
		return int64(v.Num)
	case reflect.Uint:
		return v.Num
	case reflect.Float64:
		return floatOf(v.Num, v.Type.Size)
	case reflect.Complex128:
		return v.complex()
	}
	return nil
}

func (v *Value) complex() complex128 {
	half := v.Type.Size / 2
	return complex(floatOf(v.Num, half), floatOf(v.Imag, half))
}

// floatOf is the number that bits stand for in a float of size bytes.
func floatOf(bits uint64, size int64) float64 {
	if size == 4 {
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// Part is what of a value is asked for.
type Part string

// The parts. What has a capacity has a length.
const (
	Whole Part = ""
	Len   Part = "len"
	Cap   Part = "cap"
)

// CutPart takes len(…) or cap(…) off a path.
func CutPart(text string) (part Part, path string) {
	for _, part := range [...]Part{Len, Cap} {
		if inner, found := strings.CutPrefix(text, string(part)+"("); found && strings.HasSuffix(inner, ")") {
			return part, strings.TrimSuffix(inner, ")")
		}
	}
	return Whole, text
}

var (
	intType, _    = gotype.Basic("int")
	stringType, _ = gotype.Basic("string")
)

// Of tells whether values of a kind have that part.
func (p Part) Of(k reflect.Kind) bool {
	switch k {
	case reflect.Slice, reflect.Array, reflect.Chan:
		return true
	case reflect.String, reflect.Map:
		return p == Len
	}
	return false
}

// Measure is a length or a capacity. It is not ok if that is not known, or there is none.
func (v *Value) Measure(p Part) (n int64, ok bool) {
	switch {
	case p == Whole || v.Type == nil || !p.Of(v.Type.Kind):
		return 0, false
	case v.Type.Kind == reflect.Array:
		return v.Type.Len, true
	// Of text that is unreadable the length may be known all the same.
	case v.State != Known && (v.Len == 0 || v.Type.Kind == reflect.Map || v.Type.Kind == reflect.Chan):
		return 0, false
	case p == Cap:
		return v.Cap, true
	}
	return v.Len, true
}

// Find returns the value that was fetched under a path, or its length or capacity, which may be known where the rest
// is unreadable. It is nil if there is none.
func Find(values []Value, part Part, path string) *Value {
	i := slices.IndexFunc(values, func(v Value) bool { return v.Name == path })
	if i < 0 {
		return nil
	}
	v := &values[i]
	if part == Whole {
		return v
	}
	for known(v) && v.Type != nil && (v.Type.Kind == reflect.Pointer || v.Type.Kind == reflect.Interface) {
		switch {
		case v.Nil():
			return Missing(Unreadable, nilPointer)
		case v.Elem == nil:
			return Missing(Unfetched, "")
		}
		v = v.Elem
	}
	if n, ok := v.Measure(part); ok {
		return &Value{Type: intType, Num: uint64(n)}
	} else if v.Type == nil || !known(v) {
		return v
	}
	return nil
}

// Missing stands for a value that is not there.
func Missing(state State, why string) *Value {
	return &Value{Type: &gotype.Type{}, State: state, Why: why}
}

// WholeRunes leaves out the beginning of a rune at the end of text that was cut there.
func WholeRunes(b []byte) []byte {
	for i := max(0, len(b)-utf8.UTFMax+1); i < len(b); i++ {
		if !utf8.FullRune(b[i:]) {
			return b[:i]
		}
	}
	return b
}
