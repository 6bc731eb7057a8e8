package where

import (
	"math"
	"reflect"

	"github.com/ftgo/ftgo/internal/capture"
)

// operand is a value as operators see it.
type operand struct {
	// class has one bit set of those that say which of the fields below holds the value;
	// 0 is a value that is not known or that nothing compares with.
	class class
	truth bool
	whole integer
	real  float64
	text  text
	// isNil tells whether the value is nil; Unknown too for one that can't be.
	isNil Truth
	// iface is a non-nil interface.
	iface *capture.Value
}

func wholeOperand(i integer) operand     { return operand{class: wholeClass, whole: i} }
func realOperand(f float64) operand      { return operand{class: realClass, real: f} }
func textOperand(t text) operand         { return operand{class: textClass, text: t} }
func stringOperand(s []byte) operand     { return textOperand(text{s, int64(len(s))}) }
func (o operand) number() bool           { return o.class&numberClass != 0 }
func (o operand) withNil(b bool) operand { o.isNil = truth(b); return o }

// float is the operand as a number with fraction.
func (o operand) float() float64 {
	if o.class == wholeClass {
		return o.whole.float()
	}
	return o.real
}

// readRef is what of a value is asked for.
func readRef(v *capture.Value, part Part) operand {
	switch {
	case v == nil || v.Type == nil:
		return operand{}
	case part == Whole:
		return read(v)
	case v.Type.Kind == reflect.Array:
		return wholeOperand(signed(v.Type.Len))
	}
	switch v.Type.Kind {
	case reflect.String, reflect.Slice:
		// Of one that is unreadable the length may be known all the same.
		if v.State != capture.Known && v.Len == 0 {
			return operand{}
		}
	case reflect.Map, reflect.Chan:
		if v.State != capture.Known {
			return operand{}
		}
	default:
		return operand{}
	}
	if part == Cap {
		return wholeOperand(signed(v.Cap))
	}
	return wholeOperand(signed(v.Len))
}

// read makes an operand of a value.
func read(v *capture.Value) operand {
	if v == nil || v.Type == nil {
		return operand{}
	}
	known := v.State == capture.Known
	switch v.Type.Kind {
	case reflect.Interface:
		switch {
		case v.TypeWord != 0: // not nil, whether its type is known or not
			return operand{iface: v, isNil: False}
		case known:
			return operand{class: nilClass, isNil: True}
		}
		return operand{}
	case reflect.String, reflect.Slice:
		// Text that is unreadable is known by its length still.
		switch {
		case !known && v.Len == 0:
			return operand{}
		case v.Type.Kind == reflect.String:
			return textOperand(text{v.Bytes, v.Len})
		case ofBytes(v.Type):
			return textOperand(text{v.Bytes, v.Len}).withNil(v.Num == 0)
		}
	}
	if !known {
		return operand{}
	}
	switch v.Type.Kind {
	case reflect.Bool:
		return operand{class: truthClass, truth: v.Num != 0}
	case reflect.Int:
		return wholeOperand(signed(int64(v.Num)))
	case reflect.Uint:
		return wholeOperand(integer{abs: v.Num})
	case reflect.Float64:
		if v.Type.Size == 4 {
			return realOperand(float64(math.Float32frombits(uint32(v.Num))))
		}
		return realOperand(math.Float64frombits(v.Num))
	case reflect.Pointer, reflect.UnsafePointer:
		return wholeOperand(integer{abs: v.Num}).withNil(v.Num == 0)
	case reflect.Func:
		if v.Dynamic != "" {
			return stringOperand([]byte(v.Dynamic)).withNil(false)
		}
	case reflect.Slice, reflect.Map, reflect.Chan:
	default:
		return operand{}
	}
	return operand{}.withNil(v.Num == 0)
}
