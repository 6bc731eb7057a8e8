package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

// TestHelpWidth: no line of any help is wider than 80 columns where it is no terminal, and
// none of flags is wider than a terminal that is not very narrow.
func TestHelpWidth(t *testing.T) {
	check := func(what, text string, width int) {
		t.Helper()
		for line := range strings.Lines(text) {
			if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > width || strings.Contains(line, "\t") {
				t.Errorf("%s has a line wider than %d: %q", what, width, line)
			}
		}
	}
	var text bytes.Buffer
	if err := help(&text); err != nil {
		t.Fatal(err)
	}
	check("ftgo help", text.String(), plainWidth)
	for _, c := range commands() {
		check("ftgo help "+c.name, ftgo(t, "help", c.name).stdout, plainWidth)
		if flags := flagsOf(t.Context(), c.name); flags != nil {
			for _, width := range []int{52, 60, 100, 200} {
				check("ftgo help "+c.name, flagHelp(flags, width), width)
			}
		}
	}
}

// TestHeadings: each flag of each command stands under one heading, once in the help, with
// a text that is one sentence; and each heading's flags exist.
func TestHeadings(t *testing.T) {
	under := make(map[string]int)
	for _, h := range headings {
		for _, name := range h.flags {
			under[name]++
		}
	}
	seen := make(map[string]bool)
	for _, c := range commands() {
		flags := flagsOf(t.Context(), c.name)
		if flags == nil {
			continue
		}
		text := flagHelp(flags, plainWidth)
		flags.VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			seen[f.Name] = true
			if under[f.Name] != 1 {
				t.Errorf("--%s of %s stands under %d headings", f.Name, c.name, under[f.Name])
			}
			lines := 0
			for line := range strings.Lines(text) {
				left := strings.Fields(line[:min(len(line), helpColumn)])
				if slices.Contains(left, "--"+f.Name) {
					lines++
				}
			}
			if lines != 1 {
				t.Errorf("--%s is %d times in the help of %s:\n%s", f.Name, lines, c.name, text)
			}
			value, about := pflag.UnquoteUsage(f)
			if len(about) > 110 || strings.Contains(about, ". ") || strings.HasSuffix(strings.TrimSuffix(about, value), ".") {
				t.Errorf("--%s of %s is explained by no short sentence: %q", f.Name, c.name, about)
			}
		})
	}
	for name := range under {
		if !seen[name] {
			t.Errorf("no command has --%s, which stands under a heading", name)
		}
	}
}

func TestWrapWords(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {"one two", "one two"}, {"one two three", "one two|three"}, {"abcdefghij k", "abcdefghij|k"}, {"a bcdefghij", "a|bcdefghij"},
	} {
		if got := strings.Join(wrapWords(c.text, 8), "|"); got != c.want {
			t.Errorf("%q is wrapped to %q, not %q", c.text, got, c.want)
		}
	}
}
