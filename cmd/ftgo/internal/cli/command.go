package cli

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// Group defines flags that belong together, and checks each of their values. [Rules] say which flags exclude each
// other.
type Group func(fs *Flags)

// Subset returns a group of some flags of another group. It puts prefix before their help texts.
func Subset(prefix string, g Group, names ...string) Group {
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

// Command is a command with its flags.
type Command struct {
	Name, Summary string
	// Changes says that the command changes the kernel, and must clean up when a signal ends it.
	Changes bool
	// About is the text above the flags in the command's help.
	About  string
	Groups []Group
	// ReadArgs, if set, reads the arguments without the flags, and the arguments after --. A command without ReadArgs
	// takes only flags.
	ReadArgs func(command string, words, program []string) error
	// DeferRules, if set, receives the argument hasTerm of [CheckRules], and Run must call CheckRules. Otherwise Main
	// calls CheckRules before Run.
	DeferRules func(hasTerm func(term string) bool)
	Run        func(ctx context.Context) error
	// RunArgs, if set, runs the command with its unparsed arguments. Such a command has no Groups. Its only flag is -h,
	// and only if it has About.
	RunArgs func(ctx context.Context, args []string) error
	// FirstArgs are the possible first arguments of a command with RunArgs, for completion. The arguments after the
	// first are completed like those of the command probe.
	FirstArgs []string
}

// Find returns the command with a name, nil if no command has it.
func Find(commands []*Command, name string) *Command {
	if i := slices.IndexFunc(commands, func(c *Command) bool { return c.Name == name }); i >= 0 {
		return commands[i]
	}
	return nil
}

// Flags returns the command's flags before parsing, nil for a command with RunArgs.
func (c *Command) Flags() *Flags {
	if c.RunArgs != nil {
		return nil
	}
	fs := newFlags(c.Name)
	for _, define := range c.Groups {
		define(fs)
	}
	fs.BoolP("help", "h", false, "show this text")
	return fs
}

// Main parses args and runs the command. After it printed the help of a command with flags, it returns [pflag.ErrHelp]. If the
// command does not have a flag, the error names the commands in all with that flag.
func (c *Command) Main(ctx context.Context, e *Env, all []*Command, args []string) error {
	switch {
	case c.RunArgs != nil && c.About != "" && len(args) > 0 && (args[0] == "-h" || args[0] == "--help"):
		return c.WriteHelp(e, false)
	case c.RunArgs != nil:
		return c.RunArgs(ctx, args)
	}
	fs := c.Flags()
	if err := fs.ParseAll(fs.JoinValues(args), fs.set); err != nil {
		return Usage("%s: %w%s (see ftgo %s -h)", c.Name, plainError(err), fs.suggestion(err, all), c.Name)
	}
	if help, _ := fs.GetBool("help"); help {
		return cmp.Or(c.WriteHelp(e, false), pflag.ErrHelp)
	}
	if err := fs.check(); err != nil {
		return err
	}
	if err := c.readArgs(fs); err != nil {
		return err
	}
	if c.DeferRules != nil {
		c.DeferRules(fs.HasTerm)
	} else if err := CheckRules(c.Name, fs.HasTerm); err != nil {
		return err
	}
	return c.Run(ctx)
}

// WriteHelp writes the command's help to standard output. If all is false, it leaves out rare flags.
func (c *Command) WriteHelp(e *Env, all bool) error {
	text := c.About
	if fs := c.Flags(); fs != nil {
		width := cmp.Or(Width(e.Stdout), PlainWidth)
		full, short := fs.Help(width, true), fs.Help(width, false)
		if text += short; full != short && !all {
			text += fmt.Sprintf("\nftgo help %s lists all flags.\n", c.Name)
		} else if all {
			text = c.About + full
		}
	}
	_, err := io.WriteString(e.Stdout, text)
	return err
}

// plainError returns err without the names of strconv's functions.
func plainError(err error) error {
	if number, ok := errors.AsType[*strconv.NumError](err); ok {
		return errors.New(strings.Replace(err.Error(), number.Error(), number.Err.Error(), 1))
	}
	return err
}

func (c *Command) readArgs(fs *Flags) error {
	words, program := fs.Args(), []string(nil)
	if n := fs.ArgsLenAtDash(); n >= 0 {
		words, program = words[:n], words[n:]
		if len(program) == 0 {
			return Usage("%s: no program after --", c.Name)
		}
	}
	switch {
	case c.ReadArgs != nil:
		return c.ReadArgs(c.Name, words, program)
	case fs.NArg() > 0:
		return Usage("%s takes no arguments but flags", c.Name)
	}
	return nil
}

// Rule says which flags of a command go together. A term is the name of a flag, "flag=value", or "program"; see
// [Flags.HasTerm]. "flag|another" is true if one of its two terms is true, and "flag=one,another" if the flag has one of
// the two values.
type Rule struct {
	On []string // the commands to which the rule applies; empty for all commands with the flags
	// If is the term that must be true for the rule to apply. If it is "", the rule forbids Not.
	If string
	// Not are terms that If excludes. If Needs is not empty, If requires one of its terms.
	Not, Needs []string
	// Because is the reason for the error message.
	Because string
}

//go:embed rules.txt
var rulesText string

// Rules are the rules of all commands.
var Rules = parseRules(rulesText)

// ruleLine matches "probe,demo: stack excludes output=csv,tsv: REASON". The commands may be missing. "needs" may
// replace "excludes", and "no" may replace "stack excludes".
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

// CheckRules returns an error if a command line breaks a rule. hasTerm reports whether a term is
// true for the command line.
func CheckRules(command string, hasTerm func(term string) bool) error {
	// first returns the first true alternative of the terms, or "".
	first := func(terms ...string) string {
		for _, term := range terms {
			for _, one := range alternatives(term) {
				if hasTerm(one) {
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

// alternatives returns the simple terms of a term: hist|output=csv,tsv has three.
func alternatives(term string) (all []string) {
	for one := range strings.SplitSeq(term, "|") {
		name, _, _ := strings.Cut(one, "=")
		all = append(all, strings.Split(strings.ReplaceAll(one, ",", ","+name+"="), ",")...)
	}
	return all
}

// orList formats a list: a, b or c.
func orList(words []string) string {
	last := len(words) - 1
	return strings.TrimPrefix(strings.Join(words[:last], ", ")+" or "+words[last], " or ")
}

// spell returns a term as the user types it.
func spell(term string) string {
	name, value, _ := strings.Cut(term, "=")
	special := map[string]string{"program": "-- PROGRAM", "several": "several FILEs, or JSON", "pid": "-p", "output": "-o"}
	return cmp.Or(special[term], strings.TrimSuffix(cmp.Or(special[name], "--"+name)+" "+value, " "))
}
