package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode"
)

// TestWarnIsOneLine checks that a message with a hostile name is one line without control sequences.
func TestWarnIsOneLine(t *testing.T) {
	for _, text := range []string{
		"plain", "main.\x1b[31mf: can't be probed", "a\nftgo: removed everything", "a\rb", "\u202emoc", "\x9b2J", "\xff", "\x07",
		errors.Join(errors.New("first"), errors.New("second")).Error(),
	} {
		var b bytes.Buffer
		e := &Env{Stderr: &b}
		e.Warn(text)
		e.Say("%s", text)
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != 2 || lines[0] != lines[1] || strings.ContainsFunc(lines[0], func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
			t.Errorf("%q became %q", text, b.String())
		}
	}
}
