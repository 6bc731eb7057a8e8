package where

import (
	"fmt"
	"reflect"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/gotype"
)

// class is a bit set of kinds of values. Each operator accepts operands of certain classes.
type class uint8

const (
	truthClass class = 1 << iota
	wholeClass       // an integer
	realClass
	textClass
	nilableClass // the value may be compared with nil
	nilClass     // nil itself

	numberClass = wholeClass | realClass
	// anyClass is the class of interfaces and of variables of unknown type.
	anyClass = truthClass | numberClass | textClass | nilableClass
)

// String names the class for messages.
func (c class) String() string {
	switch {
	case c == nilClass:
		return "nil"
	case c == anyClass:
	case c&numberClass != 0:
		return "a number"
	case c&textClass != 0:
		return "a string"
	case c&truthClass != 0:
		return "true or false"
	}
	return "a value"
}

var classes = map[reflect.Kind]class{
	reflect.Invalid: anyClass, reflect.Interface: anyClass, reflect.Bool: truthClass,
	reflect.Int: wholeClass, reflect.Uint: wholeClass, reflect.Float64: realClass,
	reflect.Pointer: wholeClass | nilableClass, reflect.UnsafePointer: wholeClass | nilableClass,
	reflect.String: textClass, reflect.Func: nilableClass | textClass,
	reflect.Slice: nilableClass, reflect.Map: nilableClass, reflect.Chan: nilableClass,
}

func classOf(t *gotype.Type) class {
	if capture.IsByteSlice(t) {
		return nilableClass | textClass
	}
	return classes[t.Kind]
}

// check returns the class of the node's value. It returns a problem if types fails for a variable, or if an operator does
// not suit its operands.
func (n *node) check(types func(path string) (*gotype.Type, error)) (class, *problem) {
	switch {
	case n.variable():
		return n.checkRef(types)
	case n.op == "":
		return n.value.class, nil
	}
	x, err := n.x.check(types)
	y := x
	if err == nil && n.y != nil {
		y, err = n.y.check(types)
	}
	if err != nil {
		return 0, err
	}
	if comparison(n.op) {
		return truthClass, suits(n, x, y)
	}
	want, wrong, of := operators[n.op].want, n.x, x
	if x&want != 0 {
		wrong, of = n.y, y
	}
	switch {
	case of&want == 0:
		return 0, &problem{fmt.Sprintf("%s expected for %s, not %s,", want, n.op, of), wrong.first()}
	case n.op == "=~":
		return truthClass, nil
	}
	return (x | y) & want, nil
}

// suits returns a problem if operands of the classes x and y can't be compared by the operator of n, else nil.
func suits(n *node, x, y class) *problem {
	common := x & y & (truthClass | textClass)
	if x&numberClass != 0 && y&numberClass != 0 {
		common |= numberClass
	}
	ordered := !equality(n.op)
	if ordered {
		common &^= truthClass
	} else if x == nilClass && y&nilableClass != 0 || y == nilClass && x&nilableClass != 0 {
		return nil
	}
	switch {
	case common != 0:
		return nil
	case ordered && x == y:
		return &problem{fmt.Sprintf("%s has no order: %s", x, n.op), n.at}
	}
	return &problem{fmt.Sprintf("%s can't be compared with %s", x, y), n.at}
}

func (n *node) checkRef(types func(path string) (*gotype.Type, error)) (class, *problem) {
	r := n.ref
	t, err := types(r.Path)
	if err != nil {
		return 0, &problem{err.Error(), n.at}
	}
	of := classOf(t)
	switch {
	case r.First > 0 && of&textClass != 0:
		return textClass, nil
	case r.Part != capture.Whole && (t.Kind == reflect.Invalid || r.Part.AppliesTo(t.Kind)):
		return wholeClass, nil
	case r.First > 0 || r.Part != capture.Whole:
		return 0, &problem{fmt.Sprintf("%s: %s is %s", r, r.Path, t.Name), n.at}
	case of == 0:
		return 0, &problem{fmt.Sprintf("%s is %s, which filters can't compare,", r, t.Name), n.at}
	}
	return of, nil
}
