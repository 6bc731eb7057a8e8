package cli

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Group defines flags that belong together, and checks that their values make sense by themselves.
// What excludes what is for [Rules].
type Group func(fs *Flags)

// Some is flags of a group, by name, with a prefix to what the help says of them.
func Some(prefix string, g Group, names ...string) Group {
	return func(fs *Flags) {
		all := newFlags("")
		g(all)
		for _, name := range names {
			f := all.Lookup(name)
			f.Usage = prefix + f.Usage
			fs.AddFlag(f)
		}
		fs.checks = append(fs.checks, all.checks...)
	}
}

// Command is one command, with its flags.
type Command struct {
	Name, Summary string
	// Changes: it changes the kernel, and so must not just be ended.
	Changes bool
	// About is the text above the flags in the command's help.
	About  string
	Groups []Group
	// Prepare, if set, changes the arguments before they are read.
	Prepare func(args []string) []string
	// Words, if set, reads what is no flag, and what stands behind --. A command without it takes
	// nothing but flags.
	Words func(command string, words, program []string) error
	// Given, if set, gets what rules are checked by, and Run checks them.
	Given func(given func(term string) bool)
	Run   func(ctx context.Context) error
	// Plain, if set, is the whole command, which has no flags but -h, and that only if it has About.
	Plain func(ctx context.Context, args []string) error
	// Firsts, if set, are what the first argument of a plain one may be. Behind it stands what probe takes.
	Firsts func() []string
}

// Find finds a command by its name; nil is none.
func Find(commands []*Command, name string) *Command {
	if i := slices.IndexFunc(commands, func(c *Command) bool { return c.Name == name }); i >= 0 {
		return commands[i]
	}
	return nil
}

// Flags are the command's flags, none of which has been read; nil if it has none.
func (c *Command) Flags() *Flags {
	if c.Plain != nil {
		return nil
	}
	fs := newFlags(c.Name)
	for _, define := range c.Groups {
		define(fs)
	}
	fs.BoolP("help", "h", false, "show this text")
	return fs
}

// Main reads arguments and does what they say. It returns ErrHelp if that was the command's help.
// all are the commands, one of which may have a flag that this one lacks.
func (c *Command) Main(ctx context.Context, e *Env, all []*Command, args []string) error {
	switch {
	case c.Plain != nil && c.About != "" && len(args) > 0 && (args[0] == "-h" || args[0] == "--help"):
		_, err := io.WriteString(e.Stdout, c.About)
		return err
	case c.Plain != nil:
		return c.Plain(ctx, args)
	}
	if c.Prepare != nil {
		args = c.Prepare(args)
	}
	fs := c.Flags()
	if err := fs.ParseAll(fs.Join(args), fs.set); err != nil {
		return Usage("%s: %w%s (see ftgo %s -h)", c.Name, plainly(err), fs.meant(err, all), c.Name)
	}
	if help, _ := fs.GetBool("help"); help {
		if _, err := io.WriteString(e.Stdout, c.About+fs.Help(cmp.Or(Width(e.Stdout), PlainWidth))); err != nil {
			return err
		}
		return ErrHelp
	}
	for _, check := range fs.checks {
		if err := check(c.Name); err != nil {
			return err
		}
	}
	if err := c.read(fs); err != nil {
		return err
	}
	if c.Given != nil {
		c.Given(fs.Given)
	} else if err := CheckRules(c.Name, fs.Given); err != nil {
		return err
	}
	return c.Run(ctx)
}

// plainly is what the flags say of a command line, without the names of functions that read numbers.
func plainly(err error) error {
	number, ok := errors.AsType[*strconv.NumError](err)
	if !ok {
		return err
	}
	why := "not a whole number"
	switch {
	case errors.Is(err, strconv.ErrRange):
		why = "out of range"
	case number.Func == "ParseUint":
		why = "not a whole number from 0 on"
	case number.Func == "ParseBool":
		why = "neither true nor false"
	}
	return errors.New(strings.Replace(err.Error(), number.Error(), why, 1))
}

