// Package madeup makes values as programs have them, for tests.
package madeup

import (
	"math"
	"reflect"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/gotype"
)

// Typed returns the type of that name: a predeclared one, or one of that kind.
func Typed(name string, kind reflect.Kind, size int64) *gotype.Type {
	return &gotype.Type{Name: name, Kind: kind, Size: size}
}

// Basic returns the predeclared type of that name.
func Basic(name string) *gotype.Type {
	t, ok := gotype.Basic(name)
	if !ok {
		panic("no predeclared type " + name)
	}
	return t
}

// Num returns a number of a predeclared type.
func Num(typ string, n int64) capture.Value { return capture.Value{Type: Basic(typ), Num: uint64(n)} }

// Float64 returns a float64.
func Float64(f float64) capture.Value {
	return capture.Value{Type: Basic("float64"), Num: math.Float64bits(f)}
}

// Str returns a string.
func Str(s string) capture.Value { return CutStr(s, int64(len(s))) }

// CutStr is a string of length of which s was fetched.
func CutStr(s string, length int64) capture.Value {
	return capture.Value{Type: Basic("string"), Bytes: []byte(s), Len: length, Num: 0xc000000100}
}

// ByteSlice returns a slice of bytes, of which s was fetched.
func ByteSlice(s string, length, capacity int64) capture.Value {
	return capture.Value{Type: gotype.SliceOf(Basic("uint8")), Bytes: []byte(s), Len: length, Cap: capacity, Num: 0xc000000100}
}

// Ints returns a slice of ints, of which items were fetched.
func Ints(length, capacity int64, items ...int64) capture.Value {
	v := capture.Value{Type: gotype.SliceOf(Basic("int")), Len: length, Cap: capacity, Num: 0xc000000100}
	for _, n := range items {
		v.Items = append(v.Items, Num("int", n))
	}
	return v
}

// Struct returns a struct of fields.
func Struct(name string, fields ...capture.Value) capture.Value {
	t := Typed(name, reflect.Struct, 8)
	for _, f := range fields {
		t.Fields = append(t.Fields, gotype.Field{Name: f.Name, Type: f.Type})
	}
	return capture.Value{Type: t, Items: fields}
}

// Pointer returns a pointer to a value.
func Pointer(to capture.Value) capture.Value {
	return capture.Value{Type: gotype.PointerTo(to.Type), Num: 0xc000012345, Elem: &to}
}

// Interface returns an interface that holds a value of the type.
func Interface(typ string, v capture.Value) capture.Value {
	return capture.Value{Type: Basic(typ), TypeWord: 0x4a1b20, Num: v.Num, Dynamic: v.Type.Name, Elem: &v}
}

// Named gives a value a name.
func Named(name string, v capture.Value) capture.Value {
	v.Name = name
	return v
}

// Unreadable returns a value that could not be read.
func Unreadable(why string) capture.Value {
	return capture.Value{Type: Basic("string"), State: capture.Unreadable, Reason: why}
}

// Unfetched returns a value that was not fetched.
func Unfetched(why string) capture.Value {
	return capture.Value{Type: Basic("float64"), State: capture.Unfetched, Reason: why}
}

// Time returns a time.Time.
func Time(wall uint64, ext int64) capture.Value {
	return Struct("time.Time", Named("wall", Num("uint64", int64(wall))), Named("ext", Num("int64", ext)),
		Named("loc", capture.Value{Type: gotype.PointerTo(Typed("time.Location", reflect.Struct, 8))}))
}

// ErrorString returns an error of errors.New.
func ErrorString(s capture.Value) capture.Value {
	return Interface("error", Pointer(Struct("errors.errorString", Named("s", s))))
}

// Errno returns a syscall.Errno as an error.
func Errno(n int64) capture.Value {
	return Interface("error", capture.Value{Type: Typed("syscall.Errno", reflect.Uint, 8), Num: uint64(n)})
}

// PathError returns an error like that of os.Open.
func PathError(typ string, op, path, err capture.Value) capture.Value {
	return Interface("error", Pointer(Struct(typ, Named("Op", op), Named("Path", path), Named("Err", err))))
}

// HostileNames are names made to do something to the reader's terminal or spreadsheet.
var HostileNames = []string{
	"\x1b[2J\x1b]0;owned\x07", "line\nbreak", "tab\tstop\r\b", "c1\u009b31m\u0085", "del\x7f",
	"bad\xff\xfe\x9butf8", "rtl\u202e\u2066\u200f", "sep\u2028\u2029", "zero\u200b\ufeffwidth", "tag\U000e0041",
	"private\ue000", "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "comma,\"quote\"", "", "  blank  ", "\x00",
	"世界.日本語", "<script>&amp;",
}
