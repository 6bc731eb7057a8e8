// Package symname parses and matches the names of functions: it splits a symbol into its parts, spells it in
// different ways, selects symbols by patterns, and suggests names for a misspelled one. It does not read files.
package symname

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
)

// Name is the symbol of a Go function, split into its parts. Together, the parts contain the whole symbol.
//
//	gopkg.in/yaml%2ev3.(*Map[go.shape.int]).Get.func1
//	package gopkg.in/yaml.v3, receiver Map, pointer, type arguments
//	[go.shape.int], function Get, suffix .func1
//
// Some symbols are ambiguous. Split reads the first two parts after the package as "Type.Method", unless the second
// part is a name that the compiler generates (func1, gowrap2, 0, a number, …) or can't be the name of a method. So
// the closure of an inlined function (main.f.g.func1, go.dev/issue/60324) looks like method g of a type f. A C
// function without dots in its name has no package, receiver or suffix.
type Name struct {
	// Package is the import path as source files spell it. It is "" for C functions and for functions that the
	// compiler generates for types (type:.eq.T).
	Package string
	// Prefix is Package as the symbol spells it, with the separator: "gopkg.in/yaml%2ev3.".
	Prefix string
	// Receiver is the name of the receiver's type without its type arguments, "" for functions. Pointer is true for a
	// pointer receiver, (*T).
	Receiver string
	Pointer  bool
	// Func is the name of the function or method. If a method has type parameters itself, Func includes their
	// arguments.
	Func string
	// TypeArgs are the type arguments of the receiver, or else of the function, with the brackets:
	// "[go.shape.int,go.shape.string]"; "[...]" in the pclntab of Go 1.18 to 1.20.
	TypeArgs string
	// Suffix is the part that the compiler appended, with its separator: ".func1.2", "-range1", "-fm", ".0" (of
	// init.0), "..func1" (of glob..func1).
	Suffix string
}

// Split splits a symbol into its parts. It accepts any text; a text that it can't parse becomes Func.
func Split(sym string) Name {
	if n := (Name{Func: sym}); n.IsOfType() {
		return n
	}
	end := pathEnd(sym)
	n := Name{Prefix: sym[:end]}
	if end > 0 {
		n.Package = unescape(sym[:end-1])
	}
	first, tail := cutPart(sym[end:])
	behind, _ := strings.CutPrefix(tail, ".")
	if method, suffix := cutPart(behind); strings.HasPrefix(tail, ".") && n.hasMethod(first, method, suffix) {
		n.Func, n.Suffix = method, suffix
		if strings.HasPrefix(first, "(*") {
			n.Pointer, first = true, first[2:len(first)-1]
		}
		n.Receiver, n.TypeArgs = cutTypeArgs(first)
		return n
	}
	n.Func, n.TypeArgs = cutTypeArgs(first)
	n.Suffix = tail
	return n
}

// IsOfType reports whether the compiler generated the function for a type, to compare or hash its values: type:.eq.T.
func (n Name) IsOfType() bool {
	return strings.HasPrefix(n.Func, "type:") || strings.HasPrefix(n.Func, "type..")
}

// generatedPart and literalParts match ends of Suffix.
var generatedPart, literalParts = regexp.MustCompile(`(fm|(range|gowrap|deferwrap|dwrap)·?[0-9]*)$`), regexp.MustCompile(`([.·](func)?[0-9]+)+$`)

// Generated reports whether the compiler or the linker generated the function, as far as its name shows it: it initializes
// variables, starts the function of a go or defer statement, or is the body of a loop over a function.
func (n Name) Generated() bool {
	return n.IsOfType() || n.Prefix == "go:" || n.Func == "init" && (n.Receiver == "map" || n.Receiver+n.Suffix == "") || generatedPart.MatchString(n.Suffix)
}

// Nesting returns the number of function literals that contain the code, by its name: 1 for main.f.func1.
func (n Name) Nesting() int {
	parts := literalParts.FindString(n.Suffix)
	if n.Func == "init" && n.Receiver == "" && !strings.HasPrefix(parts, ".func") {
		parts = strings.TrimLeft(strings.TrimPrefix(parts, "."), "0123456789") // init.0 is declared
	}
	return strings.Count(parts, ".") + strings.Count(parts, "·")
}

// hasMethod reports whether first, a part after the package, is a receiver, and method is the name of a method on it.
// suffix is the rest of the symbol.
func (n Name) hasMethod(first, method, suffix string) bool {
	switch {
	case method == "", first == "", first == "init", first == "main" && n.Package == "main":
		return false
	case strings.HasPrefix(first, "(*"):
		return len(first) > len("(*)") && first[len(first)-1] == ')'
	}
	// Since Go 1.27, methods can have type parameters, but f.g[int].func1 is a closure of g that was inlined into f.
	base, args := cutTypeArgs(method)
	return (args == "" || suffix == "") && !strings.ContainsAny(base, "([") && !madeByCompiler(method)
}

