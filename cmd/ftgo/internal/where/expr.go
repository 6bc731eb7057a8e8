// Package where is the language of filters: which calls to show, by their arguments,
// results and latency.
//
//	n > 100 && key == "bob"
//	req.URL.Path =~ "^/api/" || latency >= 5ms
//	!(s.items[0].name == "" || len(buf) % 4096 != 0)
//	flags & 0x10 && err != nil
//
// Operators are those of Go, and bind as in Go: || && == != < <= > >= + - * / % & and
// unary ! -; =~ searches for a regular expression (RE2), and binds as == does. An & where
// a condition is expected means that a bit is set.
//
// Operands are literals of Go (42, 0x2a, 1_000, 1.5, "text", `text`, true, false, nil),
// durations (10ms, 1.5us: numbers of nanoseconds), variables and parts of them (n,
// req.URL.Path, s.items[0].name, *p, m["key"], x.(*T).y), registers and what they lead to
// (goarg2, +8(goarg2):string), constants by name, the first bytes of a string (key[:4], of which a
// shorter one has all), len(x) and cap(x), and what the caller knows of a call beside these.
//
// Numbers are compared by their value, whatever their size and sign, and nothing wraps
// around. An error is compared with a string by its message, any other interface by the
// value it holds.
//
// What can't be known, since a value was not readable, not fetched or cut, makes a
// condition unknown, unless the rest decides: "unknown || true" is true. A cut string is
// known by its length and its first bytes.
//
// The package reads filters, evaluates them and finds the part that the kernel can
// evaluate. Fetching values, and counting what is unknown, is left to its caller.
package where

import (
	"fmt"
	"go/constant"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/printable"
)

// Ref is a variable, or a part of one, that a filter asks for.
type Ref struct {
	// Path is as in Go, without blanks: "n", "req.URL.Path", "s.items[0].name", "*p".
	Path string
	Part capture.Part
	// First is how many bytes of a string are meant, 0 for all.
	First int
}

// String writes it as filters do.
func (r Ref) String() string {
	switch {
	case r.First > 0:
		return fmt.Sprintf("%s[:%d]", r.Path, r.First)
	case r.Part != capture.Whole:
		return string(r.Part) + "(" + r.Path + ")"
	}
	return r.Path
}

// Expr is a filter. The zero Expr lets everything through.
type Expr struct {
	text string
	root *node
	want class // what it must be
}

// Parse reads a filter. Errors are of one line and count characters from 1:
//
//	parse filter: "n >": operand expected at 4
func Parse(text string) (Expr, error) { return parseAs(truthClass, text) }

// ParseValue reads what need not be true or false: key[:4], len(buf) / 4096.
func ParseValue(text string) (Expr, error) { return parseAs(anyClass|nilClass, text) }

// ParseNumber reads what can be added up: whole numbers, and true as 1.
func ParseNumber(text string) (Expr, error) { return parseAs(wholeClass|truthClass, text) }

func parseAs(want class, text string) (Expr, error) {
	root, wrong := parse(text)
	if want == truthClass {
		root = bitSet(root)
	}
	e := Expr{text, root, want}
	if wrong == nil {
		wrong = e.check(func(string) (*gotype.Type, error) { return &gotype.Type{}, nil }) // which may be anything
	}
	if wrong != nil {
		return Expr{}, e.failed("parse", wrong)
	}
	return e, nil
}

// problem is what is wrong with a filter, and at which byte of it.
type problem struct {
	what string
	at   int
}

// failed returns a problem as an error of one line, in which characters are counted from 1.
func (e Expr) failed(doing string, p *problem) error {
	is := either(e.want == truthClass, "filter", "value")
	return fmt.Errorf("%s %s: %q: %s at %d", doing, is, e.text, p.what, utf8.RuneCountInString(e.text[:p.at])+1)
}

// String writes the filter in one way only, whatever the blanks and parentheses it was
// written with; "" is the zero Expr.
func (e Expr) String() string {
	if e.root == nil {
		return ""
	}
	return string(e.root.append(nil, 0))
}

// Longest is how much of strings decides: the length of the longest that something is compared with,
// or of which the first bytes are meant.
func (e Expr) Longest() int {
	longest := 0
	e.root.operands(func(n *node) { longest = max(longest, len(n.value.text.bytes), n.ref.First) })
	return longest
}

// Refs are the variables that the filter asks for, each once, in order of appearance.
func (e Expr) Refs() []Ref {
	var refs []Ref
	e.root.operands(func(n *node) {
		if n.variable() && !slices.Contains(refs, n.ref) {
			refs = append(refs, n.ref)
		}
	})
	return refs
}

// WithConstants is the filter with constants in the place of what value knows as names of such.
func (e Expr) WithConstants(value func(path string) (v capture.Value, ok bool)) Expr {
	e.root = e.root.withConstants(value)
	return e
}

// Check tells whether the operators suit the variables' types, so that a filter which
// could never be decided is refused instead:
//
//	check filter: "key > 3": a string can't be compared with a number at 5
func (e Expr) Check(types func(path string) (*gotype.Type, error)) error {
	if e.root == nil {
		return nil
	} else if wrong := e.check(types); wrong != nil {
		return e.failed("check", wrong)
	}
	return nil
}

func (e Expr) check(types func(path string) (*gotype.Type, error)) *problem {
	class, wrong := e.root.check(types)
	if wrong == nil && class&e.want == 0 {
		want, is := either(e.want == truthClass, "condition", "whole number"), either(class == realClass, "a fraction", class.String())
		wrong = &problem{fmt.Sprintf("%s expected, not %s,", want, is), e.root.first()}
	}
	return wrong
}

// Eval tells whether a call is let through.
func (e Expr) Eval(c Call) Truth {
	if e.root == nil {
		return True
	}
	return e.root.decide(c)
}

// Text is what the expression yields, as text: strings as they are, and cut ones with … behind. It is
// not known if a value that it takes is not.
func (e Expr) Text(c Call) (text string, known bool) {
	o := e.root.eval(c)
	if n := e.root; n.variable() && n.ref.Part == capture.Whole && n.ref.First == 0 && o.class != textClass && o.iface == nil {
		switch v := c.Value(n.ref.Path); {
		case v == nil || v.Type == nil || v.State != capture.Known || v.Nil():
		case v.Type.Kind == reflect.Pointer || v.Type.Kind == reflect.UnsafePointer:
			return fmt.Sprintf("%#x", v.Num), true
		case v.Type.Kind != reflect.Invalid:
			return v.Text(), true // durations and constants, too
		}
	}
	return o.spell()
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
		return o.whole.ExactString(), true
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

// Number is what it yields if that is whole and fits into 64 bits; true is 1.
func (e Expr) Number(c Call) (n int64, ok bool) {
	switch o := held(e.root.eval(c)); o.class {
	case truthClass:
		return int64(max(o.truth, 0)), true
	case wholeClass:
		return constant.Int64Val(o.whole)
	}
	return 0, false
}
