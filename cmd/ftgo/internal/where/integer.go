package where

import (
	"cmp"
	"math"
	"math/bits"
)

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
