// Package printable makes text of unknown origin safe for terminals, on lines of its own, and
// measures it.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// Text makes text of unknown origin safe for a terminal. Printable runes and
// the space stay; ASCII control characters and bytes that are not UTF-8 become
// \xNN, and what else is not printable (C1 controls, bidirectional overrides and
// other format characters, line separators, private use) \u{…}.
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

// AppendJSON writes a JSON string. Bytes that are not UTF-8, which only names can
// have here, become U+FFFD.
func AppendJSON[S ~string | ~[]byte](b []byte, s S) []byte {
	b = append(b, '"')
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

// JSON makes a line of JSON safe for a terminal, and leaves what it means as it is: what is
// not printable stands in strings alone.
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

// Columns returns how many terminal columns a text without control characters takes.
func Columns(s string) int { return twwidth.WidthWithOptions(s, twwidth.Options{}) }

const ellipsis = "…"

// Shorten makes a function name fit into width columns: first the import path goes
// (github.com/a/b/pkg.(*T).Method → …/pkg.(*T).Method), then the middle of what is
// left, which keeps the package and the end of the method.
func Shorten(name string, width int) string {
	if Columns(name) <= width {
		return name
	}
	if short := Short(name); short != name {
		name = ellipsis + "/" + short
	}
	if Columns(name) <= width {
		return name
	}
	room := max(width-1, 0)
	return head(name, room-room/2) + ellipsis + tail(name, room/2)
}

// Short is a name without the directories of its package: github.com/a/b/pkg.(*T).Method is
// pkg.(*T).Method.
func Short(name string) string {
	// Slashes in brackets belong to type arguments, which may follow a short name.
	path, _, _ := strings.Cut(name, "[")
	return name[strings.LastIndexByte(path, '/')+1:]
}

// Cut makes text fit into width columns and marks that some is missing.
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
