package where

import (
	"cmp"

	"github.com/ftgo/ftgo/internal/capture"
)

// Call is what filters ask of a call.
type Call interface {
	// Value is what a path leads to, nil if that is not known.
	Value(path string) *capture.Value
	// Message is the string that the Error method of the value in an interface would
	// return, where that is known.
	Message(v *capture.Value) (message capture.Value, ok bool)
}

// Truth is true, false or not known.
type Truth uint8

const (
	Unknown Truth = iota
	False
	True
)

func truth(b bool) Truth {
	if b {
		return True
	}
	return False
}

func (t Truth) not() Truth {
	switch t {
	case True:
		return False
	case False:
		return True
	}
	return Unknown
}

// decide evaluates a condition.
func (n *node) decide(c Call) Truth {
	switch n.op {
	case opOr:
		return n.either(c, True)
	case opAnd:
		return n.either(c, False)
	case opNot:
		return n.x.decide(c).not()
	case opMatch:
		return match(c, n.x.operand(c), n.pattern)
	}
	if n.op.comparison() {
		return compare(c, n.op, n.x.operand(c), n.y.operand(c))
	}
	if o := n.operand(c); o.class == truthClass {
		return truth(o.truth)
	} else if o.iface != nil {
		if held := read(o.iface.Elem); held.class == truthClass {
			return truth(held.truth)
		}
	}
	return Unknown
}

// either is what decides if one of both conditions is that, else what they are.
func (n *node) either(c Call, decides Truth) Truth {
	x := n.x.decide(c)
	if x == decides {
		return x
	}
	if y := n.y.decide(c); y == decides || x != Unknown {
		return y
	}
	return Unknown
}

// operand evaluates what is no condition, or is compared like a value.
func (n *node) operand(c Call) operand {
	switch n.op {
	case opInt, opDuration:
		return wholeOperand(integer{abs: n.number})
	case opFloat:
		return realOperand(n.float)
	case opString:
		return stringOperand(n.bytes)
	case opBool:
		return operand{class: truthClass, truth: n.number != 0}
	case opNil:
		return operand{class: nilClass, isNil: True}
	case opRef:
		return readRef(c.Value(n.ref.Path), n.ref.Part)
	case opNeg:
		x := held(n.x.operand(c))
		x.whole, x.real = x.whole.neg(), -x.real
		return onlyNumber(x)
	case opAdd, opSub, opMul, opDiv, opRem, opBits:
		return calculate(n.op, held(n.x.operand(c)), held(n.y.operand(c)))
	}
	switch n.decide(c) {
	case True:
		return operand{class: truthClass, truth: true}
	case False:
		return operand{class: truthClass}
	}
	return operand{}
}

// held is the value in an interface; any other operand is itself.
func held(o operand) operand {
	if o.iface == nil {
		return o
	}
	return read(o.iface.Elem)
}

func onlyNumber(o operand) operand {
	if !o.number() {
		return operand{}
	}
	o.isNil = Unknown
	return o
}

func calculate(o op, x, y operand) operand {
	switch {
	case !x.number() || !y.number():
		return operand{}
	case x.class == wholeClass && y.class == wholeClass:
		if result, ok := x.whole.calculate(o, y.whole); ok {
			return wholeOperand(result)
		}
		return operand{}
	}
	switch a, b := x.float(), y.float(); o {
	case opAdd:
		return realOperand(a + b)
	case opSub:
		return realOperand(a - b)
	case opMul:
		return realOperand(a * b)
	case opDiv:
		return realOperand(a / b)
	}
	return operand{}
}

func match(c Call, x operand, p *pattern) Truth {
	if x.iface != nil {
		x = spoken(c, x)
	}
	switch x.class {
	case textClass:
		return p.search(x.text)
	case nilClass:
		return False // no error, no message
	}
	return Unknown
}

// compare is x o y.
func compare(c Call, o op, x, y operand) Truth {
	if x.class == nilClass || y.class == nilClass {
		return compareNil(o, x, y)
	}
	dynamic := x.iface != nil || y.iface != nil
	if x.iface != nil && y.class == textClass {
		x = spoken(c, x)
	} else if y.iface != nil && x.class == textClass {
		y = spoken(c, y)
	}
	x, y = held(x), held(y)
	if dynamic && x.class != 0 && y.class != 0 && x.class != y.class && !(x.number() && y.number()) {
		return unlike(o) // an int is no string
	}
	return compareLike(o, x, y)
}

// unlike is the comparison of what can't be equal and has no order.
func unlike(o op) Truth {
	switch o {
	case opEqual:
		return False
	case opNotEqual:
		return True
	}
	return Unknown
}

func compareNil(o op, x, y operand) Truth {
	other := y
	if x.class != nilClass {
		other = x
	}
	switch {
	case other.isNil == Unknown && other.class != 0 || other.isNil == False:
		return unlike(o)
	case other.isNil == True:
		return unlike(o).not()
	}
	return Unknown
}

// spoken is the message of the error in an interface, or else the string in it.
func spoken(c Call, x operand) operand {
	if message, ok := c.Message(x.iface); ok {
		return read(&message)
	}
	if x.iface.Type.Methods {
		return operand{} // what its Error method would make of the value is not known
	}
	return held(x)
}

// compareLike compares operands that are no interfaces.
func compareLike(o op, x, y operand) Truth {
	switch {
	case x.class == wholeClass && y.class == wholeClass:
		return ordered(o, x.whole.compare(y.whole))
	case x.class == wholeClass && y.class == realClass:
		return orderedFloat(o, x.whole, y.real)
	case x.class == realClass && y.class == wholeClass:
		return orderedFloat(o.flipped(), y.whole, x.real)
	case x.class == realClass && y.class == realClass:
		if x.real != x.real || y.real != y.real {
			return truth(o == opNotEqual)
		}
		return ordered(o, cmp.Compare(x.real, y.real))
	case x.class != y.class:
		return Unknown
	case x.class == textClass && o == opEqual:
		return x.text.equal(y.text)
	case x.class == textClass && o == opNotEqual:
		return x.text.equal(y.text).not()
	case x.class == textClass:
		if order, known := x.text.compare(y.text); known {
			return ordered(o, order)
		}
	case x.class == truthClass && o == opEqual:
		return truth(x.truth == y.truth)
	case x.class == truthClass && o == opNotEqual:
		return truth(x.truth != y.truth)
	}
	return Unknown
}

// orderedFloat compares as Go does: what is no number equals nothing.
func orderedFloat(o op, i integer, f float64) Truth {
	order, ok := i.compareFloat(f)
	if !ok {
		return truth(o == opNotEqual)
	}
	return ordered(o, order)
}

// ordered tells whether a comparison holds for operands in that order.
func ordered(o op, order int) Truth {
	switch o {
	case opEqual:
		return truth(order == 0)
	case opNotEqual:
		return truth(order != 0)
	case opLess:
		return truth(order < 0)
	case opLessEqual:
		return truth(order <= 0)
	case opGreater:
		return truth(order > 0)
	}
	return truth(order >= 0)
}
