package where

import (
	"cmp"
	"go/constant"
	"math"
	"reflect"

	"github.com/ftgo/ftgo/internal/capture"
)

// Call provides the values of a call.
type Call interface {
	// Value returns the value at a path, or nil if it is unknown.
	Value(path string) *capture.Value
}

// Truth is false, unknown or true. In this order && is the minimum of its operands, || the maximum, and ! the negative.
type Truth int8

const (
	False Truth = iota - 1
	Unknown
	True
)

func truth(b bool) Truth { return either(b, True, False) }

func either[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// operand is the value of an operand.
type operand struct {
	// class is one bit, which says which of the next four fields holds the value. It is nilClass for the constant nil
	// and a nil interface. It is 0 if the value is unknown, is an interface (see iface), or may only be compared with nil.
	class class
	truth Truth
	whole constant.Value
	real  float64
	text  text
	// isNil says whether the value is nil. It is Unknown if the value is unknown or its type has no nil.
	isNil Truth
	// iface is the value if it is a non-nil interface.
	iface *capture.Value
}

var nilOperand = operand{class: nilClass, isNil: True}

func wholeOperand(i constant.Value) operand { return operand{class: wholeClass, whole: i} }
func realOperand(f float64) operand         { return operand{class: realClass, real: f} }
func textOperand(t text) operand            { return operand{class: textClass, text: t} }
func (o operand) number() bool              { return o.class&numberClass != 0 }
func (o operand) withNil(b bool) operand    { o.isNil = truth(b); return o }

func truthOperand(t Truth) operand {
	return operand{class: either(t == Unknown, 0, truthClass), truth: t}
}

// decide evaluates a condition.
func (n *node) decide(c Call) Truth { return held(n.eval(c)).truth }

func (n *node) eval(c Call) operand {
	switch n.op {
	case "":
		if n.variable() {
			return readRef(c.Value(n.ref.Path), n.ref)
		}
		return n.value
	case "||":
		return truthOperand(max(n.x.decide(c), n.y.decide(c)))
	case "&&":
		return truthOperand(min(n.x.decide(c), n.y.decide(c)))
	case "!":
		return truthOperand(-n.x.decide(c))
	case "=~":
		return truthOperand(match(n.x.eval(c), n.pattern))
	}
	x := n.x.eval(c)
	if n.y == nil {
		return calculate("*", wholeOperand(constant.MakeInt64(-1)), held(x))
	}
	y := n.y.eval(c)
	if comparison(n.op) {
		return truthOperand(compare(n.op, x, y))
	}
	return calculate(n.op, held(x), held(y))
}

// readRef returns the part of the value v that r names: all of it, its first bytes, its length or its capacity.
func readRef(v *capture.Value, r Ref) operand {
	if v != nil && v.NoKey {
		v = &capture.Value{Type: v.Type} // a map without the key yields the zero value, as in Go
	}
	switch {
	case r.First > 0:
		o := spoken(read(v))
		if n := int64(r.First); o.text.length > n {
			o.text = text{o.text.bytes[:min(n, int64(len(o.text.bytes)))], n}
		}
		return o
	case r.Part == capture.Whole || v == nil:
		return read(v)
	}
	if n, ok := v.LenOrCap(r.Part); ok {
		return wholeOperand(constant.MakeInt64(n))
	}
	return operand{}
}

// read returns a value as an operand.
func read(v *capture.Value) operand {
	if v == nil || v.Type == nil {
		return operand{}
	}
	known := v.State == capture.Known
	kind := v.Type.Kind
	switch {
	case kind == reflect.Interface && v.TypeWord != 0: // not nil, even if its type is unknown
		return operand{iface: v, isNil: False}
	// The length of a string may be known even if its bytes are unreadable.
	case kind == reflect.String && (known || v.Len != 0):
		return textOperand(text{v.Bytes, v.Len})
	case capture.IsByteSlice(v.Type) && (known || v.Len != 0):
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
		return wholeOperand(constant.MakeInt64(int64(v.Num)))
	case reflect.Uint:
		return wholeOperand(constant.MakeUint64(v.Num))
	case reflect.Float64:
		return realOperand(v.Number().(float64))
	case reflect.Pointer, reflect.UnsafePointer:
		return wholeOperand(constant.MakeUint64(v.Num)).withNil(v.Num == 0)
	case reflect.Func:
		if v.Dynamic != "" {
			return textOperand(wholeText(v.Dynamic)).withNil(false)
		}
	case reflect.Slice, reflect.Map, reflect.Chan:
	default:
		return operand{}
	}
	return operand{}.withNil(v.Num == 0)
}

// held returns the value in o if o is an interface, else o.
func held(o operand) operand {
	if o.iface == nil {
		return o
	}
	return read(o.iface.Elem)
}

// spoken returns the operand to compare with a string: for an interface that holds an error, the message of the error,
// for another interface the value in it, else o.
func spoken(o operand) operand {
	if o.iface == nil {
		return o
	}
	if message, ok := o.iface.ErrorMessage(); ok {
		if message.Len < 0 {
			return operand{} // neither its length nor its end is known
		}
		return read(&message)
	}
	if o.iface.Type.Methods {
		return operand{} // the result of its Error method is unknown
	}
	return held(o)
}

// calculate returns x op y. The result is unknown if an operand is not a number, if op is % or & and an operand is a
// float, if an integer is divided by the integer 0, or if an integer result has more than 64 bits and a sign. Division
// truncates and the remainder has the sign of x, as in Go. & treats a negative number as if infinitely many one bits
// preceded it.
func calculate(op string, x, y operand) operand {
	switch {
	case !x.number() || !y.number():
		return operand{}
	case x.class == wholeClass && y.class == wholeClass:
		if constant.Sign(y.whole) == 0 && (op == "/" || op == "%") {
			return operand{}
		}
		z := constant.BinaryOp(x.whole, operators[op].token, y.whole)
		return either(constant.BitLen(z) <= 64, wholeOperand(z), operand{})
	}
	switch a, b := x.float(), y.float(); op {
	case "+":
		return realOperand(a + b)
	case "-":
		return realOperand(a - b)
	case "*":
		return realOperand(a * b)
	case "/":
		return realOperand(a / b)
	}
	return operand{}
}

// float returns a number as the nearest float64.
func (o operand) float() float64 {
	if o.class == realClass {
		return o.real
	}
	f, _ := constant.Float64Val(o.whole)
	return f
}

// exact returns a finite number as a constant.Value, a type that has neither infinity nor NaN.
func (o operand) exact() constant.Value {
	if o.class == realClass {
		return constant.MakeFloat64(o.real)
	}
	return o.whole
}

func match(x operand, p *pattern) Truth {
	switch x = spoken(x); x.class {
	case textClass:
		return p.search(x.text)
	case nilClass:
		return False // a nil error has no message
	}
	return Unknown
}

func compare(op string, x, y operand) Truth {
	if x.class == nilClass {
		return compareNil(op, y)
	} else if y.class == nilClass {
		return compareNil(op, x)
	}
	dynamic := x.iface != nil || y.iface != nil
	if y.class == textClass {
		x = spoken(x)
	} else if x.class == textClass {
		y = spoken(y)
	}
	x, y = held(x), held(y)
	switch {
	case x.class == 0 || y.class == 0:
		return Unknown
	case x.number() && y.number():
		switch a, b := x.float(), y.float(); {
		case math.IsNaN(a) || math.IsNaN(b):
			return truth(op == "!=") // as in Go
		case a != b || math.IsInf(a, 0): // numbers whose nearest floats differ have the order of these floats
			return holds(op, cmp.Compare(a, b))
		}
		return truth(constant.Compare(x.exact(), operators[op].token, y.exact()))
	case x.class != y.class && dynamic:
		return same(op, false) // values of different types differ: an int in an interface and a string
	case x.class != y.class:
	case x.class == textClass:
		if order, known := x.text.compare(y.text, equality(op)); known {
			return holds(op, order)
		}
	case x.class == truthClass:
		return same(op, x.truth == y.truth)
	}
	return Unknown
}

// same evaluates == or != for two operands; equal says whether they are equal. For other comparisons it returns Unknown.
func same(op string, equal bool) Truth {
	if !equality(op) {
		return Unknown
	}
	return truth(equal == (op == "=="))
}

func compareNil(op string, x operand) Truth {
	if x.class == 0 && x.isNil == Unknown {
		return Unknown
	}
	return same(op, x.isNil == True)
}
