package debug

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Distinct removes the second description of a parameter. Go 1.18 describes some parameters twice.
func Distinct(formals []Formal) []Formal {
	var kept []Formal
	for _, v := range formals {
		if v.Name == "" || v.Name == "_" || !slices.ContainsFunc(kept, func(o Formal) bool { return o.Name == v.Name }) {
			kept = append(kept, v)
		}
	}
	return kept
}

// InStackOrder sorts parameters by their places on the stack. Parameters of unknown place come last. It sorts results
// without names by the compiler's numbers (~r0, ~r1).
func (d *Info) InStackOrder(fn *Function, formals []Formal) {
	slices.SortStableFunc(formals, func(x, y Formal) int {
		n, err1 := strconv.Atoi(strings.TrimPrefix(x.Name, "~r"))
		m, err2 := strconv.Atoi(strings.TrimPrefix(y.Name, "~r"))
		if err1 == nil && err2 == nil {
			return cmp.Compare(n, m)
		}
		place := func(v *Formal) int64 {
			if at, ok := d.Slot(fn, v); ok {
				return at
			}
			return math.MaxInt64
		}
		return cmp.Compare(place(&x), place(&y))
	})
}
