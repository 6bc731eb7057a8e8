package symname

import (
	"iter"
	"slices"
)

// Select returns, for each include pattern, the indexes of the names that it matches and
// no exclude pattern does, and the include patterns that matched nothing, excluded or
// not. It goes through the names twice.
//
// A glob that is the name of a function, letter for letter, matches just the
// functions of that name; that of a value method, main.Store.Get, also the pointer
// method of that name, which the compiler makes of it: calls through an interface
// that holds a pointer may go no further.
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
	if p.re == nil && exact[p.text] {
		return unescape(s.symbol) == unescape(p.text) || s.pointed() != s.plain() && s.plain() == unescape(p.text)
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

// exactNames tells which pattern texts are one of the names.
func exactNames(names iter.Seq[string], lists ...[]Pattern) map[string]bool {
	texts := make(map[string][]string) // the name meant → the texts that mean it
	for _, p := range slices.Concat(lists...) {
		meant := unescape(p.text)
		texts[meant] = append(texts[meant], p.text)
	}
	exact := make(map[string]bool)
	var lengths uint64 // of names that are meant, modulo 64: most others need no more
	for meant := range texts {
		lengths |= 1 << (len(meant) % 64)
	}
	for name := range names {
		name = unescape(name)
		if lengths&(1<<(len(name)%64)) == 0 {
			continue
		}
		for _, text := range texts[name] {
			exact[text] = true
		}
	}
	return exact
}

// respelled tells the bytes from which on a symbol may have several spellings.
func respelled(c byte) bool { return c == '(' || c == '[' || c == '%' || c == middleDot[0] }
