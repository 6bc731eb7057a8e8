package cli

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/internal/target"
)

// CompleteArg is the command that the completion scripts of shells run: ftgo complete-words -- WORDS. The last word
// is incomplete. Each line of output is a candidate for it and, after a tab, its description. If there is no candidate,
// the shell completes the names of files.
const CompleteArg = "complete-words"

// Complete writes the candidates for the last argument. It leaves out candidates that a shell would need quotes for.
func Complete(e *Env, commands []*Command, args []string) error {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return Usage("%s: no words", CompleteArg)
	}
	before, last := args[:len(args)-1], args[len(args)-1]
	list := slices.DeleteFunc(candidates(commands, before, last), func(line string) bool {
		word, about, _ := strings.Cut(line, "\t")
		return !strings.HasPrefix(word, last) || strings.ContainsFunc(word, shellSpecial) || printable.Text(about) != about
	})
	slices.Sort(list)
	for _, line := range slices.Compact(list) {
		if _, err := fmt.Fprintln(e.Stdout, line); err != nil {
			return err
		}
	}
	return nil
}

func shellSpecial(r rune) bool {
	return r <= ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || strings.ContainsRune("!\"#$&'()*;<>?[\\]^`{|}~:", r)
}

// candidates returns the candidates for last, the incomplete word after the words in before. It may return words that do
// not begin with last. The first word is the name of a command. For it, and for all words after help, the candidates are
// the names of the commands.
func candidates(commands []*Command, before []string, last string) (list []string) {
	if len(before) == 0 || before[0] == "help" {
		for _, known := range commands {
			list = append(list, known.Name+"\t"+known.Summary)
		}
		return list
	}
	command := Find(commands, before[0])
	if command != nil && command.FirstArgs != nil {
		if len(before) == 1 {
			return slices.Clone(command.FirstArgs)
		}
		command, before = Find(commands, "probe"), before[1:]
	}
	if command == nil || command.RunArgs != nil {
		return nil
	}
	fs := command.Flags()
	fs.ParseErrorsAllowlist.UnknownFlags = true
	process := ""
	err := fs.ParseAll(fs.JoinValues(before[1:]), func(f *Flag, value string) error {
		if f.Name == "pid" {
			process = value
		}
		return nil
	})
	name, _, hasValue := strings.Cut(last, "=")
	f := fs.Lookup(strings.TrimPrefix(name, "--"))
	if lacking, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fs.values(lacking.GetFlag(), process)
	}
	switch {
	case fs.ArgsLenAtDash() >= 0:
		return nil
	case strings.HasPrefix(last, "--") && hasValue && f != nil:
		for _, value := range fs.values(f, process) {
			list = append(list, name+"="+value)
		}
		return list
	case strings.HasPrefix(last, "-"):
		fs.VisitAll(func(f *Flag) {
			_, about := HelpText(f)
			list = append(list, "--"+f.Name+"\t"+about)
		})
		return list
	case fs.Name() == "watch" || process == "" && fs.NArg() == 0:
		return nil // to find the variables of watch, ftgo would have to read all symbols
	}
	return fs.functions(process)
}

// values returns the candidates for the value of a flag. process is the value of -p, or "".
func (fs *Flags) values(f *Flag, process string) (list []string) {
	switch f.Name {
	case "pid":
		for pid, exe := range target.GoProcesses {
			list = append(list, fmt.Sprintf("%d\t%s", pid, exe), filepath.Base(exe)+"\t"+exe)
		}
		return list
	case "exclude", "inside", "at", "from", "to":
		return fs.functions(process)
	}
	return slices.Clone(Choices(f))
}

// functions returns the functions of BINARY or, if that is missing, of the file of a process.
func (fs *Flags) functions(process string) (names []string) {
	path, pid := fs.Arg(0), 0
	if process != "" && !IsFile(path) {
		pids, err := (&target.Processes{All: true}).Named(func(string, ...any) {}, process)
		if err != nil {
			return nil // the shell can't show an error
		}
		pid = pids[0]
		path = procfs.Exe(pid)
	}
	b, err := target.Open(path, procfs.LiveThread(pid))
	if err != nil {
		return nil
	}
	defer b.Close()
	for _, f := range b.Funcs() {
		names = append(names, symname.Plain(f.Name))
	}
	return names
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
