package symname

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
)

// Nearest returns up to n names similar to text, which matches no function: text in another case, with typos, a
// prefix of the name, or without the package or receiver. The most similar names come first. Names are spelled as
// globs accept them; all instances of a generic function share one name: main.(*Map).Get.
func Nearest(text string, names iter.Seq[string], n int) []string {
	q := parseQuery(text)
	if q.whole == "" || n <= 0 {
		return nil
	}
	path, readings := "", q.readings("")
	var near []suggestion
	for symbol := range names {
		name := Split(symbol)
		if name.IsOfType() {
			continue
		}
		if name.Prefix != path { // most functions follow another one of their package
			path, readings = name.Prefix, q.readings(name.Package)
		}
		plain, cost := strings.ToLower(Plain(symbol[len(path):])), noMatch
		for _, r := range readings {
			cost = min(cost, r.cost+costOf(r.word, plain, name.Suffix != ""))
		}
		if cost < noMatch {
			s := suggestion{name: respell(symbol, keepPointer), cost: cost}
			if name.Package != "main" {
				s.foreign = 1
			}
			near = append(near, s)
		}
	}
	// The most similar names first, then the program's own functions, then short names.
	slices.SortFunc(near, func(s, o suggestion) int {
		return cmp.Or(
			cmp.Compare(s.cost, o.cost), cmp.Compare(s.foreign, o.foreign),
			cmp.Compare(len(s.name), len(o.name)), cmp.Compare(s.name, o.name),
		)
	})
	near = slices.Compact(near)
	var nearest []string
	for _, s := range near[:min(n, len(near))] {
		nearest = append(nearest, s.name)
	}
	return nearest
}

// suggestion is a name and its distance from the typed text.
type suggestion struct {
	name    string
	cost    int
	foreign int // 1 outside package main
}

// query is the text that the user typed, in lower case, in the plain spelling and without wildcards. pkg and rest are
// the parts before and after the package separator, if whole seems to have one.
type query struct {
	whole, pkg, rest string
}

func parseQuery(text string) query {
	text = strings.TrimSuffix(Plain(strings.TrimSpace(text)), ".abi0")
	text = strings.ToLower(strings.NewReplacer("(", "", ")", "", "*", "", "?", "").Replace(text))
	q := query{whole: text}
	if end := pathEnd(text); end > 0 {
		q.pkg, q.rest = text[:end-1], text[end:]
	}
	return q
}

// These are costs: each assumption about what the user left out or mistyped adds to the cost of a name. noMatch means
// that the names are not similar.
const (
	noReceiver = 1
	noPackage  = 2
	prefixOnly = 4
	noMatch    = 1 << 10
)

// reading is one interpretation of the typed text for functions of one package: word is the part to compare with their
// names without the package, and cost is the cost of the assumptions about the package.
type reading struct {
	word string
	cost int
}

// readings returns the possible interpretations of the typed text for functions of one package.
func (q query) readings(pkg string) []reading {
	pkg = strings.ToLower(pkg)
	// This compares with pkg and not with q.pkg, which may end too early: the last element of a path may have dots, as in
	// gopkg.in/yaml.v3.Unmarshal.
	if rest, ok := strings.CutPrefix(q.whole, pkg+"."); ok && pkg != "" {
		return []reading{{rest, 0}}
	}
	all := []reading{{q.whole, noPackage}}
	if q.pkg == "" {
		return all
	}
	last := pkg[strings.LastIndexByte(pkg, '/')+1:]
	if rest, ok := strings.CutPrefix(q.whole, last+"."); ok {
		return append(all, reading{rest, 1})
	}
	for _, name := range []string{pkg, last} {
		if n, ok := typos(q.pkg, name); ok {
			return append(all, reading{q.rest, n + 1})
		}
	}
	return all
}

// costOf returns the cost of the assumption that word means name. generated says that the compiler generated the
// function. Then neither a prefix of name nor a typo in the last part of name counts.
func costOf(word, name string, generated bool) int {
	if word == "" {
		return noMatch
	}
	if word == name {
		return 0
	}
	if receiver, ok := strings.CutSuffix(name, word); ok && strings.HasSuffix(receiver, ".") {
		return noReceiver
	}
	cost := noMatch
	if len(word) >= 4 && !generated && strings.HasPrefix(name, word) {
		cost = prefixOnly
	}
	if n, ok := typos(word, name); ok {
		cost = min(cost, n+1)
	}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 && !generated {
		if n, ok := typos(word, name[dot+1:]); ok {
			cost = min(cost, noReceiver+n+1)
		}
	}
	return cost
}

// typos returns the number of wrong, missing, extra and transposed bytes in word, compared with name. ok is false if
// the number is too large for the length of the word.
func typos(word, name string) (n int, ok bool) {
	limit := min((len(word)+2)/5, 3)
	if len(word) == 2 { // main.ad may mean main.add; one letter is too short to compare
		limit = 1
	}
	if max(len(word)-len(name), len(name)-len(word)) > limit {
		return 0, false
	}
	n = printable.Distance(word, name)
	return n, n <= limit
}
