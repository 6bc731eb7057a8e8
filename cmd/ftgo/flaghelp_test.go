package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
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
	noError(t, help(&text, allCommands()))
	check("ftgo help", text.String(), cli.PlainWidth)
	for _, c := range allCommands() {
		check("ftgo help "+c.Name, ftgo(t, "help", c.Name).stdout, cli.PlainWidth)
		if flags := c.Flags(); flags != nil {
			for _, width := range []int{52, 60, 100, 200} {
				check("ftgo help "+c.Name, flags.Help(width, true), width)
			}
		}
	}
}

// TestHelpIsShort limits what -h prints to a screen, and checks that it leads to the other flags.
func TestHelpIsShort(t *testing.T) {
	for _, c := range allCommands() {
		if c.Flags() == nil {
			continue
		}
		text := ftgo(t, c.Name, "-h").stdout
		if lines := strings.Count(text, "\n"); lines > 50 {
			t.Errorf("ftgo %s -h has %d lines:\n%s", c.Name, lines, text)
		}
		if full := ftgo(t, "help", c.Name).stdout; full != text && !strings.HasSuffix(text, "\nftgo help "+c.Name+" lists all flags.\n") {
			t.Errorf("ftgo %s -h does not lead to all flags:\n%s", c.Name, text)
		}
	}
}

// TestHeadings: each flag of each command stands under one heading, once in the help, with
// a text that is one sentence; and each heading's flags exist.
func TestHeadings(t *testing.T) {
	under := make(map[string]int)
	for line := range strings.Lines(cli.Headings) {
		_, names, _ := strings.Cut(line, ":")
		for name := range strings.FieldsSeq(strings.ReplaceAll(names, ";", " ")) {
			under[name]++
		}
	}
	seen := make(map[string]bool)
	for _, c := range allCommands() {
		flags := c.Flags()
		if flags == nil {
			continue
		}
		text := flags.Help(cli.PlainWidth, true)
		flags.VisitAll(func(f *cli.Flag) {
			seen[f.Name] = true
			if under[f.Name] != 1 {
				t.Errorf("--%s of %s stands under %d headings", f.Name, c.Name, under[f.Name])
			}
			lines := len(regexp.MustCompile(`(?m)^  (?:-., |    )--`+f.Name+`(?:[ [].*)?$`).FindAllString(text, -1))
			if lines != 1 {
				t.Errorf("--%s is %d times in the help of %s:\n%s", f.Name, lines, c.Name, text)
			}
			value, about := cli.HelpText(f)
			if len(about) > 110 || strings.Contains(about, ". ") || strings.HasSuffix(strings.TrimSuffix(about, value), ".") {
				t.Errorf("--%s of %s is explained by no short sentence: %q", f.Name, c.Name, about)
			}
		})
	}
	for name := range under {
		if !seen[name] {
			t.Errorf("no command has --%s, which stands under a heading", name)
		}
	}
}
