package where

import "github.com/ftgo/ftgo/internal/capture"

// op is what a node does with its operands, or which operand it is.
type op uint8

// A comparison is the set of orders that its operands may be in.
const (
	opLess op = 1 << iota
	opEqual
	opGreater
	opLessEqual    = opLess | opEqual
	opGreaterEqual = opGreater | opEqual
	opNotEqual     = opLess | opGreater
	anyOrder       = opLess | opEqual | opGreater
)

// What is no comparison.
const (
	opOr op = anyOrder + 1 + iota
	opAnd
	opMatch
	opAdd
	opSub
	opMul
	opDiv
	opRem
	opBits
	opNot
	opNeg
	opConstant
	opRef
)

// How tightly operators bind; as in Go (spec, "Operator precedence").
const (
	bindOr = iota + 1
	bindAnd
	bindCompare
	bindAdd
	bindMul
	bindUnary
)

// operators are what is known of each: want is what its operands must be, where that is the
// same for both.
var operators = [...]struct {
	text string
	bind int
	want class
}{
	opOr: {"||", bindOr, truthClass}, opAnd: {"&&", bindAnd, truthClass}, opNot: {"!", bindUnary, truthClass},
	opEqual: {"==", bindCompare, 0}, opNotEqual: {"!=", bindCompare, 0},
	opLess: {"<", bindCompare, 0}, opLessEqual: {"<=", bindCompare, 0},
	opGreater: {">", bindCompare, 0}, opGreaterEqual: {">=", bindCompare, 0}, opMatch: {"=~", bindCompare, textClass},
	opAdd: {"+", bindAdd, numberClass}, opSub: {"-", bindAdd, numberClass}, opNeg: {"-", bindUnary, numberClass},
	opMul: {"*", bindMul, numberClass}, opDiv: {"/", bindMul, numberClass},
	opRem: {"%", bindMul, wholeClass}, opBits: {"&", bindMul, wholeClass},
}

func (o op) String() string { return operators[o].text }

// comparison tells whether the operator compares; a match does not.
func (o op) comparison() bool { return o <= anyOrder }

// inverse is the comparison that holds where o does not.
func (o op) inverse() op { return o ^ anyOrder }

// flipped is the comparison with its operands exchanged.
func (o op) flipped() op { return o&opEqual | o&opLess<<2 | o&opGreater>>2 }

// equality tells whether the operator compares what has no order, too.
func (o op) equality() bool { return o == opEqual || o == opNotEqual }

// holds tells whether a comparison holds for operands in that order: -1, 0 or 1.
func (o op) holds(order int) Truth { return truth(o>>(order+1)&1 != 0) }

// node is an operator with its operands, or an operand.
type node struct {
	op      op
	at      int // byte of the text
	x, y    *node
	text    string   // an operand as it is written
	value   operand  // opConstant
	ref     Ref      // opRef
	pattern *pattern // opMatch
}

// append writes the node so that it reads as the same, in parentheses only where it binds
// less than that.
func (n *node) append(b []byte, bind int) []byte {
	if n.x == nil {
		return append(b, n.text...)
	}
	o := operators[n.op]
	switch {
	case o.bind < bind:
		return append(n.append(append(b, '('), 0), ')')
	case n.y == nil:
		return n.x.append(append(b, o.text...), o.bind)
	}
	b = append(append(append(n.x.append(b, o.bind), ' '), o.text...), ' ')
	return n.y.append(b, o.bind+1)
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
	if n.op == opRef && n.ref.Part == capture.Whole {
		if v, ok := value(n.ref.Path); ok {
			c.op, c.value = opConstant, read(&v)
		}
	}
	return &c
}

// constant tells whether no variable takes part.
func (n *node) constant() bool {
	constant := true
	n.operands(func(n *node) { constant = constant && n.op == opConstant })
	return constant
}

// first is the first byte of a node; an operator's own is in the middle of it.
func (n *node) first() int {
	for n.y != nil {
		n = n.x
	}
	return n.at
}
