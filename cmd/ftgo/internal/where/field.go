package where

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"strconv"

	"github.com/ftgo/ftgo/internal/capture"
)

// field is a variable as the kernel knows it, a string or byte slice by its length.
type field struct{ capture.Field }

// Piece is a part of a constant string that the kernel can compare at once.
type Piece struct {
	// Ref is what is compared with the string.
	Ref Ref
	// Offset is the part's place in the string, Size its bytes: 8, 4, 2 or 1.
	Offset, Size int64
	// Value is the signed number that those bytes are on x86.
	Value int64
}

// is compares the field with a number.
func (f field) is(o op, number string) string { return f.Name + " " + o.String() + " " + number }

// number writes a number for the field: kstrtoll reads it if the field is signed, else
// kstrtoull (parse_pred in kernel/trace/trace_events_filter.c).
func (f field) number(pattern uint64) string {
	if f.Signed {
		return strconv.FormatInt(int64(pattern), 10)
	}
	return strconv.FormatUint(pattern, 10)
}

// value is a number as the kernel knows it in the field, if the variable can be that
// number: the kernel cuts what is too large to the size of the field.
func (f field) value(i integer) (pattern uint64, ok bool) {
	unused := 64 - 8*f.Type.Size
	if unused < 0 || unused >= 64 {
		return 0, false
	}
	least, most := integer{}, integer{low: math.MaxUint64 >> unused}
	if f.Type.Kind == reflect.Int {
		least, most = signed(math.MinInt64>>unused), signed(math.MaxInt64>>unused)
	}
	if pattern = i.low << unused; f.Signed {
		pattern = uint64(int64(pattern) >> unused)
	} else {
		pattern >>= unused
	}
	return pattern, i.compare(least) >= 0 && i.compare(most) <= 0
}

// compare is the comparison of the variable with a constant.
func (f field) compare(o op, constant operand) (text string, ok bool) {
	i := constant.whole
	if constant.class == realClass { // without a fraction: 1e6
		if math.Trunc(constant.real) != constant.real || math.Abs(constant.real) >= 1<<63 {
			return "", false
		}
		i = signed(int64(constant.real))
	} else if constant.class != wholeClass {
		return "", false
	}
	value, ok := f.value(i)
	same := f.is(o, f.number(value))
	switch {
	case !ok:
		return "", false
	case o.equality() || f.Signed == (f.Type.Kind == reflect.Int):
		return same, true
	case !f.Signed:
		return "", false
	}
	// The upper half of an unsigned variable is negative in a signed field.
	upper := int64(value) < 0
	less := o&opLess != 0
	half := f.is(either(less, opGreaterEqual, opLess), "0")
	return "(" + half + either(less != upper, " && ", " || ") + same + ")", true
}

// maxCompared is how much of a string the kernel compares.
const maxCompared = 64

// pieces cuts a string, or the first of its bytes, into as few pieces as can be without
// reading beyond its end.
func pieces(r Ref, constant []byte) (out []Piece) {
	length := min(len(constant), maxCompared)
	for b := constant[:length]; len(b) > 0; {
		size := int64(1) << min(bits.Len(uint(len(b)))-1, 3)
		var word [8]byte
		copy(word[8-size:], b)
		value := int64(binary.LittleEndian.Uint64(word[:])) >> (64 - 8*size)
		out = append(out, Piece{r, int64(length - len(b)), size, value})
		b = b[size:]
	}
	return out
}

// textCompare compares a string with a constant: its length first. It is exact only for "": a
// piece that the kernel could not read is 0, and then the call must pass, since the comparison
// is unknown.
func (f field) textCompare(ref Ref, o op, constant []byte) (p Push, ok bool) {
	p = exactly(f.is(o, strconv.Itoa(len(constant))))
	if len(constant) == 0 {
		return p, true
	} else if o == opNotEqual && len(constant) > maxCompared {
		return p, false
	}
	p.Exact = false
	for _, piece := range pieces(ref, constant) {
		one := Push{text: fmt.Sprintf("%s %s %d", placeholder, o, piece.Value), pieces: []Piece{piece}}
		switch unread := (Push{text: placeholder + " == 0", pieces: one.pieces}); {
		case o == opNotEqual && piece.Value == 0:
			return p, false
		case piece.Value != 0 && o == opEqual:
			one = one.join(" || ", unread)
		}
		p.text += either(o == opEqual, " && ", " || ") + one.text
		p.pieces = append(p.pieces, one.pieces...)
	}
	p.text = "(" + p.text + ")"
	return p, true
}