func (c *Command) read(fs *Flags) error {
	words, program := fs.Args(), []string(nil)
	if n := fs.ArgsLenAtDash(); n >= 0 {
		words, program = words[:n], words[n:]
		if len(program) == 0 {
			return Usage("%s: no program after --", c.Name)
		}
	}
	switch {
	case c.Words != nil:
		return c.Words(c.Name, words, program)
	case fs.NArg() > 0:
		return Usage("%s takes no arguments but flags", c.Name)
	}
	return nil
}

// Rule says what flags of a command go together. A term is a flag's name, which means that it is
// given; "flag=value"; or "program", what stands behind --. "flag|another" and "flag=one,another" are
// either of two.
type Rule struct {
	On []string // the commands; all that have the flags if there are none
	// If is the term that the rule is about. Without one it is about Not.
	If string
	// Not are terms that If excludes. Needs are terms of which it takes one.
	Not, Needs []string
	// Because is the reason.
	Because string
}

//go:embed rules.txt
var rulesText string

// Rules are those of all commands. Errors are made of them.
var Rules = parseRules(rulesText)

// ruleLine is like "probe,demo: stack excludes output=csv,tsv: REASON", where the commands may be
// missing, and "needs" or just "no" may stand for what excludes.
var ruleLine = regexp.MustCompile(`(?m)^(?:(\S+): )?(?:(\S+) (excludes|needs)|no) (.+?): (.+)$`)

func parseRules(text string) (rules []Rule) {
	for _, m := range ruleLine.FindAllStringSubmatch(text, -1) {
		r := Rule{If: m[2], Because: m[5]}
		if m[1] != "" {
			r.On = strings.Split(m[1], ",")
		}
		if terms := strings.Fields(m[4]); m[3] == "needs" {
			r.Needs = terms
		} else {
			r.Not = terms
		}
		rules = append(rules, r)
	}
	return rules
}

// CheckRules is an error if a command line breaks a rule. given tells which terms are true of it.
func CheckRules(command string, given func(term string) bool) error {
	// first is the first alternative of the terms that is given.
	first := func(terms ...string) string {
		for _, term := range terms {
			for _, one := range alternatives(term) {
				if given(one) {
					return one
				}
			}
		}
		return ""
	}
	for _, r := range Rules {
		about := first(r.If)
		if r.On != nil && !slices.Contains(r.On, command) || r.If != "" && about == "" {
			continue
		}
		with := first(r.Not...)
		switch {
		case with != "" && r.If == "":
			return Usage("%s: no %s: %s", command, spell(with), r.Because)
		case with != "":
			return Usage("%s: %s and %s exclude each other: %s", command, spell(about), spell(with), r.Because)
		case r.Needs != nil && first(r.Needs...) == "":
			var needs []string
			for _, term := range r.Needs {
				needs = append(needs, spell(term))
			}
			return Usage("%s: %s needs %s: %s", command, spell(about), orList(needs), r.Because)
		}
	}
	return nil
}

// alternatives are the terms that a term stands for: hist|output=csv,tsv for three.
func alternatives(term string) (all []string) {
	for one := range strings.SplitSeq(term, "|") {
		name, _, _ := strings.Cut(one, "=")
		all = append(all, strings.Split(strings.ReplaceAll(one, ",", ","+name+"="), ",")...)
	}
	return all
}

// orList lists words: a, b or c.
func orList(words []string) string {
	last := len(words) - 1
	return strings.TrimPrefix(strings.Join(words[:last], ", ")+" or "+words[last], " or ")
}

// spell is a term as people type it.
func spell(term string) string {
	name, value, _ := strings.Cut(term, "=")
	special := map[string]string{"program": "-- PROGRAM", "several": "several FILEs, or JSON", "pid": "-p", "output": "-o"}
	return cmp.Or(special[term], strings.TrimSuffix(cmp.Or(special[name], "--"+name)+" "+value, " "))
}
