package cli

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
)

// Group defines flags that belong together, and checks that their values make sense by themselves.
// What excludes what is for [Rules].
type Group func(fs *Flags)

// Hides is a group without flags that leaves those of others out of the help.
func Hides(names ...string) Group {
	return func(fs *Flags) {
		for _, name := range names {
			fs.Lookup(name).Hidden = true
		}
	}
}

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
	Words func(words, program []string) error
	// Given, if set, gets what rules are checked by, and Run checks them.
	Given func(given func(term string) bool)
	Run   func(ctx context.Context) error
	// Plain, if set, is the whole command, which has no flags but -h, and that only if it has About.
	Plain func(args []string) error
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
func (c *Command) Main(ctx context.Context, e *Env, args []string) error {
	switch {
	case c.Plain != nil && c.About != "" && len(args) > 0 && (args[0] == "-h" || args[0] == "--help"):
		_, err := io.WriteString(e.Stdout, c.About)
		return err
	case c.Plain != nil:
		return c.Plain(args)
	}
	if c.Prepare != nil {
		args = c.Prepare(args)
	}
	fs := c.Flags()
	if err := fs.Parse(fs.Join(args)); err != nil {
		return Usage("%s: %w (see ftgo %s -h)", c.Name, err, c.Name)
	}
	if help, _ := fs.GetBool("help"); help {
		width, _ := terminal.Size(e.Stdout)
		if _, err := io.WriteString(e.Stdout, c.About+fs.Help(cmp.Or(width, PlainWidth))); err != nil {
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

// read reads what is no flag.
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
		return c.Words(words, program)
	case fs.NArg() > 0:
		return Usage("%s takes no arguments but flags", c.Name)
	}
	return nil
}
