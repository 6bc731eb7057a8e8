package where

import (
	"regexp"
	"strconv"
	"strings"
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

// What tokens look like. A number is what looks like one, or like a duration: "0x1F", "1e-9",
// "1m30s".
var tokenPatterns = [...]*regexp.Regexp{
	nameToken:     regexp.MustCompile(`^[\pL_][\pL_\p{Nd}]*`),
	numberToken:   regexp.MustCompile(`^(0[xX][\pL_\p{Nd}.]*|[0-9]([eE][+-]|[\pL_\p{Nd}.])*)`),
	operatorToken: regexp.MustCompile(`^(\|\||&&|[=!<>]=|=~|[<>!+*/%&()\[\].-])`),
}

// nextToken reads the token at or after a byte of text.
func nextToken(text string, at int) token {
	rest := strings.TrimLeft(text[at:], " \t\r\n")
	at = len(text) - len(rest)
	if rest == "" {
		return token{endToken, "", at}
	}
	for kind, pattern := range tokenPatterns {
		if pattern == nil {
			continue
		}
		if found := pattern.FindString(rest); found != "" {
			return token{tokenKind(kind), found, at}
		}
	}
	if quoted, err := strconv.QuotedPrefix(rest); err == nil && rest[0] != '\'' {
		return token{stringToken, quoted, at}
	}
	_, size := utf8.DecodeRuneInString(rest)
	return token{badToken, rest[:size], at}
}
