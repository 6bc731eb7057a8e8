package main

import (
	"testing"
	"unicode"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestScriptIsPrintable: names in a script do not control the terminal of who looks at it.
func TestScriptIsPrintable(t *testing.T) {
	target := copied(t, fixture.Build(t, "lookup"), "\u202ecod.\u2066\u009b2J\x9b\x1b[2J\U000e0041")
	r := ran(t, "script", "-x", "\u202e\u009b*", target, "main.lookup")
	for i, c := range r.stdout {
		if c != '\n' && c != '\t' && !unicode.IsPrint(c) {
			t.Errorf("%q at byte %d", c, i)
		}
	}
}
