package ftrace

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// maxDigits is how many digits a decimal number has that can't overflow 64 bits.
const maxDigits = 19

// decimal reads the digits at line[i:]; next is the byte behind them. It is not ok if there are
// none, or too many.
func decimal(line []byte, i int) (v uint64, next int, ok bool) {
	start := i
	for len(line)-i >= 8 && i-start < 16 {
		d, n := digits(binary.LittleEndian.Uint64(line[i:]))
		v = v*powers[n] + d
		i += n
		if n < 8 {
			return v, i, i > start
		}
	}
	for i < len(line) {
		d := line[i] - '0'
		if d > 9 {
			break
		}
		if i-start >= maxDigits && v > (math.MaxUint64-uint64(d))/10 {
			return 0, start, false
		}
		v = v*10 + uint64(d)
		i++
	}
	return v, i, i > start
}

// usual reads what most numbers are, up to 15 decimal digits with as many bytes behind
// them that 16 can be read; n is how many digits. It is 0 for all else, which is left to
// decimal or value.
func usual(line []byte, i int) (v uint64, n int) {
	if len(line)-i < 16 {
		return 0, 0
	}
	v, n = digits(binary.LittleEndian.Uint64(line[i:]))
	if n == 8 {
		low, more := digits(binary.LittleEndian.Uint64(line[i+8:]))
		if more == 8 {
			return 0, 0
		}
		return v*powers[more] + low, 8 + more
	}
	if n == 1 && line[i+1] == 'x' {
		return 0, 0
	}
	return v, n
}

var powers = [9]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// digits is the number that the first n of eight bytes make, the first byte in
// the lowest bits; those n are decimal digits and the next is not. A line is
// mostly digits, and taking them one by one took a third of its time.
func digits(b uint64) (v uint64, n int) {
	const (
		zeros = 0x3030303030303030
		above = 0x7676767676767676 // carries a byte above 9 into its top bit
		top   = 0x8080808080808080
		pair  = 0x000000ff000000ff
	)
	b ^= zeros
	n = bits.TrailingZeros64((b|(b+above))&top) / 8
	// The digits go to the upper end, after zeros: a shift by 64 leaves nothing.
	b <<= 64 - 8*n
	// Neighbours join to pairs of digits, those to fours, and those to eight.
	b = b*10 + b>>8
	v = (b&pair*(100+1000000<<32) + b>>16&pair*(1+10000<<32)) >> 32
	return v, n
}

// hexValue is a digit's value plus 1, so that 0 is no digit.
var hexValue = func() (t [256]byte) {
	for i := range 10 {
		t['0'+i] = byte(i + 1)
	}
	for i := range 6 {
		t['a'+i] = byte(i + 11)
	}
	return t
}()

// hex reads hexadecimal digits as decimal does; the kernel prints lower case.
func hex(line []byte, i int) (v uint64, next int, ok bool) {
	start := i
	for i < len(line) {
		d := hexValue[line[i]]
		if d == 0 {
			break
		}
		if v>>60 != 0 {
			return 0, start, false
		}
		v = v<<4 | uint64(d-1)
		i++
	}
	return v, i, i > start
}

// smallDecimal reads the digits at line[i:], of what the kernel keeps in an int:
// ids and CPUs.
func smallDecimal(line []byte, i int) (v int, ok bool) {
	u, _, ok := decimal(line, i)
	return int(u), ok && u <= math.MaxInt32
}

// fault is what the kernel prints instead of a string that it couldn't read
// (kernel/trace/trace_probe.c, print_type_string). A number that it couldn't
// read is 0, and so is this.
const fault = "(fault)"

// value reads one fetched value: 0x and hexadecimal, decimal with or without
// sign, or the word for a fault.
func value(line []byte, i int) (v uint64, next int, ok bool) {
	if i >= len(line) {
		return 0, i, false
	}
	switch c := line[i]; {
	case c == '0' && i+1 < len(line) && line[i+1] == 'x':
		return hex(line, i+2)
	case c == '(' && len(line)-i >= len(fault) && string(line[i:i+len(fault)]) == fault:
		return 0, i + len(fault), true
	case c == '-':
		v, next, ok = decimal(line, i+1)
		return -v, next, ok && v <= -math.MinInt64
	default:
		return decimal(line, i)
	}
}
