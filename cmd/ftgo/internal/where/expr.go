package where

import (
	"slices"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// Expr is a filter. The zero Expr lets everything through.
type Expr struct {
	text string
	root *node
}

// Parse reads a filter. Errors are of one line and count characters from 1:
//
//	parse filter: "n >": operand expected at 4
func Parse(text string) (Expr, error) {
	p := parser{text: text}
	root, err := p.filter()
	if err != nil {
		return Expr{}, locate("parse", text, err)
	}
	return Expr{text, root}, nil
}

// String writes the filter in one way only, whatever the blanks and parentheses it was
// written with; "" is the zero Expr.
func (e Expr) String() string {
	if e.root == nil {
		return ""
	}
	return e.root.String()
}

// Longest is the length of the longest string that something is compared with.
func (e Expr) Longest() int {
	longest := 0
	var visit func(n *node)
	visit = func(n *node) {
		if n == nil {
			return
		}
		if n.op == opString {
			longest = max(longest, len(n.bytes))
		}
		visit(n.x)
		visit(n.y)
	}
	visit(e.root)
	return longest
}

// Refs are the variables that the filter asks for, each once, in order of appearance.
func (e Expr) Refs() []Ref {
	var refs []Ref
	var visit func(n *node)
	visit = func(n *node) {
		if n == nil {
			return
		}
		if n.op == opRef && !slices.Contains(refs, n.ref) {
			refs = append(refs, n.ref)
		}
		visit(n.x)
		visit(n.y)
	}
	visit(e.root)
	return refs
}

// Check tells whether the operators suit the variables' types, so that a filter which
// could never be decided is refused instead:
//
//	check filter: "key > 3": a string can't be compared with a number at 5
func (e Expr) Check(types func(path string) (*gotype.Type, error)) error {
	if e.root == nil {
		return nil
	}
	class, err := checker{types}.node(e.root)
	if err == nil && class&truthClass == 0 {
		err = &problem{"condition expected, not " + class.String() + ",", e.root.first()}
	}
	if err != nil {
		return locate("check", e.text, err)
	}
	return nil
}

// Eval tells whether a call is let through.
func (e Expr) Eval(c Call) Truth {
	if e.root == nil {
		return True
	}
	return e.root.decide(c)
}
