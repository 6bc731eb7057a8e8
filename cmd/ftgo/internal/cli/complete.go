package cli

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/symname"
)

// CompleteArg is the command that the shells' scripts run: ftgo complete-words -- WORDS,
// the last of which is being typed. Its output is a line that says what may stand there
// (words, parts of a word that go on, or files), and then one for each, with a tab before
// what explains it.
const CompleteArg = "complete-words"

// candidates are what may stand at a place.
type candidates struct {
	kind  string // words, parts or files
	lines []string
}

var files, nothing = candidates{kind: "files"}, candidates{kind: "words"}

func oneOf(lines []string) candidates { return candidates{"words", slices.Clone(lines)} }

// Complete writes what may stand as the last of the words that were typed.
func Complete(e *Env, commands []*Command, args []string) error {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return Usage("%s: no words", CompleteArg)
	}
	args = joinEquals(args)
	last := args[len(args)-1]
	c := candidatesFor(commands, args)
	var b strings.Builder
	b.WriteString(c.kind + "\n")
	for _, l := range c.lines {
		if strings.HasPrefix(l, last) {
			b.WriteString(l + "\n")
		}
	}
	_, err := io.WriteString(e.Stdout, b.String())
	return err
}

// joinEquals puts together what bash has split: --output = json.
func joinEquals(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "=" && len(out) > 0 && strings.HasPrefix(out[len(out)-1], "--") {
			out[len(out)-1] += "="
			if i+1 < len(args) {
				i++
				out[len(out)-1] += args[i]
			}
			continue
		}
		out = append(out, args[i])
	}
	return out
}

func candidatesFor(commands []*Command, args []string) candidates {
	if len(args) == 1 || args[0] == "help" {
		c := nothing
		for _, known := range commands {
			c.lines = append(c.lines, known.Name+"\t"+known.Summary)
		}
		return c
	}
	if args[0] == "completion" {
		return oneOf(shells)
	}
	command := Find(commands, args[0])
	if command == nil || command.Plain != nil {
		return nothing
	}
	t := typed{flags: command.Flags()}
	t.read(args[1 : len(args)-1])
	return t.next(args[0], args[len(args)-1])
}

// typed is a command line as far as it is there.
type typed struct {
	flags   *Flags
	value   *Flag    // whose value comes next
	program bool     // behind --
	pid     int      // of -p
	words   []string // that are no flags
}

func (t *typed) read(args []string) {
	t.flags.ParseErrorsAllowlist.UnknownFlags = true
	err := t.flags.ParseAll(t.flags.Join(args), func(f *Flag, value string) error {
		if f.Name == "pid" {
			t.pid, _ = strconv.Atoi(value)
		}
		return nil
	})
	if lacking, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		t.value = lacking.GetFlag()
	}
	t.words, t.program = t.flags.Args(), t.flags.ArgsLenAtDash() >= 0
}

// next is what may stand behind what is there.
func (t *typed) next(command, last string) candidates {
	switch name, _, whole := strings.Cut(last, "="); {
	case t.value != nil:
		return t.valuesOf(command, t.value, last)
	case t.program:
		return files
	case strings.HasPrefix(last, "--") && whole:
		f := t.flags.Lookup(name[2:])
		if f == nil {
			return nothing
		}
		c := t.valuesOf(command, f, last[len(name)+1:])
		for i := range c.lines {
			c.lines[i] = name + "=" + c.lines[i]
		}
		return c
	case strings.HasPrefix(last, "-"):
		return t.flagNames()
	case command == "doctor" || command == "clean":
		return nothing
	case t.pid == 0 && len(t.words) == 0:
		return files
	}
	if command == "watch" {
		return nothing // variables, whose names take a pass over all symbols
	}
	return t.functions(last)
}

func (t *typed) flagNames() candidates {
	c := nothing
	t.flags.VisitAll(func(f *Flag) {
		if !f.Hidden {
			_, about := pflag.UnquoteUsage(f)
			c.lines = append(c.lines, "--"+f.Name+"\t"+about)
		}
	})
	return c
}

func (t *typed) valuesOf(command string, f *Flag, last string) candidates {
	if choices := Choices(f); choices != nil {
		return oneOf(choices)
	}
	switch f.Name {
	case "pid":
		return processIDs()
	case "output-file":
		return files
	case "exclude", "inside", "at":
		return t.functions(last)
	}
	return nothing
}

// processIDs are the processes that have an executable file, with its name.
func processIDs() candidates {
	c := nothing
	pids, _ := procfs.All() // what was read will do
	for _, pid := range pids {
		if exe, err := os.Readlink(procfs.Exe(pid)); err == nil && printable.Text(exe) == exe {
			c.lines = append(c.lines, fmt.Sprintf("%d\t%s", pid, exe))
		}
	}
	return c
}

// manyNames are more than people read: names that go on alike are then shown as one, as
// directories are of paths.
const manyNames = 100

// functions are those of the binary typed before, in the spelling that needs no quotes.
func (t *typed) functions(last string) candidates {
	var path string
	switch {
	case len(t.words) > 0 && (t.pid == 0 || IsFile(t.words[0])):
		path = t.words[0]
	case t.pid > 0:
		path = procfs.Exe(t.pid)
	}
	b, err := target.Open(path, procfs.Executing(t.pid))
	if err != nil {
		return nothing
	}
	defer b.Close()
	names := shellSafeNames(b, last)
	if len(names) <= manyNames {
		return oneOf(names)
	}
	parts := slices.Clone(names)
	for i, name := range names {
		parts[i] = nextPart(name, len(last))
	}
	if parts = slices.Compact(parts); slices.Equal(parts, names) {
		return oneOf(names)
	}
	return candidates{"parts", parts}
}

// shellSafeNames are the functions whose names begin with a prefix and need no quotes, in
// order.
func shellSafeNames(b *offsets.Binary, prefix string) []string {
	var names []string
	funcs := b.Funcs()
	for i := range funcs {
		name := symname.Plain(funcs[i].Name)
		if !strings.HasPrefix(name, prefix) || strings.ContainsFunc(name, shellMinds) {
			continue
		}
		// Closures are offered when the function around them is there.
		if made := symname.Split(funcs[i].Name).Suffix; made != "" && len(prefix) <= len(strings.TrimSuffix(name, made)) {
			continue
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// shellMinds tells the characters that some shell takes for its own.
func shellMinds(r rune) bool {
	return r <= ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || strings.ContainsRune("!\"#$&'()*;<=>?[\\]^`{|}~:", r)
}

// nextPart cuts a name behind the first separator from an index on: that of a package's
// path, or, from its last element on, of what follows.
func nextPart(name string, from int) string {
	for _, separator := range "/." {
		if at := strings.IndexRune(name[from:], separator); at >= 0 {
			return name[:from+at+1]
		}
	}
	return name
}

//go:embed completion
var completionScripts embed.FS

// shells that have a completion/ftgo.SHELL.
var shells = []string{"bash", "zsh", "fish"}

// Completion is the command that prints the shells' scripts.
func Completion(e *Env) *Command {
	return &Command{Name: "completion", Summary: "print a script for bash, zsh or fish to complete words", Plain: func(args []string) error {
		if len(args) != 1 {
			return Usage("completion: not one of bash, zsh, fish (see ftgo completion -h)")
		}
		script, err := completionScripts.ReadFile("completion/ftgo." + args[0])
		if err != nil {
			return Usage("completion: no script for %q: there are bash, zsh, fish", args[0])
		}
		_, err = e.Stdout.Write(script)
		return err
	}}
}
