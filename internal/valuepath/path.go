// Package valuepath reads paths to values: "n", "req.URL.Path", "s.items[0].name", "*p". It finds where a
// bracket closes, and what stands outside of brackets, in names and types as Go writes them.
package valuepath

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Path leads from a variable to a value.
type Path struct {
	// Stars is how many pointers are followed at the end.
	Stars int
	// Steps are the variable, and then fields, elements and what interfaces hold: "s", "items", "[0]",
	// "name", `["key"]`, "(*http.response)". The variable may be what a register holds or leads to:
	// "goarg2", "goarg2:string", "+56(+16(goarg4)):string".
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
	s := scanner{text: text}
	p, err := s.path()
	if err == nil && (s.at < len(text) || s.blanks) {
		err = &Error{"[ or . expected", s.at}
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

// Scan reads the path that a text begins with, which is so many bytes long. An error is an
// [Error], with the path as far as it goes.
func Scan(text string) (p Path, length int, err error) {
	s := scanner{text: text}
	p, err = s.path()
	return p, s.at, err
}

// scanner goes through a text.
type scanner struct {
	text   string
	at     int
	blanks bool // there were some
}

// next goes past a word of runes that belong to one, and the blanks before it.
func (s *scanner) next(belongs func(i int, r rune) bool) string {
	return s.take(func(rest string) (end int) {
		for i, r := range rest {
			if !belongs(i, r) {
				break
			}
			end = i + utf8.RuneLen(r)
		}
		return end
	})
}

// take goes past so many bytes as length tells, and the blanks before them.
func (s *scanner) take(length func(rest string) int) string {
	rest := strings.TrimLeft(s.text[s.at:], " \t\r\n")
	n := length(rest)
	if n > 0 {
		s.blanks = s.blanks || len(rest) < len(s.text)-s.at
		s.at = len(s.text) - len(rest) + n
	}
	return rest[:n]
}

func (s *scanner) accept(c rune) bool {
	return s.next(func(i int, r rune) bool { return i == 0 && r == c }) != ""
}

func (s *scanner) path() (p Path, err error) {
	for s.accept('*') {
		p.Stars++
	}
	for {
		step := ""
		if len(p.Steps) == 0 {
			step = s.take(Register)
		} else {
			step = s.take(inParentheses)
		}
		if step == "" {
			step = s.next(inName)
		}
		if step == "" {
			return p, &Error{"name expected", s.at}
		}
		p.Steps = append(p.Steps, step)
		for !sliced.MatchString(s.text[s.at:]) && s.accept('[') {
			key, ok := s.key()
			if !ok {
				return p, &Error{"index or key in quotes expected", s.at}
			}
			if !s.accept(']') {
				return p, &Error{"] expected", s.at}
			}
			p.Steps = append(p.Steps, "["+key+"]")
		}
		if !s.accept('.') {
			return p, nil
		}
	}
}

// key reads an index, which is spelled without zeros ahead, or a key of a map: a number of 64 bits
// or text as Go quotes it.
func (s *scanner) key() (key string, ok bool) {
	quoted := s.take(func(rest string) int {
		prefix, err := strconv.QuotedPrefix(rest)
		if err != nil || rest[0] == '\'' {
			return 0
		}
		return len(prefix)
	})
	if quoted != "" {
		text, err := strconv.Unquote(quoted)
		return strconv.Quote(text), err == nil
	}
	before := s.at
	number := s.next(inIndex)
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		return strconv.FormatInt(n, 10), true
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		s.at = before
	}
	return strconv.FormatUint(n, 10), err == nil
}

func inName(i int, r rune) bool {
	return r == '_' || unicode.IsLetter(r) || i > 0 && unicode.IsDigit(r)
}

func inIndex(i int, r rune) bool { return i == 0 && r == '-' || '0' <= r && r <= '9' }

// inParentheses is how long the parentheses are that a text begins with.
func inParentheses(text string) int {
	if !strings.HasPrefix(text, "(") {
		return 0
	}
	return max(0, End(text, 0))
}

var (
	// A part of what a path leads to follows, [:4].
	sliced   = regexp.MustCompile(`^\s*\[\s*:`)
	register = regexp.MustCompile(`^go(arg|ret)[0-9]+`)
	offset   = regexp.MustCompile(`^[+-](0[xX][0-9a-fA-F]{1,8}|[0-9]{1,9})\(`)
	// A type's name may have an import path; what leads to it are pointers, slices, arrays and maps.
	typeName = regexp.MustCompile(`^[\pL_][\pL\p{Nd}_]*([./][\pL_][\pL\p{Nd}_]*)*`)
	leading  = regexp.MustCompile(`^(\*|map\[[^][]*\]|\[[0-9]*\])`)
)

// Register is how long that is which a text begins with, if it is a register of Go's calling convention
// or something that one leads to, with its type: "goarg2", "goarg2:string", "+56(+16(goarg4)):string".
func Register(text string) int {
	depth, at := 0, 0
	for head := offset.FindString(text); head != ""; head = offset.FindString(text[at:]) {
		at += len(head)
		depth++
	}
	name := register.FindString(text[at:])
	if at += len(name); name == "" || !strings.HasPrefix(text[at:], strings.Repeat(")", depth)) {
		return 0
	}
	at += depth
	typ, typed := strings.CutPrefix(text[at:], ":")
	if r, _ := utf8.DecodeRuneInString(typ); !typed && depth == 0 && inName(1, r) {
		return 0
	}
	for rest := typ; typed; rest = rest[len(leading.FindString(rest)):] {
		if leading.FindString(rest) == "" {
			if of := typeName.FindString(rest); of != "" {
				at += len(":") + len(typ) - len(rest) + len(of)
			}
			break
		}
	}
	return at
}

// String is the path without blanks.
func (p Path) String() string {
	var b strings.Builder
	b.WriteString(strings.Repeat("*", p.Stars))
	for i, step := range p.Steps {
		if i > 0 && step[0] != '[' {
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return b.String()
}
