package cli

import (
	"strings"
	"testing"
)

func TestWrapWords(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {"one two", "one two"}, {"one two three", "one two|three"}, {"abcdefghij k", "abcdefghij|k"}, {"a bcdefghij", "a|bcdefghij"},
	} {
		if got := strings.Join(wrapWords(c.text, 8), "|"); got != c.want {
			t.Errorf("%q is wrapped to %q, not %q", c.text, got, c.want)
		}
	}
}
