package symname

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
)

// Nearest returns up to n names that someone who typed text, which matches nothing, may have
// meant: other case, a slip of the fingers, a name begun, a package or receiver left out. The
// likeliest come first; there may be none. Names are spelled as a glob takes them, all instances
// of a generic function under one: main.(*Map).Get.
func Nearest(text string, names iter.Seq[string], n int) []string {
	t := readTyped(text)
	if t.whole == "" || n <= 0 {
		return nil
	}
	path, here := "", t.in("")
	var near []suggestion
	for symbol := range names {
		name := Split(symbol)
		if strings.HasPrefix(name.Func, "type:") || strings.HasPrefix(name.Func, "type..") {
			continue // the compiler makes them, to compare values
		}
		if name.Prefix != path { // functions of a package are neighbours
			path, here = name.Prefix, t.in(name.Package)
		}
		plain, cost := strings.ToLower(Plain(symbol[len(path):])), unlike
		for _, m := range here {
			cost = min(cost, m.cost+costOf(m.word, plain, name.Suffix != ""))
		}
		if cost < unlike {
			s := suggestion{name: respell(symbol, keepPointer), cost: cost}
			if name.Package != "main" {
				s.foreign = 1
			}
			near = append(near, s)
		}
	}
	// What is nearer, the program's own functions before the libraries', short names before long.
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

// suggestion is a name and its distance from what was typed.
type suggestion struct {
	name    string
	cost    int
	foreign int // 1 if it is not of package main
}

// typed is what the user wrote, in lower case and the plain spelling without
// wildcards: all of it, and cut after the package if it seems to have one.
type typed struct {
	whole, pkg, rest string
}

func readTyped(text string) typed {
	text = strings.TrimSuffix(Plain(strings.TrimSpace(text)), ".abi0")
	text = strings.ToLower(strings.NewReplacer("(", "", ")", "", "*", "", "?", "").Replace(text))
	t := typed{whole: text}
	if end := pathEnd(text); end > 0 {
		t.pkg, t.rest = text[:end-1], text[end:]
	}
	return t
}

// Costs grow with what one has to assume; unlike is no resemblance.
const (
	noReceiver = 1
	noPackage  = 2
	begun      = 4
	unlike     = 1 << 10
)

// meaning is a word that would name the function, if what was typed before it means a package,
// or none was typed; cost is what one has to assume for that.
type meaning struct {
	word string
	cost int
}

// in is what was typed as seen from one package.
func (t typed) in(pkg string) []meaning {
	pkg = strings.ToLower(pkg)
	// The last element of a path may have dots: yaml.v3.Unmarshal.
	if rest, ok := strings.CutPrefix(t.whole, pkg+"."); ok && pkg != "" {
		return []meaning{{rest, 0}}
	}
	all := []meaning{{t.whole, noPackage}}
	if t.pkg == "" {
		return all
	}
	last := pkg[strings.LastIndexByte(pkg, '/')+1:]
	if rest, ok := strings.CutPrefix(t.whole, last+"."); ok {
		return append(all, meaning{rest, 1})
	}
	for _, name := range []string{pkg, last} {
		if n, ok := slips(t.pkg, name); ok {
			return append(all, meaning{t.rest, n + 1})
		}
	}
	return all
}

// costOf is what one has to assume for a word to mean a name, which the compiler has made or not.
func costOf(word, name string, made bool) int {
	if word == "" {
		return unlike
	}
	if word == name {
		return 0
	}
	if receiver, ok := strings.CutSuffix(name, word); ok && strings.HasSuffix(receiver, ".") {
		return noReceiver
	}
	cost := unlike
	if len(word) >= 4 && !made && strings.HasPrefix(name, word) {
		cost = begun
	}
	if n, ok := slips(word, name); ok {
		cost = min(cost, n+1)
	}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 && !made {
		if n, ok := slips(word, name[dot+1:]); ok {
			cost = min(cost, noReceiver+n+1)
		}
	}
	return cost
}

// slips counts the wrong, missing, needless and swapped bytes between a word and a name;
// not ok means too many for a word of this length.
func slips(word, name string) (n int, ok bool) {
	limit := min((len(word)+2)/5, 3)
	if len(word) == 2 { // main.ad is main.add, and one letter is anything
		limit = 1
	}
	if max(len(word)-len(name), len(name)-len(word)) > limit {
		return 0, false
	}
	n = printable.Distance(word, name)
	return n, n <= limit
}
