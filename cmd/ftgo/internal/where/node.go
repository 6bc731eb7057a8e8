package where

import (
	"strconv"
	"strings"
	"time"
)

// op is what a node does with its operands, or which operand it is.
type op uint8

const (
	opOr op = iota
	opAnd
	opEqual
	opNotEqual
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opMatch
	opAdd
	opSub
	opMul
	opDiv
	opRem
	opBits
	opNot
	opNeg
	opInt
	opDuration
	opFloat
	opString
	opBool
	opNil
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
	bindOperand
)

var opTexts = [...]string{
	opOr: "||", opAnd: "&&", opEqual: "==", opNotEqual: "!=", opLess: "<", opLessEqual: "<=", opGreater: ">",
	opGreaterEqual: ">=", opMatch: "=~", opAdd: "+", opSub: "-", opMul: "*", opDiv: "/", opRem: "%", opBits: "&", opNot: "!", opNeg: "-",
}

// binaryOp finds a binary operator by its text.
func binaryOp(text string) (o op, ok bool) {
	for o := opOr; o <= opBits; o++ {
		if opTexts[o] == text {
			return o, true
		}
	}
	return 0, false
}

func (o op) binding() int {
	switch {
	case o == opOr:
		return bindOr
	case o == opAnd:
		return bindAnd
	case o <= opMatch:
		return bindCompare
	case o <= opSub:
		return bindAdd
	case o <= opBits:
		return bindMul
	case o <= opNeg:
		return bindUnary
	}
	return bindOperand
}

// comparison tells whether the operator compares; a match does not.
func (o op) comparison() bool { return o >= opEqual && o <= opGreaterEqual }

// inverse is the comparison that holds where o does not.
func (o op) inverse() op {
	switch o {
	case opEqual:
		return opNotEqual
	case opNotEqual:
		return opEqual
	case opLess:
		return opGreaterEqual
	case opGreaterEqual:
		return opLess
	case opGreater:
		return opLessEqual
	}
	return opGreater
}

// flipped is the comparison with its operands exchanged.
func (o op) flipped() op {
	switch o {
	case opLess:
		return opGreater
	case opLessEqual:
		return opGreaterEqual
	case opGreater:
		return opLess
	case opGreaterEqual:
		return opLessEqual
	}
	return o
}

// node is an operator with its operands, or an operand.
type node struct {
	op   op
	at   int // byte of the text
	x, y *node

	number  uint64  // opInt, opDuration (nanoseconds), opBool
	float   float64 // opFloat
	text    string  // opString, and what opMatch searches for
	bytes   []byte  // opString: text
	pattern *pattern
	ref     Ref // opRef
}

// String writes the node so that it reads as the same, with no parentheses that are not
// needed.
func (n *node) String() string { return string(n.append(nil)) }

func (n *node) append(b []byte) []byte {
	switch bind := n.op.binding(); bind {
	case bindOperand:
		return n.appendOperand(b)
	case bindUnary:
		return n.x.appendWithin(append(b, opTexts[n.op]...), bind)
	default:
		b = n.x.appendWithin(b, bind)
		b = append(append(append(b, ' '), opTexts[n.op]...), ' ')
		if n.op == opMatch {
			return strconv.AppendQuote(b, n.text)
		}
		return n.y.appendWithin(b, bind+1)
	}
}

// appendWithin adds parentheses where the node binds less than that.
func (n *node) appendWithin(b []byte, bind int) []byte {
	if n.op.binding() >= bind {
		return n.append(b)
	}
	return append(n.append(append(b, '(')), ')')
}

func (n *node) appendOperand(b []byte) []byte {
	switch n.op {
	case opInt:
		return strconv.AppendUint(b, n.number, 10)
	case opDuration:
		return append(b, time.Duration(n.number).String()...)
	case opFloat:
		text := strconv.FormatFloat(n.float, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0" // else it were an integer, which divides differently
		}
		return append(b, text...)
	case opString:
		return strconv.AppendQuote(b, n.text)
	case opBool:
		return strconv.AppendBool(b, n.number != 0)
	case opNil:
		return append(b, "nil"...)
	}
	return append(b, n.ref.String()...)
}

// constant tells whether no variable takes part.
func (n *node) constant() bool {
	return n.op != opRef && (n.x == nil || n.x.constant()) && (n.y == nil || n.y.constant())
}
