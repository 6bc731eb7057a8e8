package where

import (
	"reflect"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/valuetext"
)

// operand is a value as operators see it.
type operand struct {
	// class has one bit set of those that say which of the fields below holds the value;
	// 0 is a value that is not known or that nothing compares with.
	class class
	truth Truth
	whole integer
	real  float64
	text  text
	// isNil tells whether the value is nil; Unknown too for one that can't be.
	isNil Truth
	// iface is a non-nil interface.
	iface *capture.Value
}

var nilOperand = operand{class: nilClass, isNil: True}

func wholeOperand(i integer) operand     { return operand{class: wholeClass, whole: i} }
func realOperand(f float64) operand      { return operand{class: realClass, real: f} }
func textOperand(t text) operand         { return operand{class: textClass, text: t} }
func stringOperand(s []byte) operand     { return textOperand(text{s, int64(len(s))}) }
func (o operand) number() bool           { return o.class&numberClass != 0 }
func (o operand) withNil(b bool) operand { o.isNil = truth(b); return o }

func truthOperand(t Truth) operand {
	if t == Unknown {
		return operand{}
	}
	return operand{class: truthClass, truth: t}
}

// float is the operand as a number with fraction.
func (o operand) float() float64 {
	if o.class == wholeClass {
		return o.whole.float()
	}
	return o.real
}

// readRef is what of a value is asked for.
func readRef(v *capture.Value, part capture.Part) operand {
	if part == capture.Whole {
		return read(v)
	} else if v == nil {
		return operand{}
	} else if n, ok := v.Measure(part); ok {
		return wholeOperand(signed(n))
	}
	return operand{}
}

// read makes an operand of a value.
func read(v *capture.Value) operand {
	if v == nil || v.Type == nil {
		return operand{}
	}
	known := v.State == capture.Known
	kind := v.Type.Kind
	switch {
	case kind == reflect.Interface && v.TypeWord != 0: // not nil, whether its type is known or not
		return operand{iface: v, isNil: False}
	// Text that is unreadable is known by its length still.
	case kind == reflect.String && (known || v.Len != 0):
		return textOperand(text{v.Bytes, v.Len})
	case capture.OfBytes(v.Type) && (known || v.Len != 0):
		return textOperand(text{v.Bytes, v.Len}).withNil(v.Num == 0)
	case !known:
		return operand{}
	}
	switch kind {
	case reflect.Interface:
		return nilOperand
	case reflect.Bool:
		return truthOperand(truth(v.Num != 0))
	case reflect.Int:
		return wholeOperand(signed(int64(v.Num)))
	case reflect.Uint:
		return wholeOperand(integer{low: v.Num})
	case reflect.Float64:
		return realOperand(valuetext.Float(v.Num, v.Type.Size))
	case reflect.Pointer, reflect.UnsafePointer:
		return wholeOperand(integer{low: v.Num}).withNil(v.Num == 0)
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
