package symname

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
)

// Nearest returns up to n names similar to text, which matches no function: text in another case, with typos, a
// prefix of the name, or without the package or receiver. The most similar names come first. Names are spelled as
// globs accept them; all instances of a generic function share one name: main.(*Map).Get.
func Nearest(text string, names iter.Seq[string], n int) []string {
	text = strings.TrimSuffix(Plain(strings.TrimSpace(text)), ".abi0")
	text = strings.ToLower(strings.NewReplacer("(", "", ")", "", "*", "", "?", "").Replace(text))
	costs := make(map[string]int) // of the similar names
	for symbol := range names {
		name := Split(symbol)
		if text == "" || name.IsOfType() {
			continue
		}
		cost := 2 * costOf(text, name, strings.ToLower(Plain(symbol[len(name.Prefix):])))
		if name.Package != "main" {
			cost++ // of similar names, the program's own functions come first
		}
		if cost < noMatch {
			costs[respell(symbol, keepPointer)] = cost
		}
	}
	near := slices.SortedFunc(maps.Keys(costs), func(a, b string) int {
		return cmp.Or(cmp.Compare(costs[a], costs[b]), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	for i, name := range near {
		if i == n || costs[name] > costs[near[0]]+2*typo { // much less similar than the first
			return near[:i]
		}
	}
	return near
}

// These are costs: each assumption about what the user left out or mistyped adds to the cost of a name. noMatch means
// that the names are not similar.
const (
	noReceiver = 1
	noFolders  = 1 // of the package's path
	noPackage  = 3
	typo       = 2
	prefixOnly = 4
	noMatch    = 1 << 10
)

// costOf returns the cost of the assumption that word means a function. rest is the function's name in lower case
// without its package. If the compiler generated the function, word must have its whole name except the package.
func costOf(word string, name Name, rest string) (cost int) {
	pkg, method := strings.ToLower(name.Package), rest
	if name.Receiver != "" && name.Suffix == "" {
		method = rest[strings.LastIndexByte(rest, '.')+1:]
	}
	limit := min((len(word)+2)/5, 3) // of typos
	if len(word) == 2 {              // ad may mean add; one letter is too short to compare
		limit = 1
	}
	cost = noMatch
	for _, form := range []struct {
		pkg  string
		cost int
	}{{pkg + ".", 0}, {pkg[strings.LastIndexByte(pkg, '/')+1:] + ".", noFolders}, {"", noPackage}} {
		for without, end := range []string{rest, method} {
			text, assumed, n := form.pkg+end, form.cost+without*noReceiver, limit+1
			if max(len(word)-len(text), len(text)-len(word)) <= limit {
				n = printable.Distance(word, text)
			}
			if n <= limit {
				cost = min(cost, assumed+n*typo)
			} else if len(word) >= len(form.pkg)+4 && name.Suffix == "" && strings.HasPrefix(text, word) {
				cost = min(cost, assumed+prefixOnly)
			}
		}
	}
	return cost
}
