package where

import (
	"errors"
	"fmt"
	"go/constant"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ftgo/ftgo/internal/capture"
)

// words matches one word of a filter: a name, a number, a string, an operator or any other character. A word
// that begins with a digit is a number or a duration: 0x1F, 1e-9, 1m30s. The expression is compiled at its first
// use, because most commands have no filter.
var words = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[\p{L}_][\p{L}\p{Nd}_]*` +
		`|0[xX][.\p{L}\p{Nd}_]*|[0-9](?:[eE][-+]|[.\p{L}\p{Nd}_])*` +
		"|\"(?:[^\"\\\\\n]|\\\\.)*\"|`[^`]*`" +
		`|\|\||&&|[=!<>]=|=~|(?s:.))`)
})

// nextWord returns the first word in text[at:] and its index. If no word follows, the word is "".
func nextWord(text string, at int) (word string, start int) {
	rest := strings.TrimLeft(text[at:], " \t\r\n")
	return words().FindString(rest), len(text) - len(rest)
}

// isName reports whether a word is a name.
func isName(word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	return first == '_' || unicode.IsLetter(first)
}

// isQuoted reports whether a word begins with a quote.
func isQuoted(word string) bool { return word != "" && (word[0] == '"' || word[0] == '`') }

// maxNesting is the largest depth of nested parentheses and unary operators.
const maxNesting = 100

// parser reads a filter by recursive descent. It stops at the first problem.
type parser struct {
	text    string
	word    string // the next word
	at      int    // the index of its first byte
	nesting int
	err     *problem
}

func parse(text string) (*node, *problem) {
	p := &parser{text: text}
	p.next()
	root := p.binary(1)
	if p.word != "" {
		p.unexpected("operator expected")
	}
	return root, p.err
}

func (p *parser) next() { p.word, p.at = nextWord(p.text, p.at+len(p.word)) }

// fail records the first problem and moves to the end of the text, which ends the parser's loops.
func (p *parser) fail(what string, at int) {
	if p.err == nil {
		p.err = &problem{what, at}
	}
	p.word, p.at = "", len(p.text)
}

func (p *parser) unexpected(want string) {
	_, bad := strconv.Unquote(p.word)
	switch {
	case p.word == "":
	case isQuoted(p.word) && bad != nil:
		want = "string does not end or has a bad escape"
	case p.word == "=" || p.word == "|":
		want += fmt.Sprintf(", not %q (%[1]s%[1]s?),", p.word)
	default:
		want += fmt.Sprintf(", not %q,", p.word)
	}
	p.fail(want, p.at)
}

// accept skips the next word if it is equal to the parameter text. It reports whether it skipped the word.
func (p *parser) accept(text string) bool {
	if p.word != text {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.unexpected(text + " expected")
	}
}

// bitSet turns "x & 4" into the condition "x & 4 != 0". It returns any other node unchanged.
func bitSet(n *node) *node {
	if n.op != "&" {
		return n
	}
	return &node{op: "!=", at: n.at, x: n, y: &node{at: n.at, text: "0", value: wholeOperand(constant.MakeInt64(0))}}
}

// binary reads operands joined by operators whose precedence is at least bind.
func (p *parser) binary(bind int) *node {
	x := p.unary()
	for {
		n := &node{op: p.word, at: p.at, x: x}
		precedence := operators[n.op].bind
		if precedence < bind {
			return x
		}
		p.next()
		n.y = p.binary(precedence + 1)
		if n.op == "=~" {
			p.regexp(n)
		} else if precedence <= bindAnd {
			n.x, n.y = bitSet(n.x), bitSet(n.y)
		}
		x = n
	}
}

// regexp sets n.pattern to the regular expression to the right of =~. It empties the value of that operand, so that
// Longest does not count its length.
func (p *parser) regexp(n *node) {
	if n.y.value.class != textClass {
		p.fail("regular expression in quotes expected", n.y.first())
	}
	var err error
	if n.pattern, err = newPattern(string(n.y.value.text.bytes)); err != nil {
		p.fail(err.Error(), n.y.at)
	}
	n.y.value = textOperand(text{})
}

