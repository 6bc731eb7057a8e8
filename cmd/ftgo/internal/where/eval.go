package where

import (
	"cmp"

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

// decide evaluates a condition.
func (n *node) decide(c Call) Truth {
	switch {
	case n.op.comparison():
		return compare(n.op, n.x.operand(c), n.y.operand(c))
	case n.op == opOr:
		if x := n.x.decide(c); x != True {
			return max(x, n.y.decide(c))
		}
		return True
	case n.op == opAnd:
		if x := n.x.decide(c); x != False {
			return min(x, n.y.decide(c))
		}
		return False
	case n.op == opNot:
		return -n.x.decide(c)
	case n.op == opMatch:
		return match(n.x.operand(c), n.pattern)
	}
	return held(n.operand(c)).truth
}

// operand evaluates what is no condition, or is compared like a value.
func (n *node) operand(c Call) operand {
	switch n.op {
	case opConstant:
		return n.value
	case opRef:
		return readRef(c.Value(n.ref.Path), n.ref)
	case opNeg:
		return calculate(opMul, held(n.x.operand(c)), wholeOperand(signed(-1)))
	case opAdd, opSub, opMul, opDiv, opRem, opBits:
		return calculate(n.op, held(n.x.operand(c)), held(n.y.operand(c)))
	}
	return truthOperand(n.decide(c))
}

// held is the value in an interface; any other operand is itself.
func held(o operand) operand {
	if o.iface == nil {
		return o
	}
	return read(o.iface.Elem)
}

func calculate(o op, x, y operand) operand {
	switch {
	case !x.number() || !y.number():
		return operand{}
	case x.class == wholeClass && y.class == wholeClass:
		result, ok := x.whole.calculate(o, y.whole)
		return either(ok, wholeOperand(result), operand{})
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

func match(x operand, p *pattern) Truth {
	switch x = spoken(x); x.class {
	case textClass:
		return p.search(x.text)
	case nilClass:
		return False // no error, no message
	}
	return Unknown
}

func compare(o op, x, y operand) Truth {
	if x.class == nilClass {
		return compareNil(o, y)
	} else if y.class == nilClass {
		return compareNil(o, x)
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
		if order, ok := x.order(y); ok {
			return ordered(o, order)
		}
		return truth(o == opNotEqual) // what is no number equals nothing, as in Go
	case x.class != y.class && dynamic:
		return same(o, false) // an int is no string
	case x.class != y.class:
	case x.class == textClass:
		if order, known := x.text.compare(y.text, o.equality()); known {
			return ordered(o, order)
		}
	case x.class == truthClass:
		return same(o, x.truth == y.truth)
	}
	return Unknown
}

// same is the comparison of what has no order.
func same(o op, equal bool) Truth {
	if !o.equality() {
		return Unknown
	}
	return truth(equal == (o == opEqual))
}

func compareNil(o op, x operand) Truth {
	if x.class == 0 && x.isNil == Unknown {
		return Unknown
	}
	return same(o, x.isNil == True)
}

// spoken is the message of the error in an interface, or else the string in it.
func spoken(x operand) operand {
	if x.iface == nil {
		return x
	}
	if message, ok := x.iface.ErrorMessage(); ok {
		if message.Len < 0 {
			return operand{} // nor how it ends
		}
		return read(&message)
	}
	if x.iface.Type.Methods {
		return operand{} // what its Error method would make of the value is not known
	}
	return held(x)
}

// order compares numbers, exactly. It is not ok if one is none.
func (o operand) order(p operand) (order int, ok bool) {
	switch {
	case o.class == realClass && p.class == realClass:
		return cmp.Compare(o.real, p.real), o.real == o.real && p.real == p.real
	case o.class == realClass:
		order, ok = p.order(o)
		return -order, ok
	case p.class == realClass:
		return o.whole.compareFloat(p.real)
	}
	return o.whole.compare(p.whole), true
}

// ordered tells whether a comparison holds for operands in that order.
func ordered(o op, order int) Truth { return truth(o>>(order+1)&1 != 0) }
