package symname

import (
	"cmp"
	"iter"
	"math/bits"
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
	if t.whole.text == "" || n <= 0 {
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
			cost = min(cost, m.cost+m.word.cost(plain, name.Suffix != ""))
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
	whole word
	pkg   string
	rest  word
}

func readTyped(text string) typed {
	text = strings.TrimSuffix(Plain(strings.TrimSpace(text)), ".abi0")
	text = strings.ToLower(strings.NewReplacer("(", "", ")", "", "*", "", "?", "").Replace(text))
	t := typed{whole: newWord(text)}
	if end := pathEnd(text); end > 0 {
		t.pkg, t.rest = text[:end-1], newWord(text[end:])
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
	word word
	cost int
}

// in is what was typed as seen from one package.
func (t typed) in(pkg string) []meaning {
	pkg = strings.ToLower(pkg)
	// The last element of a path may have dots: yaml.v3.Unmarshal.
	if rest, ok := strings.CutPrefix(t.whole.text, pkg+"."); ok && pkg != "" {
		return []meaning{{newWord(rest), 0}}
	}
	all := []meaning{{t.whole, noPackage}}
	if t.pkg == "" {
		return all
	}
	last := pkg[strings.LastIndexByte(pkg, '/')+1:]
	if rest, ok := strings.CutPrefix(t.whole.text, last+"."); ok {
		return append(all, meaning{newWord(rest), 1})
	}
	for _, name := range []string{pkg, last} {
		if slips, ok := newWord(t.pkg).slips(name); ok {
			return append(all, meaning{t.rest, slips + 1})
		}
	}
	return all
}

// word is one thing typed, prepared for being compared with many names.
type word struct {
	text    string
	letters uint64
}

func newWord(text string) word { return word{text, letters(text)} }

func (w word) cost(name string, made bool) int {
	if w.text == "" {
		return unlike
	}
	if w.text == name {
		return 0
	}
	if receiver, ok := strings.CutSuffix(name, w.text); ok && strings.HasSuffix(receiver, ".") {
		return noReceiver
	}
	cost := unlike
	if len(w.text) >= 4 && !made && strings.HasPrefix(name, w.text) {
		cost = begun
	}
	if slips, ok := w.slips(name); ok {
		cost = min(cost, slips+1)
	}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 && !made {
		if slips, ok := w.slips(name[dot+1:]); ok {
			cost = min(cost, noReceiver+slips+1)
		}
	}
	return cost
}

// slips counts the wrong, missing, needless and swapped bytes between w and name;
// not ok means too many for a word of this length.
func (w word) slips(name string) (n int, ok bool) {
	limit := min((len(w.text)+2)/5, 3)
	if len(w.text) == 2 { // main.ad is main.add, and one letter is anything
		limit = 1
	}
	if max(len(w.text)-len(name), len(name)-len(w.text)) > limit ||
		bits.OnesCount64(w.letters^letters(name)) > 2*limit { // one slip makes two letters differ
		return 0, false
	}
	n = printable.Distance(w.text, name)
	return n, n <= limit
}

// letters is the set of bytes of s, roughly.
func letters(s string) (set uint64) {
	for i := 0; i < len(s); i++ {
		set |= 1 << (s[i] & 63)
	}
	return set
}
