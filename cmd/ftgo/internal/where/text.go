package where

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/capture"
)

// text is a string of which the first bytes are known, or all.
type text struct {
	bytes  []byte
	length int64
}

func wholeText(s string) text { return text{[]byte(s), int64(len(s))} }

// cut tells whether not all is known; of a length that makes no sense nothing is.
func (t text) cut() bool { return int64(len(t.bytes)) != t.length }

// first is the beginning, up to n bytes.
func (t text) first(n int64) text {
	if t.length > n {
		return text{t.bytes[:min(n, int64(len(t.bytes)))], n}
	}
	return t
}

// compare orders two strings, as far as the order is known, or with equality whether they
// are the same.
func (t text) compare(u text, equality bool) (order int, known bool) {
	n := min(len(t.bytes), len(u.bytes))
	if order = bytes.Compare(t.bytes[:n], u.bytes[:n]); order != 0 {
		return order, true
	}
	// One begins with what is known of the other.
	order = cmp.Compare(t.length, u.length)
	known = n == len(t.bytes) && !t.cut() || n == len(u.bytes) && !u.cut()
	return order, known || equality && order != 0
}

// pattern is a regular expression.
type pattern struct {
	*regexp.Regexp
	// open: text behind a match can't undo it.
	open bool
	// start is what all that match begins with; "" if there is nothing.
	start string
}

func newPattern(expr string) (*pattern, error) {
	re, err := regexp.Compile(expr)
	if bad, ok := errors.AsType[*syntax.Error](err); ok {
		// Its own text quotes the expression raw, control characters and all.
		return nil, fmt.Errorf("%s: %q", bad.Code, bad.Expr)
	} else if err != nil {
		return nil, err
	}
	parsed, _ := syntax.Parse(expr, syntax.Perl) // regexp.Compile has done both without an error
	program, _ := syntax.Compile(parsed.Simplify())
	p := &pattern{Regexp: re, open: !slices.ContainsFunc(program.Inst, looksAhead)}
	if program.StartCond()&syntax.EmptyBeginText != 0 {
		p.start, _ = re.LiteralPrefix()
	}
	return p, nil
}

// looksAhead tells whether a match depends on what follows it.
func looksAhead(i syntax.Inst) bool {
	const behind = syntax.EmptyBeginLine | syntax.EmptyBeginText
	return i.Op == syntax.InstEmptyWidth && syntax.EmptyOp(i.Arg)&^behind != 0
}

// search tells whether a string matches, as far as that is known.
func (p *pattern) search(t text) Truth {
	switch {
	case !t.cut():
		return truth(p.Match(t.bytes))
	case t.length < 0:
		return Unknown
	}
	if p.open && p.Match(capture.WholeRunes(t.bytes)) { // half a rune matches as something else
		return True
	}
	n := min(len(p.start), len(t.bytes))
	if !strings.HasPrefix(p.start, string(t.bytes[:n])) || int64(len(p.start)) > t.length {
		return False
	}
	return Unknown
}
