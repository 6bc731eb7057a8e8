// Package valuepath reads paths to values: "n", "req.URL.Path", "s.items[0].name", "*p".
package valuepath

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Path leads from a variable to a value.
type Path struct {
	// Stars is how many pointers are followed at the end.
	Stars int
	// Steps are the variable, and then fields and elements: "s", "items", "[0]", "name".
	Steps []string
}

// Error says what should be at a byte of a text, and is not.
type Error struct {
	Want string
	At   int
}

func (e *Error) Error() string { return e.Want }

// Parse reads a path. It has no blanks.
func Parse(text string) (Path, error) {
	p, n, err := Scan(text)
	if err == nil && (n < len(text) || strings.ContainsAny(text, blanks)) {
		err = &Error{"[ or . expected", n}
	}
	return p, err
}

// Root is the variable that a path begins with.
func Root(text string) string {
	if p, _, _ := Scan(text); len(p.Steps) > 0 {
		return p.Steps[0]
	}
	return ""
}

const blanks = " \t\r\n"

// Scan reads the path that a text begins with, which is so many bytes long. An error is an
// [Error], with the path as far as it goes.
func Scan(text string) (p Path, length int, err error) {
	at := 0
	// next goes past a word of runes that belong to one, and the blanks before it.
	next := func(belongs func(i int, r rune) bool) string {
		rest := strings.TrimLeft(text[at:], blanks)
		end := 0
		for i, r := range rest {
			if !belongs(i, r) {
				break
			}
			end = i + utf8.RuneLen(r)
		}
		if end > 0 {
			at = len(text) - len(rest) + end
		}
		return rest[:end]
	}
	accept := func(c rune) bool { return next(func(i int, r rune) bool { return i == 0 && r == c }) != "" }
	want := func(what string) (Path, int, error) { return p, at, &Error{what, at} }
	for accept('*') {
		p.Stars++
	}
	for {
		name := next(inName)
		if name == "" {
			return want("name expected")
		}
		p.Steps = append(p.Steps, name)
		for accept('[') {
			before := at
			// An index has at most 31 bits, and is spelled without zeros ahead.
			index, err := strconv.ParseUint(next(inIndex), 10, 31)
			if err != nil {
				at = before
				return want("index expected")
			}
			if !accept(']') {
				return want("] expected")
			}
			p.Steps = append(p.Steps, "["+strconv.FormatUint(index, 10)+"]")
		}
		if !accept('.') {
			return p, at, nil
		}
	}
}

func inName(i int, r rune) bool {
	return r == '_' || unicode.IsLetter(r) || i > 0 && unicode.IsDigit(r)
}

func inIndex(_ int, r rune) bool { return '0' <= r && r <= '9' }

// String is the path without blanks.
func (p Path) String() string {
	return strings.Repeat("*", p.Stars) + strings.ReplaceAll(strings.Join(p.Steps, "."), ".[", "[")
}
