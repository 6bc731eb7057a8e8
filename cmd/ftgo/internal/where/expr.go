// Package where implements the language of filters, which select calls by their arguments, results and latency.
//
//	n > 100 && key == "bob"
//	req.URL.Path =~ "^/api/" || latency >= 5ms
//	!(s.items[0].name == "" || len(buf) % 4096 != 0)
//	flags & 0x10 && err != nil
//
// The operators are || && == != < <= > >= + - * / % & and unary ! -, with the precedence of Go. =~ searches for
// a regular expression (RE2), with the precedence of ==. Where a condition is expected, x & 4 is true if the
// result is not 0.
//
// Operands are literals of Go (42, 0x2a, 1_000, 1.5, "text", `text`, true, false, nil),
// durations (10ms, 1.5us: numbers of nanoseconds), variables and parts of them (n, req.URL.Path,
// s.items[0].name, *p, m["key"], x.(*T).y), registers and memory they point to (goarg2, +8(goarg2):string),
// names of constants, the first bytes of a string (key[:4], which is all of a shorter string), len(x) and cap(x),
// and variables that the caller adds, such as latency.
//
// Numbers are compared by their value, whatever their size and sign, and never wrap around. If an error is
// compared with a string, its message is compared. Any other interface is compared by the value in it.
//
// A value that is unreadable, not fetched or cut makes a condition unknown, unless another operand decides:
// "unknown || true" is true. A string is cut if only its first bytes were fetched. Its length and these bytes are known.
//
// The package parses filters, evaluates them and finds the part that the kernel can evaluate. Its caller fetches
// the values and counts the calls whose condition is unknown.
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

// Ref is a variable of a filter, or a part of a variable.
type Ref struct {
	// Path is the variable in the syntax of Go, without blanks: "n", "req.URL.Path", "s.items[0].name", "*p".
	Path string
	Part capture.Part
	// First is the number of bytes to take from the start of a string, 0 for all.
	First int
}

// String returns the variable in the language of filters.
func (r Ref) String() string {
	switch {
	case r.First > 0:
		return fmt.Sprintf("%s[:%d]", r.Path, r.First)
	case r.Part != capture.Whole:
		return string(r.Part) + "(" + r.Path + ")"
	}
	return r.Path
}

// Expr is a filter or an expression for a value. The zero Expr is a filter that every call passes.
type Expr struct {
	Source string // the text that was parsed
	root   *node
	want   class // the classes that the value of root may have
}

// Parse parses a filter. Its errors are one line and count characters from 1:
//
//	parse filter: "n >": operand expected at 4
func Parse(text string) (Expr, error) { return parseAs(truthClass, text) }

// ParseValue parses an expression for a value of any type: key[:4], len(buf) / 4096.
func ParseValue(text string) (Expr, error) { return parseAs(anyClass|nilClass, text) }

// ParseNumber parses an expression for a number to add up: an integer, or a bool. true counts as 1, and false as 0.
func ParseNumber(text string) (Expr, error) { return parseAs(wholeClass|truthClass, text) }

func parseAs(want class, text string) (Expr, error) {
	root, wrong := parse(text)
	if want == truthClass {
		root = bitSet(root)
	}
	e := Expr{text, root, want}
	if wrong == nil {
		wrong = e.check(func(string) (*gotype.Type, error) { return &gotype.Type{}, nil }) // the zero Type is an unknown type
	}
	if wrong != nil {
		return Expr{}, e.failed("parse", wrong)
	}
	return e, nil
}

// problem is an error in the text of a filter. at is the index of the byte where the error was found.
type problem struct {
	what string
	at   int
}

// failed returns a problem as an error of one line, which counts characters from 1. doing is parse or check.
func (e Expr) failed(doing string, p *problem) error {
	is := either(e.want == truthClass, "filter", "value")
	return fmt.Errorf("%s %s: %q: %s at %d", doing, is, e.Source, p.what, utf8.RuneCountInString(e.Source[:p.at])+1)
}

// String returns the filter in a canonical form, with normal blanks and no needless parentheses. It returns "" for
// the zero Expr.
func (e Expr) String() string {
	if e.root == nil {
		return ""
	}
	return string(e.root.append(nil, 0))
}

// Longest returns how many of the first bytes of a string the filter needs, without regular expressions: the length of
// its longest string constant, or the largest n of x[:n].
func (e Expr) Longest() int {
	longest := 0
	e.root.operands(func(n *node) { longest = max(longest, len(n.value.text.bytes), n.ref.First) })
	return longest
}

// Refs returns the variables of the filter in order of appearance, each once.
func (e Expr) Refs() []Ref {
	var refs []Ref
	e.root.operands(func(n *node) {
		if n.variable() && !slices.Contains(refs, n.ref) {
			refs = append(refs, n.ref)
		}
	})
	return refs
}

// Uses reports whether the filter uses the whole variable with this path.
func (e Expr) Uses(path string) bool { return slices.Contains(e.Refs(), Ref{Path: path}) }

// WithConstants returns a copy of the filter in which constants replace their names. value looks up a name.
func (e Expr) WithConstants(value func(path string) (v capture.Value, ok bool)) Expr {
	e.root = e.root.withConstants(value)
	return e
}

// Check returns an error if an operator does not suit the types of its operands, because such a filter would
// be unknown for every call. types returns the type of a variable. If it fails, Check returns its error, too.
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

// Eval evaluates the filter for a call.
func (e Expr) Eval(c Call) Truth {
	if e.root == nil {
		return True
	}
	return e.root.decide(c)
}

// Text evaluates the expression for a call and returns its value as text. A cut string ends in …. known is false
// if a value that the expression needs is unknown.
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

// spell returns the value as text. ok is false if the value is unknown or has no short text.
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
		return dynamic.Dynamic, true // only the type of such a value has a short text
	}
	return "", false
}

// legible returns b as a string. If b is not UTF-8, it writes invalid bytes as \xNN, because JSON would write U+FFFD for
// each of them.
func legible(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return printable.Text(string(b))
}

// Number evaluates the expression for a call. For a bool it returns 1 or 0. ok is false if the value is unknown, or is
// neither a bool nor an integer that fits into an int64.
func (e Expr) Number(c Call) (n int64, ok bool) {
	switch o := held(e.root.eval(c)); o.class {
	case truthClass:
		return int64(max(o.truth, 0)), true
	case wholeClass:
		return constant.Int64Val(o.whole)
	}
	return 0, false
}
