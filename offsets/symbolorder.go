package offsets

import (
	"cmp"
	"slices"
	"strings"
)

// byAddress orders names by address, and those of one address by how well they tell the
// function.
func byAddress(x, y namedFunc) int {
	return cmp.Or(
		cmp.Compare(x.Addr, y.Addr),
		cmp.Compare(x.from, y.from),
		cmp.Compare(order(x.local), order(y.local)),
		cmp.Compare(order(strings.HasPrefix(x.Name, "_")), order(strings.HasPrefix(y.Name, "_"))),
		cmp.Compare(len(x.Name), len(y.Name)),
		cmp.Compare(x.Name, y.Name),
	)
}

// sortNamed sorts by byAddress. Go's linker, which writes more names than any other, writes
// two sorted runs: local symbols, as ELF wants them first, and the rest (cmd/link/internal/ld,
// genelfsym). They are merged, in a tenth of the time that sorting takes.
func sortNamed(named []namedFunc) {
	head := ascending(named)
	if head == len(named) {
		return // Go's own table is one run
	}
	if tail := named[head:]; ascending(tail) < len(tail) {
		slices.SortFunc(named, byAddress)
		return
	}
	local := slices.Clone(named[:head])
	for at, next := 0, head; len(local) > 0 && next < len(named); at++ {
		if byAddress(local[0], named[next]) <= 0 {
			named[at], local = local[0], local[1:]
		} else {
			named[at] = named[next]
			next++
		}
	}
	copy(named[len(named)-len(local):], local)
}

// ascending is how many names from the first on have ascending addresses.
func ascending(named []namedFunc) int {
	for i := 1; i < len(named); i++ {
		if named[i-1].Addr >= named[i].Addr {
			return i
		}
	}
	return len(named)
}
