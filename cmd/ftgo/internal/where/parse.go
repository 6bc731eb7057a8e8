package where

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ftgo/ftgo/internal/valuepath"
)

// maxNesting bounds parentheses and unary operators within each other.
const maxNesting = 100

// parser reads a filter by recursive descent. The first problem ends it.
type parser struct {
	text    string
	token   token // the one that comes next
	nesting int
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

func (p *parser) next() { p.token = nextToken(p.text, p.token.at+len(p.token.text)) }

// accept goes past an operator, if it is the one.
func (p *parser) accept(operator string) bool {
	if p.token.kind != operatorToken || p.token.text != operator {
		return false
	}
	p.next()
	return true
}

// unexpected complains of the next token.
func (p *parser) unexpected(want string) error {
	t := p.token
	switch {
	case t.kind == badToken && strings.IndexByte("\"`", t.text[0]) >= 0:
		return &problem{"string does not end or has a bad escape", t.at}
	case t.kind == badToken && (t.text == "=" || t.text == "|"):
		return &problem{want + ", not " + strconv.Quote(t.text) + " (" + map[string]string{"=": "==", "|": "||"}[t.text] + "?),", t.at}
	case t.kind == endToken:
		return &problem{want, len(p.text)}
	}
	return &problem{want + ", not " + strconv.Quote(t.text) + ",", t.at}
}

// filter reads all of the text.
func (p *parser) filter() (*node, error) {
	p.next()
	root, err := p.binary(bindOr)
	if err != nil {
		return nil, err
	}
	if p.token.kind != endToken {
		return nil, p.unexpected("operator expected")
	}
	root = bitSet(root)
	if c, err := (checker{}).node(root); err != nil {
		return nil, err
	} else if c&truthClass == 0 {
		return nil, &problem{fmt.Sprintf("condition expected, not %s,", c), root.first()}
	}
	return root, nil
}

// bitSet makes a condition of "x & 4".
func bitSet(n *node) *node {
	if n.op != opBits {
		return n
	}
	return &node{op: opNotEqual, at: n.at, x: n, y: &node{op: opInt, at: n.at}}
}

// binary reads operands that operators of at least that binding join.
func (p *parser) binary(bind int) (*node, error) {
	if bind == bindUnary {
		return p.unary()
	}
	x, err := p.binary(bind + 1)
	if err != nil {
		return nil, err
	}
	for p.token.kind == operatorToken {
		o, ok := binaryOp(p.token.text)
		if !ok || o.binding() != bind {
			break
		}
		n := &node{op: o, at: p.token.at, x: x}
		p.next()
		if o == opMatch {
			if err := p.regexp(n); err != nil {
				return nil, err
			}
		} else if n.y, err = p.binary(bind + 1); err != nil {
			return nil, err
		}
		if bind <= bindAnd {
			n.x, n.y = bitSet(n.x), bitSet(n.y)
		}
		x = n
	}
	return x, nil
}

func (p *parser) regexp(n *node) error {
	if p.token.kind != stringToken {
		return p.unexpected("regular expression in quotes expected")
	}
	at := p.token.at
	text, err := strconv.Unquote(p.token.text)
	if err != nil {
		return &problem{"string has a bad escape", at}
	}
	if n.pattern, err = newPattern(text); err != nil {
		return &problem{err.Error(), at}
	}
	n.text = text
	p.next()
	return nil
}

func (p *parser) unary() (*node, error) {
	if p.nesting++; p.nesting > maxNesting {
		return nil, &problem{"nested too deeply", p.token.at}
	}
	defer func() { p.nesting-- }()
	at := p.token.at
	for o := opNot; o <= opNeg; o++ {
		if p.accept(opTexts[o]) {
			x, err := p.unary()
			if err != nil {
				return nil, err
			}
			if o == opNot {
				x = bitSet(x)
			}
			return &node{op: o, at: at, x: x}, nil
		}
	}
	if p.accept("(") {
		n, err := p.binary(bindOr)
		if err == nil && !p.accept(")") {
			err = p.unexpected(") expected")
		}
		return n, err
	}
	return p.operand()
}

func (p *parser) operand() (*node, error) {
	n := &node{at: p.token.at}
	var err error
	switch t := p.token; {
	case t.kind == numberToken:
		err = n.readNumber(t.text)
	case t.kind == stringToken:
		n.op = opString
		if n.text, err = strconv.Unquote(t.text); err != nil {
			err = errors.New("string has a bad escape")
		}
		n.bytes = []byte(n.text)
	case t.kind == nameToken && (t.text == "true" || t.text == "false"):
		n.op = opBool
		if t.text == "true" {
			n.number = 1
		}
	case t.kind == nameToken && t.text == "nil":
		n.op = opNil
	case t.kind == nameToken || t.text == "*":
		n.op = opRef
		n.ref, err = p.ref()
		return n, err
	default:
		return nil, p.unexpected("operand expected")
	}
	if err != nil {
		return nil, &problem{err.Error(), n.at}
	}
	p.next()
	return n, nil
}

func (n *node) readNumber(text string) (err error) {
	n.op = opInt
	if n.number, err = strconv.ParseUint(text, 0, 64); err == nil {
		return nil
	} else if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("number %s is beyond 64 bits", text)
	}
	n.op = opDuration
	if d, err := time.ParseDuration(text); err == nil {
		n.number = uint64(d)
		return nil
	}
	n.op = opFloat
	if n.float, err = strconv.ParseFloat(text, 64); errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("number %s is out of range", text)
	} else if err != nil {
		return fmt.Errorf("bad number %q", text)
	}
	return nil
}

// ref reads a variable or what is asked of one: len(x).
func (p *parser) ref() (Ref, error) {
	t := p.token
	if t.text == "*" {
		path, err := p.path()
		return Ref{Path: path}, err
	}
	if ahead := nextToken(p.text, t.at+len(t.text)); ahead.text != "(" {
		path, err := p.path()
		return Ref{Path: path}, err
	}
	part, ok := map[string]Part{"len": Len, "cap": Cap}[t.text]
	if !ok {
		return Ref{}, &problem{"no function " + strconv.Quote(t.text) + " but len and cap", t.at}
	}
	p.next()
	p.next()
	path, err := p.path()
	if err == nil && !p.accept(")") {
		err = p.unexpected(") expected")
	}
	return Ref{path, part}, err
}

// path reads "s.items[0].name".
func (p *parser) path() (string, error) {
	start := p.token.at
	path, n, err := valuepath.Scan(p.text[start:])
	p.token = nextToken(p.text, start+n)
	if wrong := (*valuepath.Error)(nil); errors.As(err, &wrong) {
		return "", p.unexpected(wrong.Want)
	}
	return path.String(), nil
}
