package capture

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
)

// ParsePath reads a path, which leads from a variable to a value and has no blanks: "n", "req.URL.Path",
// "s.items[0].name", "*p". Its steps are the variable, then fields, elements and what interfaces hold: "s", "items",
// "[0]", "name", `["key"]`, "(*http.response)", and then "*" for each pointer that is followed at the end. The variable
// may be what a register holds or leads to: "goarg2", "goarg2:string", "+56(+16(goarg4)):string".
func ParsePath(text string) (steps []string, err error) {
	s := scanner{text: text}
	steps, err = s.path()
	if err == nil && s.at < len(text) {
		err = errors.New("[ or . expected")
	}
	return steps, err
}

// ScanPath reads the path that a text begins with, which is so many bytes long and may have blanks. With an error it is
// the path as far as it goes, without stars.
func ScanPath(text string) (steps []string, length int, err error) {
	s := scanner{text: text, blanks: " \t\r\n"}
	steps, err = s.path()
	return steps, s.at, err
}

// RootOf is the variable that a path begins with.
func RootOf(text string) string {
	if steps, _, _ := ScanPath(text); len(steps) > 0 {
		return steps[0]
	}
	return ""
}

// scanner goes through a text.
type scanner struct {
	text   string
	at     int
	blanks string // that may stand before each word
}

// take goes past as many bytes as length tells, and the blanks before them.
func (s *scanner) take(length func(rest string) int) string {
	rest := strings.TrimLeft(s.text[s.at:], s.blanks)
	n := length(rest)
	if n > 0 {
		s.at = len(s.text) - len(rest) + n
	}
	return rest[:n]
}

func (s *scanner) accept(word string) bool {
	return s.take(func(rest string) int { return len(rest) - len(strings.TrimPrefix(rest, word)) }) != ""
}

func (s *scanner) path() (steps []string, err error) {
	var stars []string
	for s.accept("*") {
		stars = append(stars, "*")
	}
	for {
		special := Register
		if len(steps) > 0 {
			special = inParentheses
		}
		step := s.take(special)
		if step == "" {
			step = s.take(func(rest string) int { return len(nameRE.FindString(rest)) })
		}
		if step == "" {
			return steps, errors.New("name expected")
		}
		steps = append(steps, step)
		for !slicedRE.MatchString(s.text[s.at:]) && s.accept("[") {
			key, ok := s.key()
			if !ok {
				return steps, errors.New("index or key in quotes expected")
			}
			if !s.accept("]") {
				return steps, errors.New("] expected")
			}
			steps = append(steps, "["+key+"]")
		}
		if !s.accept(".") {
			return append(steps, stars...), nil
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
	number := s.take(func(rest string) int { return len(indexRE.FindString(rest)) })
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		return strconv.FormatInt(n, 10), true
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		s.at = before
	}
	return strconv.FormatUint(n, 10), err == nil
}

// inParentheses is how long the parentheses are that a text begins with.
func inParentheses(text string) int {
	if !strings.HasPrefix(text, "(") {
		return 0
	}
	return max(0, printable.Closing(text, 0))
}

var (
	nameRE  = regexp.MustCompile(`^[\pL_][\pL\p{Nd}_]*`)
	indexRE = regexp.MustCompile(`^-?[0-9]+`)
	// A part of what a path leads to follows, [:4].
	slicedRE   = regexp.MustCompile(`^\s*\[\s*:`)
	registerRE = regexp.MustCompile(`^go(arg|ret)[0-9]+`)
	offsetRE   = regexp.MustCompile(`^[+-](0[xX][0-9a-fA-F]{1,8}|[0-9]{1,9})\(`)
	// A type's name may have an import path; what leads to it are pointers, slices, arrays and maps.
	typedRE = regexp.MustCompile(`^:(\*|map\[[^][]*\]|\[[0-9]*\])*[\pL_][\pL\p{Nd}_]*([./][\pL_][\pL\p{Nd}_]*)*`)
)

// Register is how long that is which a text begins with, if it is a register of Go's calling convention
// or something that one leads to, with its type: "goarg2", "goarg2:string", "+56(+16(goarg4)):string".
func Register(text string) int {
	depth, at := 0, 0
	for head := offsetRE.FindString(text); head != ""; head = offsetRE.FindString(text[at:]) {
		at += len(head)
		depth++
	}
	found := registerRE.FindString(text[at:])
	if at += len(found); found == "" || !strings.HasPrefix(text[at:], strings.Repeat(")", depth)) {
		return 0
	}
	if at += depth; len(nameRE.FindString(text)) > at { // goarg2x
		return 0
	}
	return at + len(typedRE.FindString(text[at:]))
}

// JoinPath is the path of some steps, without blanks.
func JoinPath(steps []string) (path string) {
	for i, step := range steps {
		switch {
		case step == "*":
			path = step + path
		case i > 0 && step[0] != '[':
			path += "." + step
		default:
			path += step
		}
	}
	return path
}
