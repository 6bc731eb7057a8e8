package where

import (
	"math"
	"reflect"
)

// unsigned tells whether the variable is an unsigned number.
func (f Field) unsigned() bool { return f.Type.Kind != reflect.Int }

// value is a number as the kernel knows it in the field, if the variable can be that
// number: the kernel cuts what is too large to the size of the field.
func (f Field) value(i integer) (number, bool) {
	bits := uint(8 * f.Type.Size)
	n := number{i.pattern(), f.Signed}
	switch {
	case bits == 0 || bits > 64:
		return n, false
	case f.unsigned() && (i.negative || i.abs > math.MaxUint64>>(64-bits)):
		return n, false
	case !f.unsigned() && (i.negative && i.abs > 1<<(bits-1) || !i.negative && i.abs >= 1<<(bits-1)):
		return n, false
	case f.Signed:
		n.pattern = uint64(int64(n.pattern<<(64-bits)) >> (64 - bits))
	default:
		n.pattern = n.pattern << (64 - bits) >> (64 - bits)
	}
	return n, true
}

// compare is the comparison of the variable with a constant.
func (f Field) compare(o op, constant operand) (cond, bool) {
	i := constant.whole
	if constant.class == realClass {
		var ok bool
		if i, ok = integral(constant.real); !ok {
			return nil, false
		}
	} else if constant.class != wholeClass {
		return nil, false
	}
	value, ok := f.value(i)
	same := numeric{f.Name, o, value}
	switch {
	case !ok:
		return nil, false
	case o == opEqual || o == opNotEqual || f.Signed != f.unsigned():
		return same, true
	case !f.Signed:
		return nil, false
	}
	// The upper half of an unsigned variable is negative in a signed field.
	upper := int64(value.pattern) < 0
	less := o == opLess || o == opLessEqual
	half := numeric{f.Name, either(less, opGreaterEqual, opLess), number{0, true}}
	return junction{less != upper, half, same}, true
}

// integral is a number without a fraction as an integer: 1e6.
func integral(f float64) (integer, bool) {
	if math.Trunc(f) != f || math.Abs(f) >= 1<<63 {
		return integer{}, false
	}
	return signed(int64(f)), true
}
