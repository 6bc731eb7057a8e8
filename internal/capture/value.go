// Package capture plans which words the kernel fetches for variables, decodes the fetched words into values, and writes
// values as text, as JSON, and with the verbs of package fmt.
package capture

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ftgo/ftgo/internal/gotype"
)

// NotKnown begins the note of a function whose variables are not known for a reason that many functions share. Lines of
// calls do not show such notes.
const NotKnown = "not known: "

// State says whether a value is known.
type State uint8

const (
	Known State = iota
	// Unreadable: the value does not exist or the kernel could not read it, for example because a pointer on the way
	// to it is nil or invalid.
	Unreadable
	// Unfetched: the value was not fetched, for example because it is in a floating-point register, behind too many
	// pointers, or of an unknown type.
	Unfetched
)

// Value is the value of a variable, or of a part of it.
type Value struct {
	Name   string // the name of a variable or field, or the path that the user gave
	Type   *gotype.Type
	State  State
	Reason string // the reason if it is Unreadable or Unfetched
	// NoKey: it is Unreadable because a map lacks the key. In Go, the expression would be the zero value.
	NoKey bool

	// Num is a bool (0, 1), an integer (sign-extended if the type is signed), the bits of a float (float32: the low
	// 32), the address in a pointer, string, slice, map, channel or func, or an interface's data word. Imag are the
	// bits of the imaginary part of a complex number.
	Num, Imag uint64
	// Bytes are the first bytes of a string or byte slice. A struct can stand for two words of unknown type. If these
	// words look like the address and length of a string, Bytes and Len are that string. Otherwise, Bytes is nil.
	Bytes []byte
	// Len is the length of a string, slice, array or map, or the number of elements in a channel; -1 if the length of
	// a string is not known. Cap is the capacity of a slice or channel.
	Len, Cap int64
	Items    []Value // the first elements of a slice or array, or the fields of a struct
	Elem     *Value  // a pointer's target or an interface's dynamic value, nil if not fetched
	// Dynamic is the name of an interface's dynamic type, or of the function in a func value. It is the name of a
	// pointer's type if the target is not shown, because it is too large.
	Dynamic  string
	TypeWord uint64 // the address of an interface's type or itab, 0 in a nil interface
}

// Nil reports whether the value is nil.
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

// Cut reports whether only a part was fetched of a string, of a slice, or of two words that may be a string (see Bytes).
func (v *Value) Cut() bool {
	switch v.Type.Kind {
	case reflect.String, reflect.Struct:
		return int64(len(v.Bytes)) < v.Len || v.Len < 0
	case reflect.Slice:
		return int64(max(len(v.Bytes), len(v.Items))) < v.Len
	}
	return false
}

// AppendKey appends the value in a form that is equal for equal values: of whole numbers and addresses, strings and slices of
// bytes, and structs and arrays of such. ok is false if the value is unknown, or not known as a whole.
func (v *Value) AppendKey(b []byte) (key []byte, ok bool) {
	switch kind := v.Type.Kind; {
	case v.State != Known, v.Cut(), kind == reflect.Array && int64(len(v.Items)) < v.Len:
		return b, false
	case kind == reflect.String || kind == reflect.Slice:
		return append(binary.AppendUvarint(b, uint64(len(v.Bytes))), v.Bytes...), true
	case kind == reflect.Array || kind == reflect.Struct:
		for i := range v.Items {
			if b, ok = v.Items[i].AppendKey(b); !ok {
				return b, false
			}
		}
		return b, true
	}
	return binary.AppendUvarint(b, v.Num), true
}

// IsByteSlice reports whether a type is a slice of bytes.
func IsByteSlice(t *gotype.Type) bool {
	elem := t.Elem()
	return t.Kind == reflect.Slice && elem != nil && elem.Kind == reflect.Uint && elem.Size == 1
}

// Number returns a bool, an int64, a uint64, a float64 or a complex128, or nil if the value is of another kind.
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
		half := v.Type.Size / 2
		return complex(floatOf(v.Num, half), floatOf(v.Imag, half))
	}
	return nil
}

// floatOf returns the float of size bytes with the given bits.
func floatOf(bits uint64, size int64) float64 {
	if size == 4 {
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// Part selects the value, its length or its capacity.
type Part string

const (
	Whole Part = ""
	Len   Part = "len"
	Cap   Part = "cap"
)

// CutPart removes len(…) or cap(…) around a path, and returns the part that it selects.
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

// AppliesTo reports whether values of kind k have part p: a length if p is Len, a capacity if p is Cap.
func (p Part) AppliesTo(k reflect.Kind) bool {
	switch k {
	case reflect.Slice, reflect.Array, reflect.Chan:
		return true
	case reflect.String, reflect.Map:
		return p == Len
	}
	return false
}

// LenOrCap returns the length or the capacity of the value. ok is false if it is not known, or the value has none.
func (v *Value) LenOrCap(p Part) (n int64, ok bool) {
	switch {
	case p == Whole || v.Type == nil || !p.AppliesTo(v.Type.Kind):
		return 0, false
	case v.Type.Kind == reflect.Array:
		return v.Type.Len, true
	// An unreadable string or slice has a length only if its header was readable: then Len is not 0.
	case v.State != Known && (v.Len == 0 || v.Type.Kind == reflect.Map || v.Type.Kind == reflect.Chan):
		return 0, false
	case p == Cap:
		return v.Cap, true
	}
	return v.Len, true
}

// Find returns the value of a path, or its length or capacity, which may be known even if the value is unreadable. It
// returns nil if no value has this path, or if the part does not apply.
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
			return Unknown(Unreadable, nilPointer)
		case v.Elem == nil:
			return Unknown(Unfetched, "not fetched")
		}
		v = v.Elem
	}
	if n, ok := v.LenOrCap(part); ok {
		return &Value{Type: intType, Num: uint64(n)}
	} else if v.Type == nil || !known(v) {
		return v
	}
	return nil
}

// Unknown returns a value with this state and reason. Its type is the zero Type.
func Unknown(state State, reason string) *Value {
	return &Value{Type: &gotype.Type{}, State: state, Reason: reason}
}

// WholeRunes removes an incomplete rune from the end of a text that was cut.
func WholeRunes(b []byte) []byte {
	for i := max(0, len(b)-utf8.UTFMax+1); i < len(b); i++ {
		if !utf8.FullRune(b[i:]) {
			return b[:i]
		}
	}
	return b
}
