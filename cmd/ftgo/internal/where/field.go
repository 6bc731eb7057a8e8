package where

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/capture"
)

// field is a variable as the kernel knows it, a string or byte slice by its length.
type field struct{ capture.Field }

// Piece is a part of a constant string that the kernel can compare at once.
type Piece struct {
	// Offset is the part's place in the string, Size its bytes: 8, 4, 2 or 1.
	Offset, Size int64
	// Value is the signed number that those bytes are on x86.
	Value int64
}

// cond is a condition in the terms of the kernel, of an event's fields, as filters are written
// (Documentation/trace/events.rst, "Event filtering"): "field op number", "field & number",
// joined by && and ||, !( ).
type cond struct {
	text string
	// Each placeholder in text stands for the field that holds a piece of a string.
	pieces []piece
	exact  bool
}

type piece struct {
	ref Ref
	Piece
}

const placeholder = "\x00"

func exactly(text string) cond { return cond{text: text, exact: true} }

// size is the longest that the text can become: names have at most 31 bytes (MAX_ARG_NAME_LEN in
// kernel/trace/trace_probe.h).
func (c cond) size() int { return len(c.text) + 30*len(c.pieces) }

// join is "(c op d)", or one of both that is too long already.
func (c cond) join(op string, d cond) cond {
	switch {
	case c.size() > MaxFilter:
		return c
	case d.size() > MaxFilter:
		return d
	}
	return cond{"(" + c.text + op + d.text + ")", slices.Concat(c.pieces, d.pieces), c.exact && d.exact}
}

// Filter writes the condition for an event's filter, in parentheses where they matter
// for joining it to others. name names the fields that hold the pieces of strings.
func (p Push) Filter(name func(Ref, Piece) string) string {
	text := p.cond.text
	for _, part := range p.cond.pieces {
		text = strings.Replace(text, placeholder, name(part.ref, part.Piece), 1)
	}
	return text
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
func pieces(constant []byte) []Piece {
	var out []Piece
	length := min(len(constant), maxCompared)
	b := constant[:length]
	for _, size := range []int64{8, 4, 2, 1} {
		for int64(len(b)) >= size {
			var word [8]byte
			copy(word[8-size:], b)
			value := int64(binary.LittleEndian.Uint64(word[:])) >> (64 - 8*size)
			out = append(out, Piece{int64(length - len(b)), size, value})
			b = b[size:]
		}
	}
	return out
}

// textCompare compares a string with a constant: its length first. It is exact only for "": a
// piece that the kernel could not read is 0, and then the call must pass, since the comparison
// is unknown.
func (f field) textCompare(ref Ref, o op, constant []byte) (c cond, ok bool) {
	c = exactly(f.is(o, strconv.Itoa(len(constant))))
	if len(constant) == 0 {
		return c, true
	} else if o == opNotEqual && len(constant) > maxCompared {
		return c, false
	}
	for _, p := range pieces(constant) {
		one := cond{field{capture.Field{Name: placeholder}}.is(o, strconv.FormatInt(p.Value, 10)), []piece{{ref, p}}, false}
		switch unread := (cond{placeholder + " == 0", one.pieces, false}); {
		case o == opNotEqual && p.Value == 0:
			return c, false
		case p.Value != 0 && o == opEqual:
			one = one.join(" || ", unread)
		}
		c.text += either(o == opEqual, " && ", " || ") + one.text
		c.pieces = append(c.pieces, one.pieces...)
	}
	return cond{"(" + c.text + ")", c.pieces, false}, true
}
