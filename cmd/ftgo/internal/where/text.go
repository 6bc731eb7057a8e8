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

// text is a string, of which perhaps only the first bytes are known.
type text struct {
	bytes  []byte // the known bytes
	length int64  // the length of the whole string, negative if unknown
}

func wholeText(s string) text { return text{[]byte(s), int64(len(s))} }

// cut reports whether some bytes are unknown.
func (t text) cut() bool { return int64(len(t.bytes)) != t.length }

// compare returns the order of two strings: -1, 0 or 1. If equality is true, -1 and 1 only mean that the strings differ.
// known is false if unknown bytes decide.
func (t text) compare(u text, equality bool) (order int, known bool) {
	n := min(len(t.bytes), len(u.bytes))
	if order = bytes.Compare(t.bytes[:n], u.bytes[:n]); order != 0 {
		return order, true
	}
	// The known bytes of one string are a prefix of the other string's known bytes.
	order = cmp.Compare(t.length, u.length)
	known = n == len(t.bytes) && !t.cut() || n == len(u.bytes) && !u.cut()
	return order, known || equality && order != 0
}

// pattern is a regular expression.
type pattern struct {
	*regexp.Regexp
	// open is true if a match in the first bytes of a string stays a match, whatever bytes follow.
	open bool
	// start is a prefix of every string that matches, "" if no such prefix is known.
	start string
}

func newPattern(expr string) (*pattern, error) {
	re, err := regexp.Compile(expr)
	if bad, ok := errors.AsType[*syntax.Error](err); ok {
		// The error's own text holds the expression with its control characters.
		return nil, fmt.Errorf("%s: %q", bad.Code, bad.Expr)
	} else if err != nil {
		return nil, err
	}
	parsed, _ := syntax.Parse(expr, syntax.Perl) // regexp.Compile did both without an error
	program, _ := syntax.Compile(parsed.Simplify())
	p := &pattern{Regexp: re, open: !slices.ContainsFunc(program.Inst, looksAhead)}
	if program.StartCond()&syntax.EmptyBeginText != 0 {
		p.start, _ = re.LiteralPrefix()
	}
	return p, nil
}

// looksAhead reports whether an instruction depends on the text after a match, as $ does.
func looksAhead(i syntax.Inst) bool {
	const behind = syntax.EmptyBeginLine | syntax.EmptyBeginText
	return i.Op == syntax.InstEmptyWidth && syntax.EmptyOp(i.Arg)&^behind != 0
}

// search reports whether the pattern matches a string. The result is Unknown if unknown bytes decide.
func (p *pattern) search(t text) Truth {
	switch {
	case !t.cut():
		return truth(p.Match(t.bytes))
	case t.length < 0:
		return Unknown
	}
	if p.open && p.Match(capture.WholeRunes(t.bytes)) { // a cut rune would match as U+FFFD
		return True
	}
	n := min(len(p.start), len(t.bytes))
	if !strings.HasPrefix(p.start, string(t.bytes[:n])) || int64(len(p.start)) > t.length {
		return False
	}
	return Unknown
}
