package target

import (
	"cmp"
	"iter"
	"slices"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/symname"
)

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

// namesOf are the functions' names, in their order.
func namesOf(funcs []offsets.Func) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range funcs {
			if !yield(funcs[i].Name) {
				return
			}
		}
	}
}