func (p *parser) unary() *node {
	if p.nesting++; p.nesting > maxNesting {
		p.fail("nested too deeply", p.at)
	}
	defer func() { p.nesting-- }()
	if p.registers() {
		return p.operand()
	}
	n := &node{op: p.word, at: p.at}
	switch {
	case p.accept("-"):
		n.x = p.unary()
	case p.accept("!"):
		n.x = bitSet(p.unary())
	case p.accept("("):
		n = p.binary(1)
		p.expect(")")
	default:
		return p.operand()
	}
	return n
}

// registers reports whether the next words name a register or memory it points to: "-8(goarg1)".
func (p *parser) registers() bool { return capture.RegisterLen(p.text[p.at:]) > 0 }

func (p *parser) operand() *node {
	n := &node{at: p.at, text: p.word}
	switch {
	case p.word != "" && '0' <= p.word[0] && p.word[0] <= '9':
		var err error
		if n.value, err = readNumber(p.word); err != nil {
			p.fail(err.Error(), p.at)
		}
	case isQuoted(p.word):
		s, err := strconv.Unquote(p.word)
		if err != nil {
			p.unexpected("")
		}
		n.value, n.text = textOperand(wholeText(s)), strconv.Quote(s)
	case p.word == "true" || p.word == "false":
		n.value = truthOperand(truth(p.word == "true"))
	case p.word == "nil":
		n.value = nilOperand
	case isName(p.word) || p.word == "*" || p.registers():
		n.ref = p.ref()
		n.text = n.ref.String()
		return n
	default:
		p.unexpected("operand expected")
	}
	p.next()
	return n
}

// readNumber reads an integer, a duration or a float.
func readNumber(s string) (operand, error) {
	whole, err := strconv.ParseUint(s, 0, 64)
	if err == nil {
		return wholeOperand(constant.MakeUint64(whole)), nil
	} else if errors.Is(err, strconv.ErrRange) {
		return operand{}, fmt.Errorf("number %s is beyond 64 bits", s)
	}
	if d, err := time.ParseDuration(s); err == nil {
		return wholeOperand(constant.MakeInt64(int64(d))), nil
	}
	real, err := strconv.ParseFloat(s, 64)
	if errors.Is(err, strconv.ErrRange) {
		return operand{}, fmt.Errorf("number %s is out of range", s)
	} else if err != nil {
		return operand{}, fmt.Errorf("bad number %q", s)
	}
	return realOperand(real), nil
}

// ref reads a variable, its length, its capacity or its first bytes: x, len(x), x[:4].
func (p *parser) ref() (r Ref) {
	name, at := p.word, p.at
	if following, _ := nextWord(p.text, at+len(name)); !isName(name) || following != "(" {
		if r.Path = p.path(); p.accept("[") {
			r.First = p.first()
		}
		return r
	}
	if r.Part = capture.Part(name); r.Part != capture.Len && r.Part != capture.Cap {
		p.fail(fmt.Sprintf("no function %q but len and cap", name), at)
		return r
	}
	p.next()
	p.next()
	r.Path = p.path()
	p.expect(")")
	return r
}

// maxFirst is the largest number of bytes of a string that a probe fetches.
const maxFirst = 512

// first reads the rest of "x[:4]" after the opening bracket and returns the number of bytes.
func (p *parser) first() int {
	p.expect(":")
	n, err := strconv.Atoi(p.word)
	if err != nil || n < 1 || n > maxFirst {
		p.unexpected(fmt.Sprintf("number from 1 to %d expected", maxFirst))
	}
	p.next()
	p.expect("]")
	return n
}

// path reads a path such as "s.items[0].name".
func (p *parser) path() string {
	steps, n, err := capture.ScanPath(p.text[p.at:])
	p.word, p.at = nextWord(p.text, p.at+n)
	if err != nil {
		p.unexpected(err.Error())
	}
	return capture.JoinPath(steps)
}
