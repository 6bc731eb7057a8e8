package printable

import (
	"strings"
	"unicode/utf8"
)

// Closing returns the index after the bracket that closes the bracket at s[i], or -1 if no bracket closes it.
// It skips quoted strings, because a type argument may be a struct with a tag, as in
// struct { A int "json:\"a]b\"" }. The tag is quoted as strconv.Quote does.
func Closing(s string, i int) int {
	for depth := 0; i < len(s); i++ {
		switch s[i] {
		case '[', '(', '{':
			depth++
		case ']', ')', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		}
	}
	return -1
}

// SplitOutside splits s at each comma outside of brackets.
func SplitOutside(s string) (parts []string) {
	part, rest := CutOutside(s, ",")
	for rest != "" {
		parts = append(parts, part)
		part, rest = CutOutside(rest[1:], ",")
	}
	return append(parts, part)
}

// CutOutside cuts s before the first separator outside of brackets. The tail begins with the separator. It is
// empty if s has no such separator, or if a bracket before the separator is not closed.
func CutOutside(s, separators string) (part, tail string) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[', '(', '{':
			end := Closing(s, i)
			if end < 0 {
				return s, ""
			}
			i = end - 1
		default:
			if r, _ := utf8.DecodeRuneInString(s[i:]); strings.ContainsRune(separators, r) {
				return s[:i], s[i:]
			}
		}
	}
	return s, ""
}
