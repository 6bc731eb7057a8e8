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

// CompleteArg is the command that the completion scripts of shells run: ftgo complete-words -- WORDS. The last word
// is incomplete. The first line of output is the kind of the candidates: words, parts or files. Parts are beginnings of
// words, which the user continues. For files, the shell finds the candidates. Each other line is a candidate and, after a
// tab, its description.
const CompleteArg = "complete-words"

// A list of candidates begins with its kind: words, parts or files.
var files, nothing = []string{"files"}, []string{"words"}

// Complete writes the candidates for the last argument.
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

// joinEquals joins words that bash has split at =. It makes --output=json of the words --output, = and json.
func joinEquals(args []string) (out []string) {
	joined := false // the word before is an =, and was joined
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

// candidates returns the candidates for last, the incomplete word after the words in before. The first word is the name of
// a command. For it, and for all words after help, the candidates are the names of the commands.
func candidates(commands []*Command, before []string, last string) []string {
	if len(before) == 0 || before[0] == "help" {
		list := nothing
		for _, known := range commands {
			list = append(list, known.Name+"\t"+known.Summary)
		}
		return list
	}
	command := Find(commands, before[0])
	if command != nil && command.FirstArgs != nil {
		if len(before) == 1 {
			return append(nothing, command.FirstArgs...)
		}
		command, before = Find(commands, "probe"), before[1:]
	}
	if command == nil || command.RunArgs != nil {
		return nothing
	}
	fs := command.Flags()
	fs.ParseErrorsAllowlist.UnknownFlags = true
	scope, name := target.Scope{All: true}, ""
	err := fs.ParseAll(fs.JoinValues(before[1:]), func(f *Flag, value string) error {
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
	pid := anyProcess(&scope, name)
	if lacking, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fs.values(lacking.GetFlag(), pid, last)
	}
	return fs.nextWord(pid, last)
}

// anyProcess returns one of the processes that -p, --container or --cgroup select. It returns 0 if they select none. name
// is the value of -p.
func anyProcess(scope *target.Scope, name string) int {
	quiet := func(string, ...any) {}
	q := target.Query{}
	if scope.Find(quiet) != nil { // the shell can't show an error
		return 0
	} else if name != "" {
		q.PIDs, _ = scope.Named(quiet, name)
	} else if scope.Limited() {
		_ = q.Within(scope, quiet, "")
	}
	return slices.Max(append(q.PIDs, 0))
}

// nextWord returns the candidates for last, if last is not the value of the flag before it. fs contains the words before
// last. pid is one of the processes that -p, --container or --cgroup select, or 0.
func (fs *Flags) nextWord(pid int, last string) []string {
	name, value, hasValue := strings.Cut(last, "=")
	f := fs.Lookup(strings.TrimPrefix(name, "--"))
	switch {
	case fs.ArgsLenAtDash() >= 0:
		return files
	case strings.HasPrefix(last, "--") && hasValue && f == nil:
		return nothing
	case strings.HasPrefix(last, "--") && hasValue:
		list := fs.values(f, pid, value)
		for i := range list[1:] {
			list[i+1] = name + "=" + list[i+1]
		}
		return list
	case strings.HasPrefix(last, "-"):
		list := nothing
		fs.VisitAll(func(f *Flag) {
			_, about := pflag.UnquoteUsage(f)
			list = append(list, "--"+f.Name+"\t"+about)
		})
		return list
	case fs.Name() == "doctor" || fs.Name() == "clean":
		return nothing
	case pid == 0 && fs.NArg() == 0:
		return files
	case fs.Name() == "watch":
		return nothing // to find variables, ftgo would have to read all symbols
	}
	return fs.functions(pid, last)
}

// values returns the candidates for last, the value of a flag.
func (fs *Flags) values(f *Flag, pid int, last string) []string {
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
		return fs.functions(pid, last)
	}
	return append(nothing, Choices(f)...)
}

// processes returns the candidates for -p: the numbers of the processes of Go programs, and then the names of their
// executables.
func processes() []string {
	list, names := nothing, []string(nil)
	for pid, exe := range target.GoProcesses {
		if printable.Text(exe) == exe {
			list = append(list, fmt.Sprintf("%d\t%s", pid, exe))
			if name := filepath.Base(exe); !strings.ContainsFunc(name, shellSpecial) {
				names = append(names, name+"\t"+exe)
			}
		}
	}
	slices.Sort(names)
	return append(list, slices.Compact(names)...)
}

// maxNames is the number of whole names to offer. If more names match, ftgo offers only the next part of each name, as
// shells offer the next directory of a path.
const maxNames = 100

// functions returns the functions of BINARY whose names need no quotes.
func (fs *Flags) functions(pid int, last string) []string {
	path := fs.Arg(0)
	if pid > 0 && !IsFile(path) {
		path = procfs.Exe(pid)
	}
	b, err := target.Open(path, procfs.LiveThread(pid))
	if err != nil {
		return nothing
	}
	defer b.Close()
	names := shellSafeNames(b, last)
	if len(names) > maxNames {
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

// shellSafeNames returns the names of functions that begin with prefix and need no quotes in a shell, sorted. If no name
// begins with prefix, it returns the ends of names that begin with prefix. For the prefix Store, Store.Get is such an end
// of main.Store.Get.
func shellSafeNames(b *offsets.Binary, prefix string) []string {
	var names, ends []string
	for _, f := range b.Funcs() {
		name := symname.Plain(f.Name)
		if strings.ContainsFunc(name, shellSpecial) {
			continue
		}
		end, from := name, 0
		for from >= 0 && !strings.HasPrefix(end, prefix) {
			from = strings.IndexAny(end, "/.")
			end = end[from+1:]
		}
		// Offer a closure only if prefix is longer than the name of the function around it.
		suffix := symname.Split(f.Name).Suffix
		switch {
		case from < 0 || suffix != "" && len(prefix) <= len(strings.TrimSuffix(end, suffix)):
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

func shellSpecial(r rune) bool {
	return r <= ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || strings.ContainsRune("!\"#$&'()*;<=>?[\\]^`{|}~:", r)
}

// nextPart cuts a name after the first slash at or behind index from. If no slash follows, it cuts the name after the next
// dot. So it ends after an element of the package's path, after the package, or after the type.
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

// shells are the shells with a file completion/ftgo.SHELL.
var shells = []string{"bash", "zsh", "fish"}

// Completion returns the command that prints completion scripts.
func Completion(e *Env) *Command {
	return &Command{Name: "completion", Summary: "print a script for bash, zsh or fish to complete words", FirstArgs: shells, RunArgs: func(_ context.Context, args []string) error {
		if len(args) != 1 {
			return Usage("completion: not one of bash, zsh, fish (see ftgo completion -h)")
		}
		script, err := completionScripts.ReadFile("completion/ftgo." + args[0])
		if err != nil {
			return Usage("completion: unknown shell %q: not bash, zsh or fish", args[0])
		}
		_, err = e.Stdout.Write(script)
		return err
	}}
}
