package printable_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/testdata/madeup"
)

func TestText(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"ordinary name", "main.(*Store[go.shape.int]).Get-fm", "main.(*Store[go.shape.int]).Get-fm"},
		{"letters of other scripts", "世界.Öl·é", "世界.Öl·é"},
		{"C0 and DEL", "a\x1b[2J\x00\n\t\x7f", `a\x1b[2J\x00\x0a\x09\x7f`},
		{"C1", "a\u009b31m", `a\u{9b}31m`},
		{"invalid UTF-8", "a\xff\x9b\xc3", `a\xff\x9b\xc3`},
		{"surrogate half", "\xed\xa0\x80", `\xed\xa0\x80`},
		{"replacement character itself", "\ufffd", "\ufffd"},
		{"bidirectional override", "a\u202eb\u2069", `a\u{202e}b\u{2069}`},
		{"separators and odd blanks", "\u2028\u00a0\u3000", `\u{2028}\u{a0}\u{3000}`},
		{"tags and private use", "\U000e0041\ue000", `\u{e0041}\u{e000}`},
	} {
		if got := printable.Text(test.in); got != test.want {
			t.Errorf("Text(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, name := range madeup.HostileNames {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := printable.Text(s)
		if !utf8.ValidString(got) {
			t.Fatalf("Text(%q) = %q, not UTF-8", s, got)
		}
		for _, r := range got {
			if !unicode.IsPrint(r) {
				t.Fatalf("Text(%q) = %q has %U", s, got, r)
			}
		}
		if again := printable.Text(got); again != got {
			t.Fatalf("Text(%q) = %q", got, again)
		}
	})
}

// TestColumnsInAnyLocale checks that widths do not depend on the locale. By default twwidth takes the width of "…"
// from the locale.
func TestColumnsInAnyLocale(t *testing.T) {
	twwidth.SetEastAsian(true)
	t.Cleanup(func() { twwidth.SetEastAsian(false) })
	if n := printable.Columns("…/µ≤≈"); n != 5 {
		t.Errorf("%d columns, want 5", n)
	}
}

func TestCutMiddle(t *testing.T) {
	long := strings.Repeat("(", 100000)
	for message, want := range map[string]string{
		`parse "a b": "b" is no number`:  `parse "a b": "b" is no number`,
		`parse "` + long + `": too deep`: `parse "` + long[:993] + "…" + long[:988] + `": too deep`,
	} {
		if got := printable.CutMiddle(message, 2000); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {"one two", "one two"}, {"one two three", "one two|three"}, {"abcdefghij k", "abcdefghij|k"}, {"a bcdefghij", "a|bcdefghij"},
	} {
		if got := strings.Join(printable.Wrap(c.text, 8), "|"); got != c.want {
			t.Errorf("%q is wrapped to %q, not %q", c.text, got, c.want)
		}
	}
}
