package symname

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Pattern selects functions by name: a [Glob], or a [Regexp]. The zero Pattern matches
// nothing.
//
// Names can be typed without what shells and people find hard:
//
//	main.Store.Get      main.Store.Get and main.(*Store).Get
//	main.Map            every instance: main.Map[go.shape.int], main.Map[...]
//	main.Map[...]       the same, as Go's tracebacks print it
//	main.Map.func1      the closures of all instances
//	main.Map[int]       main.Map[go.shape.int]; type arguments are compared
//	                    without "go.shape.", spaces and the index that Go 1.18
//	                    to 1.20 put behind a shape
//	gopkg.in/yaml.v3.F  gopkg.in/yaml%2ev3.F
//
// Type arguments take part in a glob only if it has a bracket, so *Store* finds
// no main.Map[go.shape.*main.Store]; those that pclntab leaves out ("[...]",
// Go 1.18 to 1.20) can't be told apart. A regular expression is tried on the
// symbol, on the symbol without escapes, and on both spellings without type
// arguments: main.(*Store).Get, main.Store.Get.
type Pattern struct {
	text  string
	re    *regexp.Regexp
	glob  glob
	start string // literal text that the glob begins with
	typed bool   // the glob has type arguments
}

// Glob reads a pattern as the user wrote it: "*" is any run of characters, dots and slashes
// included, "?" is one character, and the rest stands for itself; the pattern covers the whole
// name. The star of "(*" belongs to the receiver and is no wildcard, except in "(*)", any
// pointer receiver.
func Glob(text string) (Pattern, error) {
	if err := checkText(text); err != nil {
		return Pattern{}, err
	}
	p := Pattern{text: text}
	spelled := strings.ReplaceAll(text, "[...]", "")
	p.typed = strings.Contains(spelled, "[")
	p.glob = compileGlob(respell(spelled, keepPointer|keepArgs))
	p.start, _, _ = strings.Cut(p.glob[0], "?")
	return p, nil
}

// Regexp reads a pattern in Go's syntax (RE2), which is searched for anywhere in the name.
func Regexp(text string) (Pattern, error) {
	if err := checkText(text); err != nil {
		return Pattern{}, err
	}
	re, err := regexp.Compile(text)
	if bad := (*syntax.Error)(nil); errors.As(err, &bad) {
		// Its own text quotes the expression raw, control characters and all.
		return Pattern{}, fmt.Errorf("pattern %q: %s: %q", text, bad.Code, bad.Expr)
	} else if err != nil {
		return Pattern{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	return Pattern{text: text, re: re}, nil
}

func checkText(text string) error {
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("pattern %q: empty", text)
	}
	return nil
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// match tells whether the pattern covers a name. It knows only this one: that a name written
// in full selects nothing else is up to [Select].
func (p Pattern) match(s *spellings) bool {
	switch {
	case p.re != nil:
		return p.re.MatchString(s.symbol) ||
			s.pointed() != s.symbol && p.re.MatchString(s.pointed()) ||
			s.plain() != s.pointed() && p.re.MatchString(s.plain()) ||
			strings.Contains(s.symbol, "%") && p.re.MatchString(unescape(s.symbol))
	case len(p.glob) == 0:
		return false
	case p.typed:
		return p.glob.match(respell(s.symbol, keepPointer|keepArgs)) ||
			p.glob.match(respell(s.symbol, keepArgs)) ||
			p.glob.match(s.symbol)
	}
	return p.glob.match(s.plain()) || s.pointed() != s.plain() && p.glob.match(s.pointed())
}

// glob is a pattern cut at its wildcard stars: pieces of literal text and "?".
type glob []string

func compileGlob(text string) glob {
	var g glob
	start := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '*' {
			continue
		}
		if i > 0 && text[i-1] == '(' { // the literal star of a pointer receiver
			if !strings.HasPrefix(text[i+1:], ")") {
				continue
			}
			g = append(g, text[start:i+1])
		} else {
			g = append(g, text[start:i])
		}
		start = i + 1
	}
	return append(g, text[start:])
}

func (g glob) match(s string) bool {
	n, ok := prefixLen(g[0], s)
	if !ok || len(g) == 1 {
		return ok && n == len(s)
	}
	s = s[n:]
	last := len(g) - 1
	for _, piece := range g[1:last] {
		// The leftmost place leaves the most room for what follows.
		end := pieceEnd(piece, s)
		if end < 0 {
			return false
		}
		s = s[end:]
	}
	return hasSuffix(g[last], s)
}

// prefixLen returns how many bytes of s the piece covers at its start.
func prefixLen(piece, s string) (n int, ok bool) {
	literal, rest, found := strings.Cut(piece, "?")
	for ; found; literal, rest, found = strings.Cut(rest, "?") {
		if !strings.HasPrefix(s[n:], literal) || len(s) == n+len(literal) {
			return 0, false
		}
		n += len(literal)
		_, size := utf8.DecodeRuneInString(s[n:])
		n += size
	}
	return n + len(literal), strings.HasPrefix(s[n:], literal)
}

// pieceEnd returns where the piece's leftmost occurrence in s ends, or -1.
func pieceEnd(piece, s string) int {
	literal, _, wild := strings.Cut(piece, "?")
	for start := 0; start <= len(s); start++ {
		i := strings.Index(s[start:], literal)
		if i < 0 {
			return -1
		}
		start += i
		if !wild {
			return start + len(literal)
		}
		if n, ok := prefixLen(piece, s[start:]); ok {
			return start + n
		}
	}
	return -1
}

func hasSuffix(piece, s string) bool {
	if !strings.Contains(piece, "?") {
		return strings.HasSuffix(s, piece)
	}
	for i := range s {
		if n, ok := prefixLen(piece, s[i:]); ok && i+n == len(s) {
			return true
		}
	}
	return false
}

// spellings are the ways to write one symbol, made when first asked for.
type spellings struct {
	symbol                 string
	pointedForm, plainForm string
}

// pointed is main.(*Store).Get: no type arguments.
func (s *spellings) pointed() string {
	if s.pointedForm == "" {
		s.pointedForm = respell(s.symbol, keepPointer)
	}
	return s.pointedForm
}

// plain is main.Store.Get: no type arguments, no parentheses.
func (s *spellings) plain() string {
	if s.plainForm == "" {
		s.plainForm = Plain(s.symbol)
	}
	return s.plainForm
}
