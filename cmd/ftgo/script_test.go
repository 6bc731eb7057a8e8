package main

import (
	"path/filepath"
	"testing"
	"unicode"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestScriptIsPrintable: names in a script do not control the terminal of who looks at it.
func TestScriptIsPrintable(t *testing.T) {
	target := filepath.Join(t.TempDir(), "\u202ecod.\u2066\u009b2J\x9b\x1b[2J\U000e0041")
	copyFile(t, fixture.Build(t, "lookup"), target)
	r := ran(t, "script", "-x", "\u202e\u009b*", target, "main.lookup")
	for i, c := range r.stdout {
		if c != '\n' && c != '\t' && !unicode.IsPrint(c) {
			t.Errorf("%q at byte %d", c, i)
		}
	}
}
