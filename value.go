package ftgo

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/valuetext"
)

// Value is what an argument or a result was, or a part of one.
type Value struct{ of capture.Value }

// Name is that of the variable or field, "" for elements.
func (v Value) Name() string { return v.of.Name }

// String is the value on one line, much as Go spells it. Nothing in it is not printable. What is
// missing at the end of a long text or slice is told: "abc"…+4093.
func (v Value) String() string { return valuetext.Text(&v.of) }

// Any is the value as a bool, int64, uint64, float64, complex128, string or []byte; of structs,
// arrays and slices a []Value; of what a pointer points to or an interface holds, if that was
// fetched, and else its address; of maps and channels their length; of functions their name. The
// interface of an error is its message. Of what is nil it is nil. If the value is not known, it is
// an error.
//
// Of strings the first 64 bytes are fetched, and of slices the first 8 elements.
func (v Value) Any() any {
	of := &v.of
	switch {
	case of.State != capture.Known || of.Type == nil:
		return errors.New(v.String())
	case of.Nil():
		return nil
	}
	switch of.Type.Kind {
	case reflect.Bool:
		return of.Num != 0
	case reflect.Int:
		return int64(of.Num)
	case reflect.Float64:
		return valuetext.Float(of.Num, of.Type.Size)
	case reflect.Complex128:
		half := of.Type.Size / 2
		return complex(valuetext.Float(of.Num, half), valuetext.Float(of.Imag, half))
	case reflect.String:
		return string(of.Bytes)
	case reflect.Slice:
		if of.Bytes != nil {
			return of.Bytes
		}
		return valuesOf(of.Items)
	case reflect.Array:
		return valuesOf(of.Items)
	case reflect.Struct:
		return valuesOf(of.Fields)
	case reflect.Map, reflect.Chan:
		return of.Len
	}
	if message, isError := valuetext.ErrorMessage(of); isError {
		return string(message.Bytes)
	}
	switch {
	case of.Elem != nil:
		return Value{*of.Elem}.Any()
	case of.Type.Kind == reflect.Func && of.Dynamic != "":
		return of.Dynamic
	}
	return of.Num
}

func valuesOf(all []capture.Value) []Value {
	out := make([]Value, len(all))
	for i := range all {
		out[i].of = all[i]
	}
	return out
}

func captured(values []Value) []capture.Value {
	out := make([]capture.Value, len(values))
	for i := range values {
		out[i] = values[i].of
	}
	return out
}

// missing is a value that a call has not.
func missing(name string) Value {
	return Value{capture.Value{Name: name, State: capture.Unfetched, Why: fmt.Sprintf("no value %q", name)}}
}
