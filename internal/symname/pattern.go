package symname

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// Pattern selects functions by name: a glob, or a regular expression. The zero Pattern matches
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
// Type arguments take part in a glob only if it has a bracket, so *Store* finds no
// main.Map[go.shape.*main.Store]; those that pclntab leaves out ("[...]", Go 1.18 to 1.20) can't
// be told apart. A regular expression is tried on the symbol, on the symbol without escapes, and
// on both spellings without type arguments: main.(*Store).Get, main.Store.Get.
type Pattern struct {
	text  string
	meant string // text without escapes
	re    *regexp.Regexp
	glob  glob
	start string // literal text that the glob begins with
	typed bool   // the glob has type arguments
}

// Compile reads a pattern as the user wrote it. In a glob, "*" is any run of characters, dots and
// slashes included, "?" is one character, and the rest stands for itself; the pattern covers the
// whole name. The star of "(*" belongs to the receiver and is no wildcard, except in "(*)", any
// pointer receiver. A regular expression is in Go's syntax (RE2), and searched for anywhere in
// the name.
func Compile(text string, regular bool) (Pattern, error) {
	if strings.TrimSpace(text) == "" {
		return Pattern{}, fmt.Errorf("pattern %q: empty", text)
	}
	p := Pattern{text: text, meant: unescape(text)}
	if !regular {
		spelled := strings.ReplaceAll(text, "[...]", "")
		p.typed = strings.Contains(spelled, "[")
		p.glob = compileGlob(respell(spelled, keepPointer|keepArgs))
		p.start, _, _ = strings.Cut(p.glob[0], "?")
		return p, nil
	}
	var err error
	p.re, err = regexp.Compile(text)
	if bad := (*syntax.Error)(nil); errors.As(err, &bad) {
		// Its own text quotes the expression raw, control characters and all.
		return Pattern{}, fmt.Errorf("pattern %q: %s: %q", text, bad.Code, bad.Expr)
	} else if err != nil {
		return Pattern{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	return p, nil
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// match tells whether the pattern covers a name. It knows only this one: that a name written
// in full selects nothing else is up to [Select].
func (p Pattern) match(s *spellings) bool {
	switch {
	case p.re != nil:
		return p.re.MatchString(s.symbol) ||
			s.as(keepPointer) != s.symbol && p.re.MatchString(s.as(keepPointer)) ||
			s.as(0) != s.as(keepPointer) && p.re.MatchString(s.as(0)) ||
			strings.Contains(s.symbol, "%") && p.re.MatchString(unescape(s.symbol))
	case len(p.glob) == 0:
		return false
	case p.typed:
		return p.glob.match(s.as(keepPointer|keepArgs)) || p.glob.match(s.as(keepArgs)) || p.glob.match(s.symbol)
	}
	return p.glob.match(s.as(0)) || s.as(keepPointer) != s.as(0) && p.glob.match(s.as(keepPointer))
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
	s, ok := cutPiece(s, g[0])
	for i := 1; ok && i < len(g); i++ {
		s, ok = cutLeftmost(s, g[i], i+1 == len(g))
	}
	return ok && s == ""
}

// cutLeftmost is what is behind the leftmost place of a piece in s, which leaves the most room for
// what follows; the last piece ends where s does.
func cutLeftmost(s, piece string, last bool) (rest string, ok bool) {
	literal, _, wild := strings.Cut(piece, "?")
	if last && !wild {
		return "", strings.HasSuffix(s, piece)
	}
	for at := strings.Index(s, literal); at >= 0; at = strings.Index(s, literal) {
		if rest, ok := cutPiece(s[at:], piece); ok && (!last || rest == "") {
			return rest, true
		}
		if at == len(s) {
			break
		}
		s = afterRune(s[at:])
	}
	return "", false
}

// cutPiece is s without the piece that it begins with.
func cutPiece(s, piece string) (rest string, ok bool) {
	for {
		literal, more, wild := strings.Cut(piece, "?")
		if s, ok = strings.CutPrefix(s, literal); !ok || !wild {
			return s, ok
		}
		if s == "" {
			return s, false
		}
		s, piece = afterRune(s), more
	}
}

func afterRune(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	return s[size:]
}

// spellings are the ways to write one symbol, made when first asked for.
type spellings struct {
	symbol string
	forms  [4]string // by what is kept
}

// as is the symbol respelled: main.(*Store).Get with keepPointer, main.Store.Get with 0.
func (s *spellings) as(parts keep) string {
	if s.forms[parts] == "" {
		s.forms[parts] = respell(s.symbol, parts)
	}
	return s.forms[parts]
}

// Select returns, for each include pattern, the indexes of the names that it matches and
// no exclude pattern does, and the include patterns that matched nothing, excluded or
// not. It goes through the names twice.
//
// A glob that is the name of a function, letter for letter, matches just the functions of that
// name; that of a value method, main.Store.Get, also the pointer method of that name, which the
// compiler makes of it: calls through an interface that holds a pointer may go no further.
func Select(names iter.Seq[string], include, exclude []Pattern) (selected [][]int, unmatched []Pattern) {
	exact := exactNames(names, include, exclude)
	selected = make([][]int, len(include))
	matched := make([]bool, len(include))
	var hits []int
	var s spellings
	excludes := func(p Pattern) bool { return p.selects(&s, exact) }
	i := -1
	for name := range names {
		i++
		s = spellings{symbol: name}
		hits = hits[:0]
		for j := range include {
			if include[j].selects(&s, exact) {
				matched[j] = true
				hits = append(hits, j)
			}
		}
		if len(hits) == 0 || slices.ContainsFunc(exclude, excludes) {
			continue
		}
		for _, j := range hits {
			selected[j] = append(selected[j], i)
		}
	}
	for j, p := range include {
		if !matched[j] {
			unmatched = append(unmatched, p)
		}
	}
	return selected, unmatched
}

// selects is match where the pattern texts that are names are known.
func (p *Pattern) selects(s *spellings, exact map[string]bool) bool {
	if p.re == nil && !p.mayMatch(s.symbol) {
		return false
	}
	if p.re == nil && exact[p.meant] {
		return unescape(s.symbol) == p.meant || s.as(keepPointer) != s.as(0) && s.as(0) == p.meant
	}
	return p.match(s)
}

// mayMatch is false for what a look at the first bytes tells from all spellings of a
// symbol: they are its own up to the first byte that respell looks at.
func (p *Pattern) mayMatch(symbol string) bool {
	if len(p.glob) == 0 {
		return false
	}
	for i := 0; i < len(p.start); i++ {
		switch {
		case i == len(symbol):
			return false
		case respelled(symbol[i]):
			return true
		case symbol[i] != p.start[i]:
			return false
		}
	}
	return true
}

// exactNames tells which of the names that patterns mean are there.
func exactNames(names iter.Seq[string], lists ...[]Pattern) map[string]bool {
	exact := make(map[string]bool)
	var lengths uint64 // of names that are meant, modulo 64: most others need no more
	for _, p := range slices.Concat(lists...) {
		exact[p.meant] = false
		lengths |= 1 << (len(p.meant) % 64)
	}
	for name := range names {
		if name = unescape(name); lengths>>(len(name)%64)&1 == 0 {
			continue
		}
		if _, meant := exact[name]; meant {
			exact[name] = true
		}
	}
	return exact
}

// respelled tells the bytes from which on a symbol may have several spellings.
func respelled(c byte) bool { return c == '(' || c == '[' || c == '%' || c == middleDot[0] }
