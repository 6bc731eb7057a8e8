package offsets

import (
	"cmp"
	"iter"
	"slices"

	"github.com/ftgo/ftgo/offsets/symname"
)

// Select returns the functions that [symname.Select] takes for their names, all and those of
// each include pattern, by ascending address and each address once. It also returns the include
// patterns that matched nothing, excluded or not.
func Select(funcs []Func, include, exclude []symname.Pattern) (all []*Func, of [][]*Func, unmatched []symname.Pattern) {
	indexes, unmatched := symname.Select(namesOf(funcs), include, exclude)
	pick := func(indexes []int) (picked []*Func) {
		for _, i := range indexes {
			picked = append(picked, &funcs[i])
		}
		slices.SortStableFunc(picked, func(a, b *Func) int {
			return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Name, b.Name))
		})
		return slices.CompactFunc(picked, func(a, b *Func) bool { return a.Addr == b.Addr })
	}
	for _, selected := range indexes {
		of = append(of, pick(selected))
	}
	return pick(slices.Concat(indexes...)), of, unmatched
}

// namesOf are the functions' names, in their order.
func namesOf(funcs []Func) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range funcs {
			if !yield(funcs[i].Name) {
				return
			}
		}
	}
}

// demangle spells the names of functions that are not of Go's own toolchain, and adds the
// linker's symbols to their aliases.
func demangle(funcs []Func) {
	for i, name := range symname.DemangleAll(slices.Collect(namesOf(funcs))) {
		f := &funcs[i]
		for _, alias := range f.aliases {
			if short := symname.Demangle(alias); short != alias {
				f.aliases = append(f.aliases, short)
			}
		}
		if f.Name != name {
			f.aliases = append(f.aliases, f.Name)
			f.Name = name
		}
	}
}
