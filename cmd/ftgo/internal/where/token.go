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
	stringToken
	operatorToken
	badToken
)

// token is a word of a filter. Its text is as written; at is the byte it begins at.
type token struct {
	kind tokenKind
	text string
	at   int
}

// operators, those that others begin with behind them.
var operators = []string{"||", "&&", "==", "!=", "<=", ">=", "=~", "<", ">", "!", "+", "-", "*", "/", "%", "&", "(", ")", "[", "]", "."}

// nextToken reads the token at or after a byte of text.
func nextToken(text string, at int) token {
	at += len(text[at:]) - len(strings.TrimLeft(text[at:], " \t\r\n"))
	rest := text[at:]
	if rest == "" {
		return token{kind: endToken, at: at}
	}
	switch c, size := utf8.DecodeRuneInString(rest); {
	case c == '"' || c == '`':
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return token{badToken, rest, at}
		}
		return token{stringToken, quoted, at}
	case '0' <= c && c <= '9':
		return token{numberToken, rest[:numberEnd(rest)], at}
	case isLetter(c):
		end := strings.IndexFunc(rest, func(c rune) bool { return !isLetter(c) && !unicode.IsDigit(c) })
		if end < 0 {
			end = len(rest)
		}
		return token{nameToken, rest[:end], at}
	default:
		for _, op := range operators {
			if strings.HasPrefix(rest, op) {
				return token{operatorToken, op, at}
			}
		}
		return token{badToken, rest[:size], at}
	}
}

func isLetter(c rune) bool { return c == '_' || unicode.IsLetter(c) }

// numberEnd returns where the number or duration that text begins with ends, or what
// looks like one: "0x1F", "1e-9", "1m30s".
func numberEnd(text string) int {
	hex := strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X")
	for i, c := range text {
		switch {
		case c == '.' || unicode.IsDigit(c) || isLetter(c):
		case (c == '+' || c == '-') && !hex && (text[i-1] == 'e' || text[i-1] == 'E'):
		default:
			return i
		}
	}
	return len(text)
}
