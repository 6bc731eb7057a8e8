package where

import (
	"cmp"
	"go/constant"
	"math"
	"reflect"

	"github.com/ftgo/ftgo/internal/capture"
)

// Call is what filters ask of a call.
type Call interface {
	// Value is what a path leads to, nil if that is not known.
	Value(path string) *capture.Value
}

// Truth is true, false or not known, in an order in which && is the lesser of both, || the
// greater, and ! the other end.
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

// operand is a value as operators see it.
type operand struct {
	// class has one bit set of those that say which of the fields below holds the value;
	// 0 is a value that is not known or that nothing compares with.
	class class
	truth Truth
	whole constant.Value
	real  float64
	text  text
	// isNil tells whether the value is nil; Unknown too for one that can't be.
	isNil Truth
	// iface is a non-nil interface.
	iface *capture.Value
}

var nilOperand = operand{class: nilClass, isNil: True}

func wholeOperand(i int64) operand { return operand{class: wholeClass, whole: constant.MakeInt64(i)} }
func unsignedOperand(i uint64) operand {
	return operand{class: wholeClass, whole: constant.MakeUint64(i)}
}
func realOperand(f float64) operand      { return operand{class: realClass, real: f} }
func textOperand(t text) operand         { return operand{class: textClass, text: t} }
func (o operand) number() bool           { return o.class&numberClass != 0 }
func (o operand) withNil(b bool) operand { o.isNil = truth(b); return o }

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
		x := n.x.decide(c)
		if x != True {
			x = max(x, n.y.decide(c))
		}
		return truthOperand(x)
	case "&&":
		x := n.x.decide(c)
		if x != False {
			x = min(x, n.y.decide(c))
		}
		return truthOperand(x)
	case "!":
		return truthOperand(-n.x.decide(c))
	case "=~":
		return truthOperand(match(n.x.eval(c), n.pattern))
	}
	x := n.x.eval(c)
	if n.y == nil {
		return calculate("*", wholeOperand(-1), held(x))
	}
	y := n.y.eval(c)
	if comparison(n.op) {
		return truthOperand(compare(n.op, x, y))
	}
	return calculate(n.op, held(x), held(y))
}

// readRef is what of a value is asked for.
func readRef(v *capture.Value, r Ref) operand {
	if v != nil && v.NoKey {
		v = &capture.Value{Type: v.Type} // as in Go
	}
	switch {
	case r.First > 0:
		o := spoken(read(v))
		o.text = o.text.first(int64(r.First))
		return o
	case r.Part == capture.Whole || v == nil:
		return read(v)
	}
	if n, ok := v.LenOrCap(r.Part); ok {
		return wholeOperand(n)
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
		return wholeOperand(int64(v.Num))
	case reflect.Uint:
		return unsignedOperand(v.Num)
	case reflect.Float64:
		return realOperand(v.Number().(float64))
	case reflect.Pointer, reflect.UnsafePointer:
		return unsignedOperand(v.Num).withNil(v.Num == 0)
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

// held is the value in an interface; any other operand is itself.
func held(o operand) operand {
	if o.iface == nil {
		return o
	}
	return read(o.iface.Elem)
}

// spoken is the message of the error in an interface, or else the string in it.
func spoken(o operand) operand {
	if o.iface == nil {
		return o
	}
	if message, ok := o.iface.ErrorMessage(); ok {
		if message.Len < 0 {
			return operand{} // nor how it ends
		}
		return read(&message)
	}
	if o.iface.Type.Methods {
		return operand{} // what its Error method would make of the value is not known
	}
	return held(o)
}

// calculate is x op y; not known if a whole result has more than 64 bits and a sign, or there is none. Division
// truncates, and the remainder has the sign of x, as in Go; & is as if negative numbers began with infinitely many ones.
func calculate(op string, x, y operand) operand {
	switch {
	case !x.number() || !y.number():
		return operand{}
	case x.class == wholeClass && y.class == wholeClass:
		if constant.Sign(y.whole) == 0 && (op == "/" || op == "%") {
			return operand{}
		}
		z := constant.BinaryOp(x.whole, operators[op].token, y.whole)
		return either(constant.BitLen(z) <= 64, operand{class: wholeClass, whole: z}, operand{})
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

// float is a number as the nearest float.
func (o operand) float() float64 {
	if o.class == realClass {
		return o.real
	}
	f, _ := constant.Float64Val(o.whole)
	return f
}

// exact is a number as package go/constant has it, which knows neither infinity nor NaN.
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
		return False // no error, no message
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
		case a != b || math.IsInf(a, 0): // what differs as the nearest floats does so in the same order
			return holds(op, cmp.Compare(a, b))
		}
		return truth(constant.Compare(x.exact(), operators[op].token, y.exact()))
	case x.class != y.class && dynamic:
		return same(op, false) // an int is no string
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

// same is the comparison of what has no order.
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
