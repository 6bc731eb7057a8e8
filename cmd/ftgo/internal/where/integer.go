package where

import (
	"cmp"
	"math"
	"math/bits"
)

// integer is a whole number of up to 64 bits and a sign, so that int64 and uint64 meet
// without wrapping around. Zero is not negative.
type integer struct {
	negative bool
	abs      uint64
}

func signed(i int64) integer {
	if i < 0 {
		return integer{true, -uint64(i)}
	}
	return integer{false, uint64(i)}
}

func (i integer) compare(j integer) int {
	switch {
	case i.negative != j.negative:
		if i.negative {
			return -1
		}
		return 1
	case i.negative:
		return cmp.Compare(j.abs, i.abs)
	}
	return cmp.Compare(i.abs, j.abs)
}

func (i integer) neg() integer { return integer{!i.negative && i.abs != 0, i.abs} }

func (i integer) float() float64 {
	if i.negative {
		return -float64(i.abs)
	}
	return float64(i.abs)
}

// calculate is i o j; not ok if the result has more than 64 bits, or there is none.
// Division truncates, and the remainder has the sign of i, as in Go.
func (i integer) calculate(o op, j integer) (result integer, ok bool) {
	negative := i.negative != j.negative
	switch o {
	case opSub:
		j = j.neg()
		fallthrough
	case opAdd:
		if i.negative == j.negative {
			sum, carry := bits.Add64(i.abs, j.abs, 0)
			return integer{i.negative, sum}, carry == 0
		}
		if i.abs >= j.abs {
			return integer{i.negative && i.abs != j.abs, i.abs - j.abs}, true
		}
		return integer{j.negative, j.abs - i.abs}, true
	case opMul:
		high, low := bits.Mul64(i.abs, j.abs)
		return integer{negative && low != 0, low}, high == 0
	case opDiv:
		if j.abs == 0 {
			return integer{}, false
		}
		quotient := i.abs / j.abs
		return integer{negative && quotient != 0, quotient}, true
	case opRem:
		if j.abs == 0 {
			return integer{}, false
		}
		rest := i.abs % j.abs
		return integer{i.negative && rest != 0, rest}, true
	case opBits:
		return i.and(j)
	}
	return integer{}, false
}

// and is bitwise, as if negative numbers began with infinitely many ones.
func (i integer) and(j integer) (integer, bool) {
	for _, k := range []integer{i, j} {
		if k.negative && k.abs > 1<<63 {
			return integer{}, false
		}
	}
	pattern := i.pattern() & j.pattern()
	if i.negative && j.negative {
		return signed(int64(pattern)), true
	}
	return integer{false, pattern}, true
}

// pattern is the low 64 bits of the number.
func (i integer) pattern() uint64 {
	if i.negative {
		return -i.abs
	}
	return i.abs
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
	j := integer{whole < 0, uint64(math.Abs(whole))}
	if order = i.compare(j); order == 0 {
		order = cmp.Compare(0, fraction)
	}
	return order, true
}
