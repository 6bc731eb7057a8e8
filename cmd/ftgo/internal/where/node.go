package where

import (
	"go/token"
	"strings"

	"github.com/ftgo/ftgo/internal/capture"
)

// operators describes each operator: bind is its precedence between two operands, as in Go (spec, "Operator
// precedence"); want is the class that both operands must have, 0 for comparisons; inverse is the opposite of a
// comparison; token is the operator for integers in package go/constant.
var operators = map[string]struct {
	bind    int
	want    class
	inverse string
	token   token.Token
}{
	"||": {bind: 1, want: truthClass}, "&&": {bind: bindAnd, want: truthClass}, "!": {want: truthClass},
	"==": {bind: 3, inverse: "!=", token: token.EQL}, "!=": {bind: 3, inverse: "==", token: token.NEQ},
	"<": {bind: 3, inverse: ">=", token: token.LSS}, ">=": {bind: 3, inverse: "<", token: token.GEQ},
	">": {bind: 3, inverse: "<=", token: token.GTR}, "<=": {bind: 3, inverse: ">", token: token.LEQ},
	"=~": {bind: 3, want: textClass},
	"+":  {bind: 4, want: numberClass, token: token.ADD}, "-": {bind: 4, want: numberClass, token: token.SUB},
	"*": {bind: 5, want: numberClass, token: token.MUL}, "/": {bind: 5, want: numberClass, token: token.QUO_ASSIGN},
	"%": {bind: 5, want: wholeClass, token: token.REM}, "&": {bind: 5, want: wholeClass, token: token.AND},
}

const bindAnd, bindUnary = 2, 6

// comparison reports whether an operator compares its operands. =~ does not.
func comparison(op string) bool { return operators[op].inverse != "" }

// equality reports whether an operator is == or !=. These need no order of their operands.
func equality(op string) bool { return op == "==" || op == "!=" }

// holds evaluates a comparison of operands whose order is -1, 0 or 1.
func holds(op string, order int) Truth {
	return truth(strings.Contains(op, "<=>"[order+1:order+2]) != (op == "!="))
}

// node is an operator with one or two operands, or an operand, which is a variable or a constant.
type node struct {
	op      string // "" for an operand
	at      int    // the index of the operator or operand in the text, in bytes
	x, y    *node
	text    string   // the text of an operand in the language of filters
	value   operand  // the value of a constant
	ref     Ref      // the variable, if the node is one
	pattern *pattern // the regular expression of =~
}

// variable reports whether the node is a variable.
func (n *node) variable() bool { return n.ref.Path != "" }

// append appends the node's text to b, in parentheses if its precedence is less than bind.
func (n *node) append(b []byte, bind int) []byte {
	if n.x == nil {
		return append(b, n.text...)
	} else if n.y == nil {
		return n.x.append(append(b, n.op...), bindUnary)
	}
	precedence := operators[n.op].bind
	if precedence < bind {
		return append(n.append(append(b, '('), 0), ')')
	}
	b = append(append(append(n.x.append(b, precedence), ' '), n.op...), ' ')
	return n.y.append(b, precedence+1)
}

// operands calls visit with each operand of the node, from left to right.
func (n *node) operands(visit func(*node)) {
	if n == nil {
		return
	}
	n.x.operands(visit)
	if n.x == nil {
		visit(n)
	}
	n.y.operands(visit)
}

// withConstants returns a copy of the node in which constants replace the variables that value finds.
func (n *node) withConstants(value func(path string) (capture.Value, bool)) *node {
	if n == nil {
		return nil
	}
	c := *n
	c.x, c.y = n.x.withConstants(value), n.y.withConstants(value)
	if n.variable() && n.ref.Part == capture.Whole {
		if v, ok := value(n.ref.Path); ok {
			c.ref, c.value = Ref{}, read(&v)
		}
	}
	return &c
}

// constant reports whether the node holds no variable.
func (n *node) constant() bool {
	constant := true
	n.operands(func(n *node) { constant = constant && !n.variable() })
	return constant
}

// first returns the index of the node's first byte. For a binary operator, that is not the field at, because the first
// operand precedes the operator.
func (n *node) first() int {
	for n.y != nil {
		n = n.x
	}
	return n.at
}
