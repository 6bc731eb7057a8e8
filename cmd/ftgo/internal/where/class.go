package where

import (
	"fmt"
	"math/bits"
	"reflect"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// class is a set of what a value may be to operators.
type class uint8

const (
	truthClass class = 1 << iota
	wholeClass       // a number without fraction
	realClass
	textClass
	nilableClass // may be compared with nil
	nilClass     // nil itself

	numberClass = wholeClass | realClass
	// anyClass is that of variables whose type is not known, and of interfaces.
	anyClass = truthClass | numberClass | textClass | nilableClass
)

// String names the class for messages.
func (c class) String() string {
	switch {
	case c == nilClass:
		return "nil"
	case bits.OnesCount8(uint8(c)) > 2:
		return "a value"
	case c&numberClass != 0:
		return "a number"
	case c&textClass != 0:
		return "a string"
	case c&truthClass != 0:
		return "true or false"
	}
	return "a value"
}

// classOf is the class of a type's values.
func classOf(t *gotype.Type) class {
	switch t.Kind {
	case reflect.Invalid, reflect.Interface:
		return anyClass
	case reflect.Bool:
		return truthClass
	case reflect.Int, reflect.Uint:
		return wholeClass
	case reflect.Float64:
		return realClass
	case reflect.Pointer, reflect.UnsafePointer:
		return wholeClass | nilableClass
	case reflect.String:
		return textClass
	case reflect.Func:
		return nilableClass | textClass
	case reflect.Slice:
		if ofBytes(t) {
			return nilableClass | textClass
		}
		return nilableClass
	case reflect.Map, reflect.Chan:
		return nilableClass
	}
	return 0
}

// ofBytes tells whether a type is a slice of bytes, which compares as text does.
func ofBytes(t *gotype.Type) bool {
	elem := t.Elem()
	return t.Kind == reflect.Slice && elem != nil && elem.Kind == reflect.Uint && elem.Size == 1
}

// checker tells whether operators suit their operands.
type checker struct {
	// types are those of variables; without it they may be anything.
	types func(path string) (*gotype.Type, error)
}

func (c checker) node(n *node) (class, error) {
	switch n.op {
	case opInt, opDuration:
		return wholeClass, nil
	case opFloat:
		return realClass, nil
	case opString:
		return textClass, nil
	case opBool:
		return truthClass, nil
	case opNil:
		return nilClass, nil
	case opRef:
		return c.ref(n)
	}
	x, err := c.node(n.x)
	if err != nil {
		return 0, err
	}
	y := x
	if n.y != nil {
		if y, err = c.node(n.y); err != nil {
			return 0, err
		}
	}
	return combine(n, x, y)
}

// combine is the class of an operator's result.
func combine(n *node, x, y class) (class, error) {
	want := class(0)
	result := truthClass
	switch n.op {
	case opOr, opAnd, opNot:
		want = truthClass
	case opAdd, opSub, opMul, opDiv, opNeg:
		want, result = numberClass, (x|y)&numberClass
	case opRem, opBits:
		want, result = wholeClass, wholeClass
	case opMatch:
		want = textClass
	default:
		common := x & y & (truthClass | textClass)
		if x&numberClass != 0 && y&numberClass != 0 {
			common |= numberClass
		}
		ordered := n.op != opEqual && n.op != opNotEqual
		if ordered {
			common &^= truthClass
		} else if x == nilClass && y&nilableClass != 0 || y == nilClass && x&nilableClass != 0 {
			return truthClass, nil
		}
		if common == 0 && ordered && x == y {
			return 0, &problem{fmt.Sprintf("%s has no order: %s", x, opTexts[n.op]), n.at}
		} else if common == 0 {
			return 0, &problem{fmt.Sprintf("%s can't be compared with %s", x, y), n.at}
		}
	}
	for _, operand := range []struct {
		n *node
		c class
	}{{n.x, x}, {n.y, y}} {
		if want != 0 && operand.n != nil && operand.c&want == 0 {
			return 0, &problem{fmt.Sprintf("%s expected for %s, not %s,", want, opTexts[n.op], operand.c), operand.n.first()}
		}
	}
	return result, nil
}

// first is the first byte of a node; an operator's own is in the middle of it.
func (n *node) first() int {
	for n.op <= opBits {
		n = n.x
	}
	return n.at
}

func (c checker) ref(n *node) (class, error) {
	result := anyClass
	if n.ref.Part != Whole {
		result = wholeClass
	}
	if c.types == nil {
		return result, nil
	}
	t, err := c.types(n.ref.Path)
	if err != nil {
		return 0, &problem{err.Error(), n.at}
	}
	if n.ref.Part == Whole {
		if result = classOf(t); result == 0 {
			return 0, &problem{fmt.Sprintf("%s is %s, which filters can't compare,", n.ref, t.Name), n.at}
		}
		return result, nil
	}
	switch t.Kind {
	case reflect.Invalid, reflect.Slice, reflect.Array, reflect.Chan:
		return result, nil
	case reflect.String, reflect.Map:
		if n.ref.Part == Len {
			return result, nil
		}
	}
	return 0, &problem{fmt.Sprintf("%s: %s is %s", n.ref, n.ref.Path, t.Name), n.at}
}
