package cli

import (
	"cmp"
	"context"
	"io"

	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
)

// Group is flags that belong together.
type Group interface {
	Define(fs *Flags)
	// Check refuses values that make no sense by themselves. What excludes what is for [Rules].
	Check(command string) error
}

// Defines is a group that has nothing to check.
type Defines func(fs *Flags)

// Define defines the flags.
func (d Defines) Define(fs *Flags) { d(fs) }

// Check finds nothing.
func (d Defines) Check(string) error { return nil }

// Hides is a group without flags that leaves those of others out of the help.
func Hides(names ...string) Group {
	return Defines(func(fs *Flags) {
		for _, name := range names {
			fs.Lookup(name).Hidden = true
		}
	})
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
	// Plain, if set, is the whole command, which has no flags.
	Plain func(args []string) error
}

// Find finds a command by its name; nil is none.
func Find(commands []*Command, name string) *Command {
	for _, c := range commands {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Flags are the command's flags, none of which has been read; nil if it has none.
func (c *Command) Flags() *Flags {
	if c.Plain != nil {
		return nil
	}
	fs := &Flags{pflag.NewFlagSet(c.Name, pflag.ContinueOnError)}
	fs.SortFlags = false
	fs.Usage = func() {}
	for _, g := range c.Groups {
		g.Define(fs)
	}
	fs.BoolP("help", "h", false, "show this text")
	return fs
}

// Main reads arguments and does what they say. It returns ErrHelp if that was the command's help.
func (c *Command) Main(ctx context.Context, e *Env, args []string) error {
	if c.Plain != nil {
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
	for _, g := range c.Groups {
		if err := g.Check(c.Name); err != nil {
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

// some is flags of a group.
type some struct {
	Group
	prefix string
	names  []string
}

// Some is flags of a group, by name, with a prefix to what the help says of them.
func Some(prefix string, g Group, names ...string) Group { return some{g, prefix, names} }

// Define defines them.
func (s some) Define(fs *Flags) {
	all := &Flags{pflag.NewFlagSet("", pflag.ContinueOnError)}
	s.Group.Define(all)
	for _, name := range s.names {
		f := all.Lookup(name)
		f.Usage = s.prefix + f.Usage
		fs.AddFlag(f)
	}
}
