package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
)

const (
	optionsBegin = ".\\\" Written by FTGO_UPDATE=1 go test -run TestManOptions ./cmd/ftgo, from flags and manual texts.\n"
	optionsEnd   = ".\\\" End of the generated part.\n"
)

// manualTexts are what docs/man/options.txt says of flags.
func manualTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := make(map[string]string)
	for line := range strings.Lines(readFile(t, filepath.Join(fixture.Root(), "docs", "man", "options.txt"))) {
		if key, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); ok && !strings.HasPrefix(line, "#") {
			texts[key] = text
		}
	}
	return texts
}

// newSentence is where mdoc(7) wants a new line.
var newSentence = regexp.MustCompile(`\. ([A-Z])`)

// TestManOptions: OPTIONS are the flags of ftgo COMMAND -h, with their manual texts.
// FTGO_UPDATE=1 writes them into the pages.
func TestManOptions(t *testing.T) {
	texts, used := manualTexts(t), make(map[string]bool)
	for name, page := range manPages(t) {
		before, rest, found := strings.Cut(page, optionsBegin)
		got, after, ended := strings.Cut(rest, optionsEnd)
		flags := flagsOf(name)
		if flags == nil {
			if found {
				t.Errorf("the page of ftgo %s has options, the command has none", name)
			}
			continue
		}
		if !found || !ended {
			t.Errorf("the page of ftgo %s has no place for options:\n%s%s", name, optionsBegin, optionsEnd)
			continue
		}
		want := manOptions(name, flags, texts, used)
		if got == want {
			continue
		}
		file := filepath.Join(fixture.Root(), "docs", "man", "ftgo-"+name+".1")
		if os.Getenv("FTGO_UPDATE") == "" {
			t.Errorf("%s: options are\n%s\nflags and manual texts make them (FTGO_UPDATE=1)\n%s", file, got, want)
			continue
		}
		noError(t, os.WriteFile(file, []byte(before+optionsBegin+want+optionsEnd+after), 0o644))
	}
	for key := range texts {
		if !used[key] {
			t.Errorf("no page takes the text of %q", key)
		}
	}
}

// manOptions writes a command's flags in mdoc(7), and marks the manual texts that it used.
func manOptions(command string, flags *cli.Flags, texts map[string]string, used map[string]bool) string {
	var b strings.Builder
	flags.VisitHeadings(true, func(title string, flags []*cli.Flag) {
		fmt.Fprintf(&b, ".Ss %s\n.Bl -tag -width Ds\n", title)
		for _, f := range flags {
			b.WriteString(".It ")
			if f.Shorthand != "" {
				b.WriteString("Fl " + f.Shorthand + " , ")
			}
			b.WriteString("Fl \\-" + manText(f.Name))
			text := manualText(command, f, texts, used)
			switch value, _ := cli.HelpText(f); {
			case value == "":
			case f.NoOptDefVal != "":
				fmt.Fprintf(&b, " Op Ar %s", manText(strings.Trim(value, "[]")))
				text += " Without a value it means " + f.NoOptDefVal + "."
			default:
				b.WriteString(" Ar " + manText(value))
			}
			fmt.Fprintf(&b, "\n%s\n", manText(newSentence.ReplaceAllString(text, ".\n$1")))
		}
		b.WriteString(".El\n")
	})
	return b.String()
}

// manualText is a flag's manual text, or its help text as a sentence.
func manualText(command string, f *cli.Flag, texts map[string]string, used map[string]bool) string {
	for _, key := range []string{command + " " + f.Name, f.Name} {
		if text, ok := texts[key]; ok {
			used[key] = true
			return text
		}
	}
	_, text := cli.HelpText(f)
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
