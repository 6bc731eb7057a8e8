package offsets

import (
	"cmp"
	"slices"
	"strings"
)

// byAddress orders names by address, and those of one address by how well they tell the
// function.
func byAddress(x, y Func) int {
	return cmp.Or(
		cmp.Compare(x.Addr, y.Addr),
		cmp.Compare(x.rank, y.rank),
		cmp.Compare(underscores(x.Name), underscores(y.Name)),
		cmp.Compare(len(x.Name), len(y.Name)),
		cmp.Compare(x.Name, y.Name),
	)
}

func underscores(name string) int {
	if strings.HasPrefix(name, "_") {
		return 1
	}
	return 0
}

// sortNamed sorts by byAddress. Go's linker, which writes more names than any other, writes
// two sorted runs: local symbols, as ELF wants them first, and the rest (cmd/link/internal/ld,
// genelfsym). Local ones are few, and each has a place among the others.
func sortNamed(named []Func) {
	head := ascending(named)
	if head == len(named) {
		return // Go's own table is one run
	}
	if tail := named[head:]; ascending(tail) < len(tail) {
		slices.SortFunc(named, byAddress)
		return
	}
	at, next := 0, head
	for _, local := range slices.Clone(named[:head]) {
		n, _ := slices.BinarySearchFunc(named[next:], local, byAddress)
		at += copy(named[at:], named[next:next+n])
		next += n
		named[at] = local
		at++
	}
}

// ascending is how many names from the first on have ascending addresses.
func ascending(named []Func) int {
	for i := 1; i < len(named); i++ {
		if named[i-1].Addr >= named[i].Addr {
			return i
		}
	}
	return len(named)
}
