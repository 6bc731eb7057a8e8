package target

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/symname"
)

// choose is [choose] of all functions. Patterns that match none are spelled out.
func (w *wanted) choose(say Say, q *Query) (all []*offsets.Func, of [][]*offsets.Func, unmatched []symname.Pattern, err error) {
	funcs := w.binary.Funcs()
	if all, of, unmatched = choose(funcs, w.include, w.exclude); len(unmatched) == 0 || q.Regexp {
		return all, of, unmatched, nil
	}
	for i, p := range w.include {
		if !slices.ContainsFunc(unmatched, func(u symname.Pattern) bool { return u.String() == p.String() }) {
			continue
		}
		full, err := spellOut(w.binary, p)
		if err != nil && !q.Missing {
			return nil, nil, nil, err
		}
		if full.String() != p.String() {
			say("%s is %s", p, full)
		}
		w.include[i] = full
	}
	all, of, unmatched = choose(funcs, w.include, w.exclude)
	return all, of, unmatched, nil
}

// choose returns the functions that [symname.Select] takes for their names, all and those of
// each include pattern, by ascending address and each address once. It also returns the include
// patterns that matched nothing, excluded or not.
func choose(funcs []offsets.Func, include, exclude []symname.Pattern) (all []*offsets.Func, of [][]*offsets.Func, unmatched []symname.Pattern) {
	indexes, unmatched := symname.Select(namesOf(funcs), include, exclude)
	pick := func(indexes []int) (picked []*offsets.Func) {
		for _, i := range indexes {
			picked = append(picked, &funcs[i])
		}
		slices.SortStableFunc(picked, func(a, b *offsets.Func) int {
			return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Name, b.Name))
		})
		return slices.CompactFunc(picked, func(a, b *offsets.Func) bool { return a.Addr == b.Addr })
	}
	for _, selected := range indexes {
		of = append(of, pick(selected))
	}
	return pick(slices.Concat(indexes...)), of, unmatched
}

func namesOf(funcs []offsets.Func) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range funcs {
			if !yield(funcs[i].Name) {
				return
			}
		}
	}
}

// matching are the functions that a pattern selects.
func matching(b *offsets.Binary, pattern string) ([]*offsets.Func, error) {
	p, err := compile(pattern, false)
	if err != nil {
		return nil, err
	}
	found, _, _ := choose(b.Funcs(), []symname.Pattern{p}, nil)
	if len(found) > 0 {
		return found, nil
	}
	if p, err = spellOut(b, p); err != nil {
		return nil, err
	}
	if found, _, _ = choose(b.Funcs(), []symname.Pattern{p}, nil); len(found) == 0 {
		err = noMatch(b, pattern, false)
	}
	return found, err
}

// maxMeanings is how many names an error lists that somebody may have meant.
const maxMeanings = 5

// spellOut spells out a pattern that matches nothing, unless it is the end of no name: Store.Get of
// main.Store.Get, and server.(*client).* of what package example.com/server has. It must be the end
// of one name, or of one package's; else the error lists them.
func spellOut(b *offsets.Binary, p symname.Pattern) (symname.Pattern, error) {
	text := p.String()
	path := strings.LastIndexByte(text, '/') + 1
	element, _, _ := strings.Cut(text[path:], ".")
	end := "/" + text[:path] + element // of a package's path
	wild := strings.ContainsAny(strings.ReplaceAll(text, "(*", ""), "*?")
	var meanings []string
	for _, start := range []string{"*/", "*."} {
		if wild && start == "*." {
			break // the middle of a name is the end of many packages'
		}
		longer, err := compile(start+text, false)
		if err != nil {
			return p, err
		}
		found, _, _ := choose(b.Funcs(), []symname.Pattern{longer}, nil)
		for _, f := range found {
			meaning := symname.Plain(f.Name)
			if wild {
				dir, ok := strings.CutSuffix(symname.Split(f.Name).Package, end)
				if !ok {
					continue
				}
				meaning = dir + "/" + text
			}
			meanings = append(meanings, meaning)
		}
	}
	slices.Sort(meanings)
	switch meanings = slices.Compact(meanings); {
	case len(meanings) == 0:
		return p, nil
	case len(meanings) == 1:
		return compile(meanings[0], false)
	}
	more := ""
	if n := len(meanings) - maxMeanings; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return p, nothingf("%s: %q is the end of %s: %s%s", b.File().Path(), text, units.Plural(len(meanings), "name"),
		strings.Join(meanings[:min(len(meanings), maxMeanings)], ", "), more)
}

// noMatch explains why a pattern selects nothing: no such name, or a function that
// the compiler has put into its callers.
func noMatch(b *offsets.Binary, pattern string, regexp bool) error {
	err := nothingf("%s: no function matches %q", b.File().Path(), pattern)
	if regexp {
		return err
	}
	if at, err := b.InlinedAt(pattern); err == nil && len(at) > 0 {
		return nothingf("%s: %s was inlined into its callers (%s, see ftgo list) and has no code of its own: nothing to probe",
			b.File().Path(), pattern, units.Plural(len(at), "place"))
	}
	if near := symname.Nearest(pattern, namesOf(b.Funcs()), 3); len(near) > 0 {
		err = nothingf("%w; nearest: %s", err, strings.Join(near, ", "))
	}
	return err
}