// madeByCompiler reports whether part is a name that cmd/compile generates for closures and wrappers (closureName in
// ir/func.go, and older schemes).
func madeByCompiler(part string) bool {
	switch word := strings.TrimRight(part, "0123456789"); word {
	case "":
		return true
	case "func", "gowrap", "deferwrap", "dwrap":
		return word != part || word == "dwrap"
	}
	return part == "abi0" || part == "abiinternal"
}

// pathEnd returns the length of the import path at the start of a symbol, with the separator, or 0 without a path.
// Dots in the last element of the path are escaped, so its first dot ends the path (cmd/internal/objabi/path.go,
// PathToPrefix).
func pathEnd(sym string) int {
	if strings.HasPrefix(sym, "go:") { // go:struct { main.T }.Method
		return len("go:")
	}
	path := sym
	if i := strings.IndexAny(path, "[({\" "); i >= 0 {
		path = path[:i]
	}
	last := strings.LastIndexByte(path, '/') + 1
	dot := strings.IndexByte(path[last:], '.')
	if dot < 0 {
		return 0
	}
	return last + dot + 1
}

// cutPart cuts s before the first separator of name parts: a dot, a hyphen, or the middle dot that .symtab replaces
// by a dot.
func cutPart(s string) (part, tail string) { return printable.CutOutside(s, ".-"+middleDot) }

// cutTypeArgs splits the bracketed type arguments off the end of s.
func cutTypeArgs(s string) (base, args string) {
	if i := strings.IndexByte(s, '['); i > 0 && printable.Closing(s, i) == len(s) {
		return s[:i], s[i:]
	}
	return s, ""
}

// middleDot is the separator in compiler-generated names in pclntab: init·1, local·1.
const middleDot = "·"

// unescape decodes the escapes that symbols have for valid import paths: dots, and bytes beyond ASCII
// (cmd/internal/objabi/path.go).
func unescape(s string) string {
	i := strings.IndexByte(s, '%')
	if i < 0 {
		return s
	}
	b := append(make([]byte, 0, len(s)), s[:i]...)
	for ; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil && (c == '.' || c >= 0x80) {
				b = append(b, byte(c))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// These are flags of the parts of a symbol that respell keeps.
const (
	keepPointer = 1 << iota // (*T) instead of T
	keepArgs                // type arguments, as source files spell them
)

// Plain returns a symbol in the spelling that is easiest to type: main.Store.Get for the method of the value and of
// the pointer, main.Map for all instances of a generic function.
func Plain(symbol string) string { return respell(symbol, 0) }

// respell returns a symbol without escapes and middle dots. It removes the "(*" and ")" of pointer receivers unless
// parts has keepPointer, and type arguments unless parts has keepArgs.
func respell(sym string, parts int) string {
	first := 0
	for first < len(sym) && !respelled(sym[first]) {
		first++
	}
	if first == len(sym) {
		return sym
	}
	sym = unescape(sym)
	b := make([]byte, 0, len(sym))
	receiver := -1 // index of the parenthesis that closes "(*"
	for i := 0; i < len(sym); i++ {
		if i == receiver {
			if parts&keepPointer != 0 {
				b = append(b, ')')
			}
			receiver = -1
			continue
		}
		if strings.HasPrefix(sym[i:], middleDot) {
			b = append(b, '.')
			i += len(middleDot) - 1
			continue
		}
		c := sym[i]
		if c != '[' && c != '(' && c != '{' {
			b = append(b, c)
			continue
		}
		end := printable.Closing(sym, i)
		switch {
		case end < 0:
			return string(append(b, sym[i:]...))
		case c == '[':
			if parts&keepArgs != 0 {
				b = appendTypeArgs(b, sym[i:end])
			}
		case receiver < 0 && strings.HasPrefix(sym[i:], "(*"):
			if parts&keepPointer != 0 {
				b = append(b, "(*"...)
			}
			receiver = end - 1
			end = i + len("(*")
		default:
			b = append(b, sym[i:end]...)
		}
		i = end - 1
	}
	return string(b)
}

// respelled reports whether the spellings of a symbol may differ from this byte on.
func respelled(c byte) bool { return c == '(' || c == '[' || c == '%' || c == middleDot[0] }

// appendTypeArgs appends a bracketed list of types without the marks that the compiler adds: "go.shape." and, in Go
// 1.18 to 1.20, "_" and the index in the list.
func appendTypeArgs(b []byte, list string) []byte {
	b = append(b, '[')
	for i, arg := range printable.SplitOutside(list[1 : len(list)-1]) {
		if i > 0 {
			b = append(b, ',')
		}
		arg = strings.TrimSpace(arg)
		if shape, ok := strings.CutPrefix(arg, "go.shape."); ok {
			arg = strings.TrimSuffix(shape, "_"+strconv.Itoa(i))
		}
		b = append(b, strings.ReplaceAll(arg, " ", "")...)
	}
	return append(b, ']')
}
