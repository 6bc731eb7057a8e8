package cli

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Headings are what flags are about, in the order of the help text, and the flags of each.
//
//go:embed headings.txt
var Headings string

// VisitHeadings calls f with each heading under which there are flags, and with these flags. Each flag
// stands under one heading, in every command that has it.
func (fs *Flags) VisitHeadings(f func(title string, flags []*Flag)) {
	for line := range strings.Lines(Headings) {
		title, names, _ := strings.Cut(line, ":")
		var flags []*Flag
		for name := range strings.FieldsSeq(names) {
			if found := fs.Lookup(name); found != nil && !found.Hidden {
				flags = append(flags, found)
			}
		}
		if len(flags) > 0 {
			f(title, flags)
		}
	}
}

const (
	// HelpColumn is where the texts of flags begin.
	HelpColumn = 26
	// PlainWidth is the width of help that is not written to a terminal.
	PlainWidth = 80
	// leastText is how many columns a flag's text has on the narrowest terminal.
	leastText = 20
)

// Help is the part of a help text that lists flags, for a terminal of some width.
func (fs *Flags) Help(width int) string {
	var b strings.Builder
	fs.VisitHeadings(func(title string, flags []*Flag) {
		fmt.Fprintf(&b, "\n%s:\n", title)
		for _, f := range flags {
			short := "    "
			if f.Shorthand != "" {
				short = "-" + f.Shorthand + ", "
			}
			left := "  " + short + "--" + f.Name
			if v := ValueName(f); v != "" {
				left += " " + v
			}
			if len(left) > HelpColumn-2 {
				b.WriteString(left + "\n")
				left = ""
			}
			for _, line := range wrapWords(About(f), max(width-HelpColumn, leastText)) {
				fmt.Fprintf(&b, "%-*s%s\n", HelpColumn, left, line)
				left = ""
			}
		}
	})
	return b.String()
}

// ValueName is what a flag's value is called, in brackets where it may be left out.
func ValueName(f *Flag) string {
	name, _ := pflag.UnquoteUsage(f)
	if name != "" && f.NoOptDefVal != "" {
		return "[" + name + "]"
	}
	return name
}

// About is a flag's sentence, and its default.
func About(f *Flag) string {
	_, text := pflag.UnquoteUsage(f)
	if !slices.Contains([]string{"", "0", "0s", "0K", "false", "[]"}, f.DefValue) {
		text += " (default " + f.DefValue + ")"
	}
	return text
}

// wrapWords breaks text into lines of at most width bytes, where its words allow that.
func wrapWords(text string, width int) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(text) {
		switch last := &lines[len(lines)-1]; {
		case *last == "":
			*last = word
		case len(*last)+1+len(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}
