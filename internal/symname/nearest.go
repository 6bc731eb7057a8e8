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
	pkg := strings.ToLower(name.Package)
	last := pkg[strings.LastIndexByte(pkg, '/')+1:]
	endings := []string{rest}
	if dot := strings.LastIndexByte(rest, '.'); name.Receiver != "" && name.Suffix == "" {
		endings = append(endings, rest[dot+1:])
	}
	cost = noMatch
	for without, end := range endings {
		for _, form := range []struct {
			pkg  string
			cost int
		}{{pkg + ".", 0}, {last + ".", noFolders}, {"", noPackage}} {
			assumed := form.cost + without*noReceiver
			if n, ok := typos(word, form.pkg, end); ok {
				cost = min(cost, assumed+n*typo)
			} else if len(word) >= len(form.pkg)+4 && name.Suffix == "" && strings.HasPrefix(form.pkg+end, word) {
				cost = min(cost, assumed+prefixOnly)
			}
		}
	}
	return cost
}

// typos returns the number of wrong, missing, extra and transposed bytes in word, compared with the name pkg+end. ok is
// false if the number is too large for the length of the word.
func typos(word, pkg, end string) (n int, ok bool) {
	limit := min((len(word)+2)/5, 3)
	if len(word) == 2 { // ad may mean add; one letter is too short to compare
		limit = 1
	}
	if length := len(pkg) + len(end); max(len(word)-length, length-len(word)) > limit {
		return 0, false
	}
	n = printable.Distance(word, pkg+end)
	return n, n <= limit
}
