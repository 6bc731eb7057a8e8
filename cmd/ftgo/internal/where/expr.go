package where

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

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
	e := Expr{text: text}
	var err error
	if e.root, err = parse(text); err == nil {
		err = checker{}.condition(e.root)
	}
	if err != nil {
		return Expr{}, locate("parse", text, err)
	}
	return e, nil
}

// problem is what is wrong with a filter, and at which byte of it.
type problem struct {
	what string
	at   int
}

func (p *problem) Error() string { return p.what }

// locate makes a one-line error of a problem: characters are counted from 1.
func locate(verb, text string, err error) error {
	if p := (*problem)(nil); errors.As(err, &p) {
		return fmt.Errorf("%s filter: %q: %w at %d", verb, text, err, utf8.RuneCountInString(text[:p.at])+1)
	}
	return fmt.Errorf("%s filter: %q: %w", verb, text, err)
}

// String writes the filter in one way only, whatever the blanks and parentheses it was
// written with; "" is the zero Expr.
func (e Expr) String() string {
	if e.root == nil {
		return ""
	}
	return string(e.root.append(nil, 0))
}

// Longest is the length of the longest string that something is compared with.
func (e Expr) Longest() int {
	longest := 0
	e.root.operands(func(n *node) { longest = max(longest, len(n.value.text.bytes)) })
	return longest
}

// Refs are the variables that the filter asks for, each once, in order of appearance.
func (e Expr) Refs() []Ref {
	var refs []Ref
	e.root.operands(func(n *node) {
		if n.op == opRef && !slices.Contains(refs, n.ref) {
			refs = append(refs, n.ref)
		}
	})
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
	if err := (checker{types}).condition(e.root); err != nil {
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
