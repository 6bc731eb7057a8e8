package symname

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ianlancetaylor/demangle"
)

// maxMangled and maxDemangled bound names: substitutions let a mangled name of a few
// hundred bytes stand for millions.
const (
	maxMangled   = 4096
	maxDemangled = 12 // a power of 2
)

// demangled spells a linker's symbol as its language does: C++ and Rust without
// parameters ("std::vector<int>::push_back"), gccgo ("net/http.Client.Do"). What a
// compiler has appended for a copy or a part of a function (".cold", ".isra.0")
// stays. Any other name is returned as it is.
func demangled(name string) string { return demangleAs(name, demangle.NoParams) }

// demangleFull is demangled with the parameters of C++.
func demangleFull(name string) string { return demangleAs(name) }

// variant is which of the functions that a C++ compiler makes of one constructor or
// destructor a name stands for (Itanium C++ ABI, 5.1.4.3).
var variant = regexp.MustCompile(`[CD][0-5]E`)

// demangleVariant is demangleFull with the variant: "Store::~Store() [D0]", which also
// deletes.
func demangleVariant(name string) string {
	found := variant.FindAllString(name, -1)
	full := demangleFull(name)
	if len(found) == 0 || full == name {
		return full
	}
	return full + " [" + found[len(found)-1][:2] + "]"
}

func demangleAs(name string, options ...demangle.Option) string {
	base, suffix := splitClone(name)
	switch {
	case len(name) > maxMangled:
		return name
	case strings.HasPrefix(base, "_Z"), strings.HasPrefix(base, "_R"):
		options = append(options, demangle.NoClones, demangle.MaxLength(maxDemangled))
		if text, err := demangle.ToString(base, options...); err == nil && text != "" && len(text) < 1<<maxDemangled {
			return text + suffix
		}
	case strings.Contains(base, "."):
		if text, ok := demangleGccgo(base); ok {
			return text + suffix
		}
	}
	return name
}

// clone is what GCC and LLVM append to the names of copies and parts of functions.
var clone = regexp.MustCompile(`(\.(cold|localalias|lto_priv|isra|part|constprop|llvm|resolver|default|ifunc)(\.[0-9]+)*|\.[0-9]+)+$`)

func splitClone(name string) (base, suffix string) {
	if at := clone.FindStringIndex(name); at != nil && at[0] > 0 {
		return name[:at[0]], name[at[0]:]
	}
	return name, ""
}

// gccgoDigits are the characters that _0 to _9 and _a to _c stand for.
const gccgoDigits = "./*,{}[]()\" ;"

// demangleGccgo spells a name of gccgo as gc does: "net_1http.Client.Do" is
// net/http.Client.Do, "main.f..func1" main.f.func1. Names do not tell whether a method
// has a pointer receiver. Functions that only gccgo makes (PKG..thunk0, T.M..stub,
// T..eq) keep their two dots. ok is false for what gccgo would not write.
//
// Source: gcc/go/gofrontend/names.cc and go-encode-id.cc, GCC 10 and later.
func demangleGccgo(name string) (text string, ok bool) {
	if name[0] == '.' || name[0] == '_' {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c >= 0x80:
			return "", false
		case c != '_':
			b.WriteByte(c)
			continue
		case i+1 == len(name):
			return "", false
		}
		i++
		switch c = name[i]; {
		case c == '_':
			b.WriteByte('_')
		case strings.IndexByte("0123456789abc", c) >= 0:
			b.WriteByte(gccgoDigits[strings.IndexByte("0123456789abc", c)])
		case c == 'x', c == 'u', c == 'U':
			digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
			if len(name)-i <= digits {
				return "", false
			}
			r, err := strconv.ParseUint(name[i+1:i+1+digits], 16, 32)
			if err != nil || r > utf8.MaxRune || !utf8.ValidRune(rune(r)) {
				return "", false
			}
			b.WriteRune(rune(r))
			i += digits
		default:
			return "", false
		}
	}
	text = initFunc.ReplaceAllString(b.String(), ".init.$1$2")
	return literalFunc.ReplaceAllString(text, ".func$1"), true
}

// The names of init functions and of function literals.
var (
	initFunc    = regexp.MustCompile(`\.\.init([0-9]+)($|\.)`)
	literalFunc = regexp.MustCompile(`\.\.func([0-9]+)`)
)

// Demangle spells the names of all functions of a binary that is not Go's own
// toolchain's. No two functions get the same name by it: overloads of C++ keep
// their parameters, and what is still the same after that stays mangled.
func Demangle(names ...string) []string {
	if len(names) == 1 {
		return []string{demangled(names[0])}
	}
	spelled := slices.Clone(names)
	todo := make([]int, len(names))
	for i := range todo {
		todo[i] = i
	}
	for _, spell := range []func(string) string{demangled, demangleFull, demangleVariant} {
		// A function and its cold part must go by the same name.
		bases := make(map[string]string, len(todo))
		ambiguous := make(map[string]bool)
		for _, i := range todo {
			base, _ := splitClone(names[i])
			short := spell(base)
			if other, ok := bases[short]; ok && other != base {
				ambiguous[short] = true
			}
			bases[short] = base
		}
		var left []int
		for _, i := range todo {
			base, suffix := splitClone(names[i])
			if short := spell(base); ambiguous[short] {
				left = append(left, i)
			} else {
				spelled[i] = short + suffix
			}
		}
		todo = left
	}
	return spelled
}
