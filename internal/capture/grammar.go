package capture

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
)

// ParsePath parses a path from a variable to a value, without blanks: "n", "req.URL.Path",
// "s.items[0].name", "*p". The first step is the variable, and the next ones are fields, elements and type assertions:
// "s", "items", "[0]", "name", `["key"]`, "(*http.response)". Last comes "*" for each star before the path. Instead of
// a variable, a path can begin with a label of the goroutine, "label:tenant", or with a register or the memory that one points
// to: "goarg2", "goarg2:string", "+56(+16(goarg4)):string".
func ParsePath(text string) (steps []string, err error) {
	s := scanner{text: text}
	steps, err = s.path()
	if err == nil && s.at < len(text) {
		err = errors.New("[ or . expected")
	}
	return steps, err
}

// ScanPath parses the path at the start of a text, which may have blanks, and returns its length in bytes. With an
// error, it returns the steps before the error, without stars.
func ScanPath(text string) (steps []string, length int, err error) {
	s := scanner{text: text, blanks: " \t\r\n"}
	steps, err = s.path()
	return steps, s.at, err
}

// RootOf returns the variable or register that a path begins with, or "".
func RootOf(text string) string {
	if steps, _, _ := ScanPath(text); len(steps) > 0 {
		return steps[0]
	}
	return ""
}

type scanner struct {
	text   string
	at     int
	blanks string // characters that it skips before each word
}

// take skips blanks and then as many bytes as length returns, and returns these bytes. If length returns 0, it skips
// nothing.
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
		special := rootLen
		if len(steps) > 0 { // a type assertion in parentheses
			special = func(rest string) int {
				if !strings.HasPrefix(rest, "(") {
					return 0
				}
				return max(0, printable.Closing(rest, 0))
			}
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

// key parses an index or the key of a map: a number of 64 bits or a quoted string. It returns the number without
// leading zeros, and the string quoted by strconv.Quote.
func (s *scanner) key() (key string, ok bool) {
	before := s.at
	word := s.take(func(rest string) int {
		if prefix, err := strconv.QuotedPrefix(rest); err == nil && rest[0] != '\'' {
			return len(prefix)
		}
		return len(indexRE.FindString(rest))
	})
	if text, err := strconv.Unquote(word); err == nil {
		return strconv.Quote(text), true
	} else if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return strconv.FormatInt(n, 10), true
	}
	n, err := strconv.ParseUint(word, 10, 64)
	if err != nil {
		s.at = before
	}
	return strconv.FormatUint(n, 10), err == nil
}

var (
	nameRE  = regexp.MustCompile(`^[\pL_][\pL\p{Nd}_]*`)
	indexRE = regexp.MustCompile(`^-?[0-9]+`)
	// slicedRE matches a slice expression behind a path, as in [:4].
	slicedRE   = regexp.MustCompile(`^\s*\[\s*:`)
	registerRE = regexp.MustCompile(`^go(arg|ret)[0-9]+`)
	offsetRE   = regexp.MustCompile(`^[+-](0[xX][0-9a-fA-F]{1,8}|[0-9]{1,9})\(`)
	// typedRE matches a type: pointers, slices, arrays and maps before a name, which may have an import path.
	typedRE = regexp.MustCompile(`^:(\*|map\[[^][]*\]|\[[0-9]*\])*[\pL_][\pL\p{Nd}_]*([./][\pL_][\pL\p{Nd}_]*)*`)
)

// OffsetLen returns the length of an offset of a fetcharg and its parenthesis at the start of a text, as in "+16(", or 0.
func OffsetLen(text string) int { return len(offsetRE.FindString(text)) }

// RegisterLen returns the length of the register of Go's calling convention at the start of a text, with the offsets
// around it and its type: "goarg2", "goarg2:string", "+56(+16(goarg4)):string". It returns 0 if the text begins with
// something else.
func RegisterLen(text string) int {
	depth, at := 0, 0
	for n := OffsetLen(text); n > 0; n = OffsetLen(text[at:]) {
		at += n
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

// labelRE matches a label of the goroutine, as in label:tenant and label:"span id".
var labelRE = regexp.MustCompile(`^label:("(?:[^"\\]|\\.)*"|[\pL\p{Nd}_./-]+)`)

// rootLen returns the length of the register or label at the start of a text, or 0.
func rootLen(text string) int { return max(RegisterLen(text), len(labelRE.FindString(text))) }

// OutsideArgs reports whether a path begins with a register or a label, so that it needs no signature.
func OutsideArgs(path string) bool { return rootLen(RootOf(path)) > 0 }

// Label returns the key of the goroutine's label that a path begins with. ok is false for any other path.
func Label(path string) (key string, ok bool) {
	if key, ok = strings.CutPrefix(labelRE.FindString(path), "label:"); !ok {
		return "", false
	}
	if quoted, err := strconv.Unquote(key); err == nil {
		key = quoted
	}
	return key, true
}

// JoinPath returns the path with these steps, without blanks.
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
