package cli

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/offsets"
)

// CompleteArg is the command that the shells' scripts run: ftgo complete-words -- WORDS,
// the last of which is being typed. Its output is a line that says what may stand there
// (words, parts of a word that go on, or files), and then one for each, with a tab before
// what explains it.
const CompleteArg = "complete-words"

// What may stand at a place is a list, which begins with what its lines are: words, parts or files.
var files, nothing = []string{"files"}, []string{"words"}

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
	list := candidates(commands, args[:len(args)-1], last)
	offered := list[:1]
	for _, l := range list[1:] {
		if strings.HasPrefix(l, last) {
			offered = append(offered, l)
		}
	}
	_, err := io.WriteString(e.Stdout, strings.Join(offered, "\n")+"\n")
	return err
}

// joinEquals puts together what bash has split: --output = json.
func joinEquals(args []string) (out []string) {
	joined := false // the word before is an = that was joined
	for _, arg := range args {
		at := len(out) - 1
		if joined || arg == "=" && at >= 0 && strings.HasPrefix(out[at], "--") {
			out[at] += arg
			joined = !joined
		} else {
			out = append(out, arg)
		}
	}
	return out
}

// candidates are what may stand behind the words of a command line.
func candidates(commands []*Command, before []string, last string) []string {
	switch {
	case len(before) == 0 || before[0] == "help":
		list := nothing
		for _, known := range commands {
			list = append(list, known.Name+"\t"+known.Summary)
		}
		return list
	}
	command := Find(commands, before[0])
	if command != nil && command.Firsts != nil {
		if len(before) == 1 {
			return append(nothing, command.Firsts()...)
		}
		command, before = Find(commands, "probe"), before[1:]
	}
	if command == nil || command.Plain != nil {
		return nothing
	}
	t := typed{command: command.Name, flags: command.Flags()}
	t.flags.ParseErrorsAllowlist.UnknownFlags = true
	scope, name := target.Scope{All: true}, ""
	err := t.flags.ParseAll(t.flags.Join(before[1:]), func(f *Flag, value string) error {
		switch f.Name {
		case "pid":
			name = value
		case "container":
			scope.Container = value
		case "cgroup":
			scope.Cgroup = value
		}
		return nil
	})
	t.pid = meant(&scope, name)
	if lacking, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return t.values(lacking.GetFlag(), last)
	}
	return t.next(last)
}

// meant is a process that -p and its scope mean, 0 if there is none.
func meant(scope *target.Scope, name string) int {
	quiet := func(string, ...any) {}
	q := target.Query{}
	if scope.Find(quiet) != nil { // who completes words learns nothing of that
		return 0
	} else if name != "" {
		q.PIDs, _ = scope.Named(quiet, name)
	} else if scope.Limited() {
		_ = q.Within(scope, quiet, "")
	}
	return slices.Max(append(q.PIDs, 0))
}

// typed is a command line as far as it is there.
type typed struct {
	command string
	flags   *Flags
	pid     int // of -p
}

// next is what may stand behind what is there, where that is no flag's value.
func (t *typed) next(last string) []string {
	name, value, whole := strings.Cut(last, "=")
	f := t.flags.Lookup(strings.TrimPrefix(name, "--"))
	switch {
	case t.flags.ArgsLenAtDash() >= 0:
		return files
	case strings.HasPrefix(last, "--") && whole && f == nil:
		return nothing
	case strings.HasPrefix(last, "--") && whole:
		list := t.values(f, value)
		for i := range list[1:] {
			list[i+1] = name + "=" + list[i+1]
		}
		return list
	case strings.HasPrefix(last, "-"):
		list := nothing
		t.flags.VisitAll(func(f *Flag) {
			_, about := pflag.UnquoteUsage(f)
			list = append(list, "--"+f.Name+"\t"+about)
		})
		return list
	case t.command == "doctor" || t.command == "clean":
		return nothing
	case t.pid == 0 && t.flags.NArg() == 0:
		return files
	case t.command == "watch":
		return nothing // variables, whose names take a pass over all symbols
	}
	return t.functions(last)
}

func (t *typed) values(f *Flag, last string) []string {
	switch f.Name {
	case "pid":
		return processes()
	case "container":
		return append(nothing, target.Containers()...)
	case "cgroup":
		return append(nothing, target.Cgroups()...)
	case "output-file":
		return files
	case "exclude", "inside", "at":
		return t.functions(last)
	}
	return append(nothing, Choices(f)...)
}

// processes are those of Go programs: their numbers, with the file, and then the files' names.
func processes() []string {
	list, names := nothing, []string(nil)
	for pid, exe := range target.GoProcesses {
		if printable.Text(exe) == exe {
			list = append(list, fmt.Sprintf("%d\t%s", pid, exe))
			if name := filepath.Base(exe); !strings.ContainsFunc(name, shellMinds) {
				names = append(names, name+"\t"+exe)
			}
		}
	}
	slices.Sort(names)
	return append(list, slices.Compact(names)...)
}

// manyNames are more than people read: names that go on alike are then shown as one, as
// directories are of paths.
const manyNames = 100

// functions are those of the binary typed before, in the spelling that needs no quotes.
func (t *typed) functions(last string) []string {
	path := t.flags.Arg(0)
	if t.pid > 0 && !IsFile(path) {
		path = procfs.Exe(t.pid)
	}
	b, err := target.Open(path, procfs.Executing(t.pid))
	if err != nil {
		return nothing
	}
	defer b.Close()
	names := shellSafeNames(b, last)
	if len(names) > manyNames {
		parts := slices.Clone(names)
		for i, name := range names {
			parts[i] = nextPart(name, len(last))
		}
		if parts = slices.Compact(parts); !slices.Equal(parts, names) {
			return append([]string{"parts"}, parts...)
		}
	}
	return append(nothing, names...)
}

// shellSafeNames are the functions whose names begin with a prefix and need no quotes, in order. If
// there are none, they are ends of names that do: Store.Get.
func shellSafeNames(b *offsets.Binary, prefix string) []string {
	var names, ends []string
	for _, f := range b.Funcs() {
		name := symname.Plain(f.Name)
		if strings.ContainsFunc(name, shellMinds) {
			continue
		}
		end, from := name, 0
		for from >= 0 && !strings.HasPrefix(end, prefix) {
			from = strings.IndexAny(end, "/.")
			end = end[from+1:]
		}
		// Closures are offered when the function around them is there.
		made := symname.Split(f.Name).Suffix
		switch {
		case from < 0 || made != "" && len(prefix) <= len(strings.TrimSuffix(end, made)):
		case end == name:
			names = append(names, name)
		default:
			ends = append(ends, end)
		}
	}
	if len(names) == 0 {
		names = ends
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
	return &Command{Name: "completion", Summary: "print a script for bash, zsh or fish to complete words", Firsts: func() []string { return shells }, Plain: func(_ context.Context, args []string) error {
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
