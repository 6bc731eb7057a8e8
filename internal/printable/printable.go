// Package printable formats text for terminals. It escapes, measures and shortens text of unknown origin, such as
// names from a traced program, finds matching brackets in it, and formats durations, rates and counts for people.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// Text makes text of unknown origin safe for a terminal. It keeps printable runes and the space. It replaces ASCII
// control characters and bytes that are not UTF-8 by \xNN, and all other runes that are not printable (C1 controls,
// bidirectional overrides and other format characters, line separators, private use) by \u{…}.
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

// AppendJSON appends s to b as a JSON string without runes that are not printable. It replaces bytes that are not
// UTF-8 by U+FFFD. Callers must encode values with such bytes themselves if the bytes matter.
func AppendJSON[S ~string | ~[]byte](b []byte, s S) []byte {
	b = append(b, '"')
	if plain(s) { // as keys and most names are
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
		default:
			b = appendRuneJSON(b, r)
		}
	}
	return append(b, '"')
}

// plain reports whether s needs no escapes in a JSON string.
func plain[S ~string | ~[]byte](s S) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// JSON makes a line of JSON safe for a terminal. It replaces runes that are not printable by escapes. The line keeps
// its meaning, because only its strings can contain such runes.
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

// Columns returns the number of terminal columns of s, which has no control characters. The number does not depend on
// the locale.
func Columns(s string) int { return twwidth.WidthWithOptions(s, twwidth.Options{}) }

const ellipsis = "…"

// Shorten makes a function's name fit into width columns. It removes the directories of the package first, and then the middle
// of the remaining text: pkg.(*Typ…gMethod for github.com/a/b/pkg.(*Type).VeryLongMethod.
func Shorten(name string, width int) string {
	if Columns(name) <= width {
		return name
	}
	return CutMiddle(Short(name), width)
}

// CutMiddle makes s fit into width columns. It replaces the middle of a longer text by an ellipsis.
func CutMiddle(s string, width int) string {
	if Columns(s) <= width {
		return s
	}
	room := max(width-1, 0)
	return head(s, room-room/2) + ellipsis + tail(s, room/2)
}

// Arrow joins the names of the two functions of a pair.
const Arrow = " → "

// Short returns a name without the directories of its package: pkg.(*T).Method for
// github.com/a/b/pkg.(*T).Method, and pkg/v2.F for github.com/a/pkg/v2.F. The name of a pair has two such names.
func Short(name string) string {
	if from, to, isPair := strings.Cut(name, Arrow); isPair {
		return Short(from) + Arrow + Short(to)
	}
	path := name
	if i := strings.IndexAny(name, "[({\" "); i >= 0 {
		path = name[:i] // type arguments may have slashes
	}
	last := strings.LastIndexByte(path, '/')
	element, _, _ := strings.Cut(path[last+1:], ".")
	version, isVersion := strings.CutPrefix(element, "v") // the major version of a module, like v2
	if last > 0 && isVersion && version != "" && strings.Trim(version, "0123456789") == "" {
		last = strings.LastIndexByte(path[:last], '/')
	}
	return name[last+1:]
}

// ShortNames returns a short name for each name: the result of Short if it is unique, else the whole name.
func ShortNames(names []string) map[string]string {
	short, count := make(map[string]string, len(names)), make(map[string]int)
	for _, name := range names {
		short[name] = Short(name)
	}
	for _, s := range short {
		count[s]++
	}
	for name, s := range short {
		if count[s] > 1 {
			short[name] = name
		}
	}
	return short
}

// Cut makes s fit into width columns. It replaces the end of a longer text by an ellipsis.
func Cut(s string, width int) string {
	if Columns(s) <= width {
		return s
	}
	return head(s, max(width-1, 0)) + ellipsis
}

// head returns the longest prefix of s that fits into width columns.
func head(s string, width int) string {
	for i, r := range s {
		if width -= Columns(string(r)); width < 0 {
			return s[:i]
		}
	}
	return s
}

// tail returns the longest suffix of s that fits into width columns.
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

// Wrap breaks text between words into lines of at most width columns. A longer word has a line for itself.
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
