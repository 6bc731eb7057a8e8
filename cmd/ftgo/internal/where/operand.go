package where

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/printable"
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
	return operand{class: either(t == Unknown, 0, truthClass), truth: t}
}

func (o operand) float() float64 {
	return either(o.class == wholeClass, o.whole.float(), o.real)
}

// readRef is what of a value is asked for.
func readRef(v *capture.Value, r Ref) operand {
	if v != nil && v.Missing {
		v = &capture.Value{Type: v.Type} // as in Go
	}
	switch {
	case r.First > 0:
		return spoken(read(v)).first(int64(r.First))
	case r.Part == capture.Whole || v == nil:
		return read(v)
	}
	if n, ok := v.Measure(r.Part); ok {
		return wholeOperand(signed(n))
	}
	return operand{}
}

// first is the beginning of a string.
func (o operand) first(n int64) operand {
	if t := &o.text; o.class == textClass && t.length > n {
		t.bytes, t.length = t.bytes[:min(n, int64(len(t.bytes)))], n
	}
	return o
}

// spell writes the value, unless it is not known.
func (o operand) spell() (text string, ok bool) {
	dynamic := o.iface
	switch o = spoken(o); {
	case o.class == textClass && (o.text.length < 0 || o.text.length > 0 && len(o.text.bytes) == 0):
	case o.class == textClass && o.text.cut():
		return legible(capture.WholeRunes(o.text.bytes)) + "…", true
	case o.class == textClass:
		return legible(o.text.bytes), true
	case o.class == truthClass:
		return strconv.FormatBool(o.truth == True), true
	case o.class == realClass:
		return strconv.FormatFloat(o.real, 'g', -1, 64), true
	case o.isNil == True:
		return "nil", true
	case o.class == wholeClass:
		return either(o.whole.high < 0, "-", "") + strconv.FormatUint(o.whole.abs(), 10), true
	case dynamic != nil && dynamic.Dynamic != "":
		return dynamic.Dynamic, true // the type, where the value is not for people
	}
	return "", false
}

// legible is text, with \xNN for what JSON has no other way to tell apart.
func legible(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return printable.Text(string(b))
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
		return realOperand(v.Number().(float64))
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

func (i integer) abs() uint64 { return either(i.high < 0, -i.low, i.low) }

// withSign is a number of that absolute value.
func withSign(abs uint64, negative bool) integer {
	i := integer{0, abs}
	return either(negative, i.neg(), i)
}

func (i integer) float() float64 { return math.Copysign(float64(i.abs()), float64(i.high)) }

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

// text is a string of which the first bytes are known, or all.
type text struct {
	bytes  []byte
	length int64
}

// cut tells whether not all is known; of a length that makes no sense nothing is.
func (t text) cut() bool { return int64(len(t.bytes)) != t.length }

// compare orders two strings, as far as the order is known, or with equality whether they
// are the same.
func (t text) compare(u text, equality bool) (order int, known bool) {
	n := min(len(t.bytes), len(u.bytes))
	if order = bytes.Compare(t.bytes[:n], u.bytes[:n]); order != 0 {
		return order, true
	}
	// One begins with what is known of the other.
	order = cmp.Compare(t.length, u.length)
	known = n == len(t.bytes) && !t.cut() || n == len(u.bytes) && !u.cut()
	return order, known || equality && order != 0
}

// pattern is a regular expression.
type pattern struct {
	*regexp.Regexp
	// open: text behind a match can't undo it.
	open bool
	// start is what all that match begins with; "" if there is nothing.
	start string
}

func newPattern(expr string) (*pattern, error) {
	re, err := regexp.Compile(expr)
	if bad, ok := errors.AsType[*syntax.Error](err); ok {
		// Its own text quotes the expression raw, control characters and all.
		return nil, fmt.Errorf("%s: %q", bad.Code, bad.Expr)
	} else if err != nil {
		return nil, err
	}
	parsed, _ := syntax.Parse(expr, syntax.Perl) // regexp.Compile has done both without an error
	program, _ := syntax.Compile(parsed.Simplify())
	p := &pattern{Regexp: re, open: !slices.ContainsFunc(program.Inst, looksAhead)}
	if program.StartCond()&syntax.EmptyBeginText != 0 {
		p.start, _ = re.LiteralPrefix()
	}
	return p, nil
}

// looksAhead tells whether a match depends on what follows it.
func looksAhead(i syntax.Inst) bool {
	const behind = syntax.EmptyBeginLine | syntax.EmptyBeginText
	return i.Op == syntax.InstEmptyWidth && syntax.EmptyOp(i.Arg)&^behind != 0
}

// search tells whether a string matches, as far as that is known.
func (p *pattern) search(t text) Truth {
	switch {
	case !t.cut():
		return truth(p.Match(t.bytes))
	case t.length < 0:
		return Unknown
	}
	if p.open && p.Match(capture.WholeRunes(t.bytes)) { // half a rune matches as something else
		return True
	}
	n := min(len(p.start), len(t.bytes))
	if !strings.HasPrefix(p.start, string(t.bytes[:n])) || int64(len(p.start)) > t.length {
		return False
	}
	return Unknown
}
