package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestScreen checks that each text replaces the one before, whatever the sizes of both, and that no line wraps or scrolls.
func TestScreen(t *testing.T) {
	long := strings.Repeat("x", 25)
	var out strings.Builder
	screen := &Screen{Terminal: &out}
	for _, c := range []struct {
		name, text    string
		width, height int
		want          string // with < for the erasing of a line, and ! for the erasing of what follows
	}{
		{"first", "a\nb\n", 20, 3, "\n\n\nHOME<BOLDaPLAIN\n<b\n!"},
		{"no newline at the end", "c", 20, 3, "HOME<BOLDcPLAIN\n!"},
		{"blank lines", "\n\na\n", 20, 5, "HOME<BOLDPLAIN\n<\n<a\n!"},
		{"empty", "", 20, 3, "HOME!"},
		{"long line", "a\n" + long, 20, 3, "HOME<BOLDaPLAIN\n<" + long[:19] + "…\n!"},
		{"as wide as the terminal", "a\n" + long[:20], 20, 3, "HOME<BOLDaPLAIN\n<" + long[:20] + "\n!"},
		{"narrower terminal", "a\n" + long, 8, 3, "HOME<BOLDaPLAIN\n<" + long[:7] + "…\n!"},
		{"taller than the terminal", "a\nb\nc\nd\n", 20, 3, "HOME<BOLDaPLAIN\n<b\n!"},
		{"one line", "a\nb\n", 20, 1, "HOME!"},
		{"no line", "a\nb\n", 0, 0, "HOME!"},
	} {
		out.Reset()
		fixture.NoError(t, screen.Draw(c.text, c.width, c.height))
		got := strings.NewReplacer("\x1b[H", "HOME", "\x1b[2K", "<", "\x1b[J", "!", "\x1b[1m", "BOLD", "\x1b[m", "PLAIN").Replace(out.String())
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if err := (&Screen{Terminal: brokenWriter{}}).Draw("a", 80, 24); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}
