package symname

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ianlancetaylor/demangle"
)

// maxMangled (bytes) and maxDemangled (log2 of bytes) bound the lengths of names: with substitutions, a mangled name
// of a few hundred bytes can expand to millions.
const (
	maxMangled   = 4096
	maxDemangled = 12 // as demangle.MaxLength takes it
)

// demangleName returns a linker symbol as its source language spells it: C++ and Rust ("std::vector<int>::push_back"), gccgo
// as gc does ("net/http.Client.Do"). It returns any other name unchanged.
func demangleName(name string, options ...demangle.Option) string {
	switch {
	case len(name) > maxMangled:
	case strings.HasPrefix(name, "_Z"), strings.HasPrefix(name, "_R"):
		options = append(options, demangle.NoClones, demangle.MaxLength(maxDemangled))
		if text, err := demangle.ToString(name, options...); err == nil && text != "" && len(text) < 1<<maxDemangled {
			return text
		}
	case strings.Contains(name, "."):
		if text, ok := demangleGccgo(name); ok {
			return text
		}
	}
	return name
}

// variant matches the code of the function variant that a C++ compiler generates for a constructor or destructor
// (Itanium C++ ABI, 5.1.4.3).
var variant = regexp.MustCompile(`[CD][0-5]E`)

// languageSpellings are the spellings of a symbol, from the shortest: without the parameters of C++ functions, with them, and with the variant of a
// constructor or destructor: "Store::~Store() [D0]", which also frees the memory.
var languageSpellings = []func(name string) string{
	func(name string) string { return demangleName(name, demangle.NoParams) },
	func(name string) string { return demangleName(name) },
	func(name string) string {
		found, full := variant.FindAllString(name, -1), demangleName(name)
		if len(found) == 0 || full == name {
			return full
		}
		return full + " [" + found[len(found)-1][:2] + "]"
	},
}

// clone matches the suffixes that GCC and LLVM append to the names of copies and parts of functions.
var clone = regexp.MustCompile(`(\.(cold|localalias|lto_priv|isra|part|constprop|llvm|resolver|default|ifunc)(\.[0-9]+)*|\.[0-9]+)+$`)

// gccgoCode matches an escaped character in a gccgo symbol, or an invalid underscore. gccgoDigits are the characters
// that _0 to _9, _a to _c and __ encode.
var gccgoCode = regexp.MustCompile(`_(x.{2}|u.{4}|U.{8}|.)?`)

const gccgoDigits = "./*,{}[]()\" ;_"

// demangleGccgo spells a gccgo symbol as gc does: "net_1http.Client.Do" becomes net/http.Client.Do, "main.f..func1"
// becomes main.f.func1. gccgo symbols do not say whether a method has a pointer receiver. Functions that only gccgo
// generates (PKG..thunk0, T.M..stub, T..eq) keep their two dots. ok is false if gccgo can't have written the name.
//
// Source: gcc/go/gofrontend/names.cc and go-encode-id.cc, GCC 10 and later.
func demangleGccgo(name string) (text string, ok bool) {
	if name[0] == '.' || name[0] == '_' {
		return "", false
	}
	ok = !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })
	text = gccgoCode.ReplaceAllStringFunc(name, func(code string) string {
		switch digit := strings.Index("0123456789abc_", code[1:]); {
		case len(code) == 2 && digit >= 0:
			return gccgoDigits[digit : digit+1]
		case len(code) > 2:
			r, err := strconv.ParseUint(code[2:], 16, 32)
			ok = ok && err == nil && utf8.ValidRune(rune(r))
			return string(rune(r))
		}
		ok = false
		return ""
	})
	if !ok {
		return "", false
	}
	text = initFunc.ReplaceAllString(text, ".init.$1$2")
	return literalFunc.ReplaceAllString(text, ".func$1"), true
}

// initFunc matches the names of init functions, literalFunc those of function literals.
var (
	initFunc    = regexp.MustCompile(`\.\.init([0-9]+)($|\.)`)
	literalFunc = regexp.MustCompile(`\.\.func([0-9]+)`)
)

// Demangle demangles the names of all functions of a binary that the gc toolchain did not build. Different symbols
// get different names: overloads of C++ keep their parameters, and symbols that are still ambiguous stay mangled. A suffix that
// the compiler appends for a copy or a part of a function (".cold", ".isra.0") stays.
func Demangle(names ...string) []string {
	spelled := slices.Clone(names)
	type symbol struct {
		at           int
		base, suffix string
	}
	var todo []symbol
	for i, name := range names {
		base, suffix := name, ""
		if at := clone.FindStringIndex(name); at != nil && at[0] > 0 {
			base, suffix = name[:at[0]], name[at[0]:]
		}
		todo = append(todo, symbol{i, base, suffix})
	}
	for _, spell := range languageSpellings {
		bySpelling := make(map[string][]symbol)
		for _, s := range todo {
			short := spell(s.base)
			bySpelling[short] = append(bySpelling[short], s)
		}
		todo = nil
		for short, same := range bySpelling {
			// A function and its cold part get the same base name.
			if slices.ContainsFunc(same, func(s symbol) bool { return s.base != same[0].base }) {
				todo = append(todo, same...)
				continue
			}
			for _, s := range same {
				spelled[s.at] = short + s.suffix
			}
		}
	}
	return spelled
}
