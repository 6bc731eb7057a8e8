package where

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind tells tokens apart.
type tokenKind uint8

const (
	endToken tokenKind = iota
	nameToken
	numberToken
	operatorToken
	stringToken
	badToken
)

// token is a word of a filter. Its text is as written; at is the byte it begins at.
type token struct {
	kind tokenKind
	text string
	at   int
}

// nextToken reads the token at or after a byte of text.
func nextToken(text string, at int) token {
	rest := strings.TrimLeft(text[at:], " \t\r\n")
	at = len(text) - len(rest)
	c, size := utf8.DecodeRuneInString(rest)
	kind := badToken
	switch {
	case rest == "":
		kind = endToken
	case c == '"' || c == '`':
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			kind, size = stringToken, len(quoted)
		}
	case c >= '0' && c <= '9':
		kind, size = numberToken, numberEnd(rest)
	case c == '_' || unicode.IsLetter(c):
		kind = nameToken
		if size = strings.IndexFunc(rest, func(c rune) bool { return !inWord(c) }); size < 0 {
			size = len(rest)
		}
	case len(rest) > 1 && strings.Contains("|| && == != <= >= =~", rest[:2]) && rest[1] != ' ':
		kind, size = operatorToken, 2
	case strings.ContainsRune("<>!+-*/%&()[].", c):
		kind = operatorToken
	}
	return token{kind, rest[:size], at}
}

// inWord tells whether a rune may be in a name.
func inWord(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }

// numberEnd returns where the number or duration that text begins with ends, or what
// looks like one: "0x1F", "1e-9", "1m30s".
func numberEnd(text string) int {
	hex := strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X")
	for i, c := range text {
		exponent := (c == '+' || c == '-') && !hex && (text[i-1] == 'e' || text[i-1] == 'E')
		if c != '.' && !inWord(c) && !exponent {
			return i
		}
	}
	return len(text)
}
