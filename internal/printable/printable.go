// Package printable makes text of unknown origin safe for terminals, on lines of its own, measures it, and finds
// where brackets in it close; and it writes durations, rates and counts for people.
package printable

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// Text makes text of unknown origin safe for a terminal. Printable runes and
// the space stay; ASCII control characters and bytes that are not UTF-8 become
// \xNN, and other runes that are not printable (C1 controls, bidirectional overrides and
// other format characters, line separators, private use) become \u{…}.
func Text(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1, r < ' ', r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// AppendJSON appends a JSON string. Bytes that are not UTF-8, which only names can
// have here, become U+FFFD.
func AppendJSON[S ~string | ~[]byte](b []byte, s S) []byte {
	b = append(b, '"')
	if plain(s) { // keys and most names are plain
		return append(append(b, s...), '"')
	}
	for _, r := range string(s) {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r >= ' ' && r < 0x7f:
			b = append(b, byte(r))
		default:
			b = appendRuneJSON(b, r)
		}
	}
	return append(b, '"')
}

// plain reports whether a JSON string contains a text without escapes.
func plain[S ~string | ~[]byte](s S) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// JSON makes a line of JSON safe for a terminal, and keeps its meaning: only strings have
// runes that are not printable.
func JSON(line []byte) (b []byte) {
	for _, r := range string(line) {
		b = appendRuneJSON(b, r)
	}
	return b
}

func appendRuneJSON(b []byte, r rune) []byte {
	if unicode.IsPrint(r) {
		return utf8.AppendRune(b, r)
	}
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return fmt.Appendf(b, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(b, `\u%04x`, r)
}

// Columns returns the number of terminal columns of a text without control characters.
func Columns(s string) int { return twwidth.WidthWithOptions(s, twwidth.Options{}) }

const (
	maxQuoted = 80   // columns of a quotation
	maxLine   = 2000 // and of a message
)

// quotation is a quotation mark, what follows up to the next one without a backslash, and that.
var quotation = regexp.MustCompile(`(?s)"((?:[^"\\]|\\.?)*)("?)`)

// Brief cuts the middle out of long quotations in a message, and out of the message if it is still too long.
func Brief(message string) string {
	message = quotation.ReplaceAllStringFunc(message, func(quoted string) string {
		parts := quotation.FindStringSubmatch(quoted)
		if Columns(parts[1]) <= maxQuoted {
			return quoted
		}
		return `"` + CutMiddle(parts[1], maxQuoted) + parts[2]
	})
	if Columns(message) > maxLine {
		message = CutMiddle(message, maxLine)
	}
	return message
}

const ellipsis = "…"

// leastMethod is the fewest columns of a shortened method name beside the whole name of its type.
const leastMethod = 8

// Shorten makes a function's name fit into width columns. First the path of its package goes, then the
// package, then the middle of the method's name, and last the type's:
//
//	github.com/a/b/pkg.(*Type).VeryLongMethod
//	…/pkg.(*Type).VeryLongMethod
//	….(*Type).VeryLongMethod
//	….(*Type).Very…thod
//	(*Ty…gMethod
func Shorten(name string, width int) string {
	if Columns(name) <= width {
		return name
	}
	if short := Short(name); short != name {
		if name = short; Columns(name)+2 <= width {
			return ellipsis + "/" + name
		}
	}
	inside := name
	if pkg, rest, ok := strings.Cut(name, "."); ok && !strings.ContainsAny(pkg, "[({\" ") {
		inside = rest
		switch room := width - Columns(inside); {
		case room >= 2:
			return ellipsis + "." + inside
		case room == 1:
			return ellipsis + inside
		}
		typ, method := CutOutside(inside, ".")
		if room := width - Columns(typ) - 3; method != "" && room >= leastMethod {
			return ellipsis + "." + typ + "." + CutMiddle(method[1:], room)
		}
	}
	return CutMiddle(inside, width)
}

// CutMiddle makes a text that is too wide fit into width columns.
func CutMiddle(s string, width int) string {
	room := max(width-1, 0)
	return head(s, room-room/2) + ellipsis + tail(s, room/2)
}

// Short returns a name without the directories of its package: pkg.(*T).Method for
// github.com/a/b/pkg.(*T).Method, and pkg/v2.F for github.com/a/pkg/v2.F.
func Short(name string) string { return ending(name, 1) }

// ending returns a name with only the last elements of its package's path.
func ending(name string, elements int) string {
	path := name
	if i := strings.IndexAny(name, "[({\" "); i >= 0 {
		path = name[:i] // type arguments may have slashes
	}
	for {
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return name
		}
		if element, _, _ := strings.Cut(name[i+1:len(path)], "."); !majorVersion(element) {
			elements--
		}
		if path = name[:i]; elements == 0 {
			return name[i+1:]
		}
	}
}

// majorVersion reports whether an element of a path is a version, v2 or later, of the element before.
func majorVersion(element string) bool {
	return len(element) > 1 && element[0] == 'v' && strings.Trim(element[1:], "0123456789") == ""
}

// maxElements is the most elements of paths that short names have; names that need more stay whole.
const maxElements = 8

// ShortNames returns short names by name. Names that would look the same keep as many
// elements of their paths as make them differ.
func ShortNames(names []string) map[string]string {
	short := make(map[string]string, len(names))
	for _, name := range names {
		short[name] = name
	}
	alike := slices.Collect(maps.Keys(short))
	for elements := 1; len(alike) > 0 && elements <= maxElements; elements++ {
		of := make(map[string][]string) // names by short name
		for _, name := range alike {
			end := ending(name, elements)
			of[end] = append(of[end], name)
		}
		alike = nil
		for end, names := range of {
			if len(names) > 1 {
				alike = append(alike, names...)
			} else {
				short[names[0]] = end
			}
		}
	}
	return short
}

// Cut makes text fit into width columns and marks the cut.
func Cut(s string, width int) string {
	if Columns(s) <= width {
		return s
	}
	return head(s, max(width-1, 0)) + ellipsis
}

// head returns the longest beginning of s within width columns.
func head(s string, width int) string {
	for i, r := range s {
		if width -= Columns(string(r)); width < 0 {
			return s[:i]
		}
	}
	return s
}

// tail returns the longest end of s within width columns.
func tail(s string, width int) string {
	skip := Columns(s) - width
	for i, r := range s {
		if skip <= 0 {
			return s[i:]
		}
		skip -= Columns(string(r))
	}
	return ""
}

// Wrap breaks text into lines of at most width columns, where its words allow that.
func Wrap(text string, width int) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(text) {
		switch last := &lines[len(lines)-1]; {
		case *last == "":
			*last = word
		case Columns(*last)+1+Columns(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}
