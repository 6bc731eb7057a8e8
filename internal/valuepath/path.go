// Package valuepath reads paths to values: "n", "req.URL.Path", "s.items[0].name", "*p".
package valuepath

import (
	"strconv"
	"strings"
	"unicode"
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
	if err != nil {
		return p, err
	}
	if n < len(text) || strings.ContainsAny(text, blanks) {
		return p, &Error{"[ or . expected", n}
	}
	return p, nil
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
	s := scanner{text: text}
	for s.accept('*') {
		p.Stars++
	}
	for {
		name := s.name()
		if name == "" {
			return p, s.at, &Error{"name expected", s.at}
		}
		p.Steps = append(p.Steps, name)
		for s.accept('[') {
			index, ok := s.index()
			if !ok {
				return p, s.at, &Error{"index expected", s.at}
			}
			if !s.accept(']') {
				return p, s.at, &Error{"] expected", s.at}
			}
			p.Steps = append(p.Steps, "["+index+"]")
		}
		if !s.accept('.') {
			return p, s.at, nil
		}
	}
}

// Prefix is the path up to its first n steps, without stars.
func (p Path) Prefix(n int) string {
	var b strings.Builder
	for i, step := range p.Steps[:n] {
		if i > 0 && step[0] != '[' {
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return b.String()
}

// String is the path without blanks.
func (p Path) String() string { return strings.Repeat("*", p.Stars) + p.Prefix(len(p.Steps)) }

// scanner is a text that has been read up to a byte. Blanks are passed over with what follows.
type scanner struct {
	text string
	at   int
}

// rest is what follows, and where it begins.
func (s *scanner) rest() (text string, at int) {
	text = strings.TrimLeft(s.text[s.at:], blanks)
	return text, len(s.text) - len(text)
}

func (s *scanner) accept(c byte) bool {
	rest, at := s.rest()
	if rest == "" || rest[0] != c {
		return false
	}
	s.at = at + 1
	return true
}

// name reads an identifier, "" if there is none.
func (s *scanner) name() string {
	rest, at := s.rest()
	end := len(rest)
	for i, c := range rest {
		if c != '_' && !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c)) {
			end = i
			break
		}
	}
	if end > 0 {
		s.at = at + end
	}
	return rest[:end]
}

// index reads a number of at most 31 bits, and spells it without zeros ahead.
func (s *scanner) index() (string, bool) {
	rest, at := s.rest()
	end := strings.IndexFunc(rest, func(c rune) bool { return c < '0' || c > '9' })
	if end < 0 {
		end = len(rest)
	}
	n, err := strconv.ParseUint(rest[:end], 10, 31)
	if err != nil {
		return "", false
	}
	s.at = at + end
	return strconv.FormatUint(n, 10), true
}
