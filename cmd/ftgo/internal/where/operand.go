package where

import (
	"cmp"
	"math"
	"math/bits"
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
	if part == capture.Whole || v == nil {
		return read(v)
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

// integer is a whole number of up to 64 bits and a sign, so that int64 and uint64 meet
// without wrapping around: the upper and the lower word of its two's complement.
type integer struct {
	high int64
	low  uint64
}

func signed(i int64) integer { return integer{i >> 63, uint64(i)} }

func (i integer) compare(j integer) int {
	return cmp.Or(cmp.Compare(i.high, j.high), cmp.Compare(i.low, j.low))
}

// fits tells whether that many bits and a sign are enough.
func (i integer) fits() bool { return i.high == 0 || i.high == -1 && i.low != 0 }

func (i integer) neg() integer {
	low, borrow := bits.Sub64(0, i.low, 0)
	return integer{-i.high - int64(borrow), low}
}

func (i integer) abs() uint64 {
	if i.high < 0 {
		return -i.low
	}
	return i.low
}

// withSign is a number of that absolute value.
func withSign(abs uint64, negative bool) integer {
	if negative {
		return integer{0, abs}.neg()
	}
	return integer{0, abs}
}

func (i integer) float() float64 {
	return math.Copysign(float64(i.abs()), float64(i.high))
}

// calculate is i o j; not ok if the result has more than 64 bits, or there is none.
// Division truncates, and the remainder has the sign of i, as in Go; & is as if negative
// numbers began with infinitely many ones.
func (i integer) calculate(o op, j integer) (result integer, ok bool) {
	negative := i.high != j.high
	switch {
	case o == opAdd:
		low, carry := bits.Add64(i.low, j.low, 0)
		result = integer{i.high + j.high + int64(carry), low}
	case o == opSub:
		return i.calculate(opAdd, j.neg())
	case o == opBits:
		result = integer{i.high & j.high, i.low & j.low}
	case o == opMul:
		overflow, abs := bits.Mul64(i.abs(), j.abs())
		return withSign(abs, negative), overflow == 0
	case j.low == 0:
		return integer{}, false
	case o == opDiv:
		result = withSign(i.abs()/j.abs(), negative)
	case o == opRem:
		result = withSign(i.abs()%j.abs(), i.high < 0)
	}
	return result, result.fits()
}

// compareFloat compares a whole number with any other, exactly. Not ok: f is no number.
func (i integer) compareFloat(f float64) (order int, ok bool) {
	whole, fraction := math.Modf(f)
	switch {
	case math.IsNaN(f):
		return 0, false
	case whole >= 1<<64:
		return -1, true
	case whole <= -(1 << 64):
		return 1, true
	}
	return cmp.Or(i.compare(withSign(uint64(math.Abs(whole)), whole < 0)), cmp.Compare(0, fraction)), true
}
