package where

import (
	"go/token"
	"strings"

	"github.com/ftgo/ftgo/internal/capture"
)

// operators are what is known of each: how tightly it binds between two operands, as in Go (spec, "Operator
// precedence"), what its operands must be, where that is the same for both, of a comparison the one that
// holds where it does not, and what package go/constant knows it as between whole numbers.
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

// comparison tells whether an operator compares; a match does not.
func comparison(op string) bool { return operators[op].inverse != "" }

// equality tells whether an operator compares what has no order, too.
func equality(op string) bool { return op == "==" || op == "!=" }

// flipped is the comparison with its operands exchanged.
func flipped(op string) string { return strings.NewReplacer("<", ">", ">", "<").Replace(op) }

// holds tells whether a comparison holds for operands in that order: -1, 0 or 1.
func holds(op string, order int) Truth {
	return truth(strings.Contains(op, "<=>"[order+1:order+2]) != (op == "!="))
}

// node is an operator with its operands, one or two, or an operand: a variable, or else a constant.
type node struct {
	op      string
	at      int // byte of the text
	x, y    *node
	text    string   // an operand as it is written
	value   operand  // of a constant
	ref     Ref      // of a variable
	pattern *pattern // of =~
}

// variable tells whether the node is a variable.
func (n *node) variable() bool { return n.ref.Path != "" }

// append writes the node so that it reads as the same, in parentheses only where it binds
// less than that.
func (n *node) append(b []byte, bind int) []byte {
	if n.x == nil {
		return append(b, n.text...)
	} else if n.y == nil {
		return n.x.append(append(b, n.op...), bindUnary)
	}
	own := operators[n.op].bind
	if own < bind {
		return append(n.append(append(b, '('), 0), ')')
	}
	b = append(append(append(n.x.append(b, own), ' '), n.op...), ' ')
	return n.y.append(b, own+1)
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

// withConstants is a copy of the node with constants where value knows them.
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

// constant tells whether no variable takes part.
func (n *node) constant() bool {
	constant := true
	n.operands(func(n *node) { constant = constant && !n.variable() })
	return constant
}

// first is the first byte of a node; an operator's own is in the middle of it.
func (n *node) first() int {
	for n.y != nil {
		n = n.x
	}
	return n.at
}
