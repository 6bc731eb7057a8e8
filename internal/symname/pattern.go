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

// Pattern selects functions by name. It is a glob or a regular expression. The zero Pattern matches nothing.
//
// Users can type names without the characters that are hard to type in a shell:
//
//	main.Store.Get      main.Store.Get and main.(*Store).Get
//	main.Map            every instance: main.Map[go.shape.int], main.Map[...]
//	main.Map[...]       the same, as Go's tracebacks print it
//	main.Map.func1      the closures of all instances
//	main.Map[int]       main.Map[go.shape.int]; type arguments are compared
//	                    without "go.shape.", spaces and the index that Go 1.18
//	                    to 1.20 append to a shape
//	gopkg.in/yaml.v3.F  gopkg.in/yaml%2ev3.F
//
// A glob matches type arguments only if it contains a bracket, so *Store* does not match
// main.Map[go.shape.*main.Store]. The pclntab of Go 1.18 to 1.20 omits type arguments ("[...]"), so such instances
// can't be distinguished. A regular expression is matched against the symbol, the symbol without escapes, and two
// spellings without type arguments: main.(*Store).Get and main.Store.Get.
type Pattern struct {
	text        string
	unescaped   string // text without escapes
	re          *regexp.Regexp
	regular     bool // a regular expression, not a glob
	hasTypeArgs bool // the glob has type arguments
}

// Compile parses a pattern. In a glob, "*" matches any run of characters, including dots and slashes, "?" matches one
// character, and any other character matches itself; the glob must match the whole name. The star of "(*" is part of
// the receiver and not a wildcard, except in "(*)", which matches any pointer receiver. A regular expression has Go's
// syntax (RE2) and may match anywhere in the name.
func Compile(text string, regular bool) (Pattern, error) {
	if strings.TrimSpace(text) == "" {
		return Pattern{}, fmt.Errorf("pattern %q: empty", text)
	} else if !utf8.ValidString(text) {
		return Pattern{}, fmt.Errorf("pattern %q: invalid UTF-8", text)
	}
	p := Pattern{text: text, unescaped: unescape(text), regular: regular}
	var err error
	if regular {
		p.re, err = regexp.Compile(text)
	} else {
		spelled := strings.ReplaceAll(text, "[...]", "")
		p.hasTypeArgs = strings.Contains(spelled, "[")
		// The star of "(*" is literal, and "(*)" is any pointer receiver.
		wildcards := strings.NewReplacer(`\(\*\)`, `\(\*.*\)`, `\(\*`, `\(\*`, `\*`, `.*`, `\?`, `.`)
		expr := "^" + wildcards.Replace(regexp.QuoteMeta(respell(spelled, keepPointer|keepArgs))) + "$"
		expr = strings.TrimSuffix(strings.TrimPrefix(expr, "^.*"), ".*$") // several times as fast
		p.re, err = regexp.Compile("(?s)" + expr)
	}
	if bad := (*syntax.Error)(nil); errors.As(err, &bad) {
		// The error's own text contains the expression unquoted, with its control characters.
		return Pattern{}, fmt.Errorf("pattern %q: %s: %q", text, bad.Code, bad.Expr)
	} else if err != nil {
		return Pattern{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	return p, nil
}

// String returns the pattern as the user typed it.
func (p Pattern) String() string { return p.text }

// match reports whether the pattern matches a name. It ignores the rule of [Select] that an exact name selects only
// itself.
func (p Pattern) match(s *spellings) bool {
	switch {
	case p.re == nil:
		return false
	case p.regular:
		return p.re.MatchString(s.symbol) ||
			s.as(keepPointer) != s.symbol && p.re.MatchString(s.as(keepPointer)) ||
			s.as(0) != s.as(keepPointer) && p.re.MatchString(s.as(0)) ||
			strings.Contains(s.symbol, "%") && p.re.MatchString(unescape(s.symbol))
	case p.hasTypeArgs:
		return p.re.MatchString(s.as(keepPointer|keepArgs)) || p.re.MatchString(s.as(keepArgs)) || p.re.MatchString(s.symbol)
	}
	return p.re.MatchString(s.as(0)) || s.as(keepPointer) != s.as(0) && p.re.MatchString(s.as(keepPointer))
}

// spellings caches the different spellings of one symbol.
type spellings struct {
	symbol string
	forms  [4]string // indexed by the flags of respell; "" until computed
}

// as returns the symbol as respell spells it: main.(*Store).Get with keepPointer, main.Store.Get with 0.
func (s *spellings) as(parts int) string {
	if s.forms[parts] == "" {
		s.forms[parts] = respell(s.symbol, parts)
	}
	return s.forms[parts]
}

// Select returns, for each include pattern, the indexes of the names that the pattern matches and no exclude pattern
// matches. unmatched are the indexes of the include patterns that matched no name, not even an excluded name. Select
// iterates over the names twice.
//
// A glob that equals the name of a function exactly matches only the functions with that name. If the function is a
// value method, main.Store.Get, the glob also matches the pointer method that the compiler generates from it, because
// calls through an interface that holds a pointer may run only that method.
func Select(names iter.Seq[string], include, exclude []Pattern) (selected [][]int, unmatched []int) {
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
	for j, ok := range matched {
		if !ok {
			unmatched = append(unmatched, j)
		}
	}
	return selected, unmatched
}

// selects is match with the rule of [Select] for a glob that equals the name of a function exactly. exact is the result
// of exactNames.
func (p *Pattern) selects(s *spellings, exact map[string]bool) bool {
	if !p.regular && exact[p.unescaped] {
		return unescape(s.symbol) == p.unescaped || s.as(keepPointer) != s.as(0) && s.as(0) == p.unescaped
	}
	return p.match(s)
}

// exactNames returns the unescaped texts of all patterns, with true for each that is the full name of a function.
func exactNames(names iter.Seq[string], lists ...[]Pattern) map[string]bool {
	exact := make(map[string]bool)
	for _, p := range slices.Concat(lists...) {
		exact[p.unescaped] = false
	}
	for name := range names {
		name = unescape(name)
		if _, ok := exact[name]; ok {
			exact[name] = true
		}
	}
	return exact
}
