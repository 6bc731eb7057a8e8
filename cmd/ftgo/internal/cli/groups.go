package cli

import (
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/target"
)

// Target holds the flags that select processes and functions, and BINARY and FUNC.
type Target struct {
	target.Query
	Program []string // PROGRAM and its arguments
	say     target.Say
}

// Define defines the flags for patterns.
func (q *Target) Define(fs *Flags) {
	fs.BoolVarP(&q.Regexp, "regexp", "r", false, "take patterns as regular expressions (RE2, unanchored)")
	fs.StringArrayVarP(&q.Exclude, "exclude", "x", nil, "leave out functions that match `PATTERN`")
	fs.BoolVar(&q.Wrappers, "wrappers", false, "also select wrappers, which the compiler made to call functions")
}

// DefinePair defines the flags that select the two functions of a pair.
func (q *Target) DefinePair(fs *Flags) {
	fs.StringVar(&q.From, "from", "", "time the way of a value from `FUNC(VALUE)` to --to")
	fs.StringVar(&q.To, "to", "", "where it arrives: `FUNC(VALUE)`, like main.run(job.ID)")
}

// CheckFuncs returns an error if a FUNC is given with --from.
func (q *Target) CheckFuncs(command string) error {
	if q.From+q.To != "" && len(q.Funcs) > 0 {
		return Usage("%s: --from and --to replace FUNC: there is also %q", command, q.Funcs[0])
	}
	return nil
}

// DefineSymbols defines --symbols.
func (q *Target) DefineSymbols(fs *Flags) {
	fs.StringVar(&q.Symbols, "symbols", "", "read names, types and lines from `FILE`, the unstripped BINARY")
}

// DefineProcesses defines the flags that select processes: -p, --all, --container and --cgroup.
func (q *Target) DefineProcesses(e *Env) Group {
	var words []string
	return func(fs *Flags) {
		fs.StringSliceVarP(&words, "pid", "p", nil, "trace process `PID`, or the one with this name; BINARY defaults to its executable")
		fs.BoolVar(&q.All, "all", false, "trace every process that matches -p, --container or --cgroup")
		q.DefineScope(fs)
		fs.Check(func(string) error {
			q.PIDs, q.say = nil, e.Say
			if err := q.Find(e.Say); err != nil {
				return err
			}
			for _, word := range words {
				pids, err := q.Named(e.Say, word)
				if err != nil {
					return err
				}
				q.PIDs = append(q.PIDs, pids...)
			}
			return nil
		})
	}
}

// DefineScope defines --container and --cgroup.
func (q *Target) DefineScope(fs *Flags) {
	fs.StringVar(&q.Container, "container", "", "trace processes of the container with this `ID` or name")
	fs.StringVar(&q.Cgroup, "cgroup", "", "trace processes of the control group `PATH`")
}

// ReadArgs reads BINARY FUNC.... If needFunc is true, a missing FUNC is an error.
func (q *Target) ReadArgs(command string, words []string, needFunc bool) error {
	// With -p, BINARY is optional.
	if q.Limited() {
		binary := ""
		if len(words) > 0 && path.IsAbs(words[0]) {
			binary, words = words[0], words[1:]
		}
		if err := q.Within(q.say, binary); err != nil {
			return err
		}
	} else if len(words) > 0 && (len(q.PIDs) == 0 || IsFile(words[0])) {
		q.Binary, words = words[0], words[1:]
	} else if len(q.PIDs) > 0 {
		q.Binary, q.BinaryFromPID = procfs.Exe(q.PIDs[0]), true
	}
	q.Funcs = words
	switch {
	case q.Binary == "":
		return Usage("%s: no BINARY (see ftgo %s -h)", command, command)
	case len(q.Funcs) == 0 && needFunc:
		return Usage("%s: no FUNC (see ftgo %s -h; '*' is all)", command, command)
	}
	return q.CheckFuncs(command)
}

// IsFile reports whether a word is the path of an existing file, and not a pattern.
func IsFile(word string) bool {
	info, err := os.Stat(word)
	return strings.Contains(word, "/") && err == nil && info.Mode().IsRegular()
}

// DefineQuiet defines -q.
func (e *Env) DefineQuiet(fs *Flags) {
	fs.BoolVarP(&e.Quiet, "quiet", "q", false, "write only errors and losses to standard error")
}

// RowFormats are the output formats that all commands have.
var RowFormats = []render.Format{render.Table, render.JSON, render.CSV, render.TSV}

// Output holds the flags for the format and the file of data.
type Output struct {
	render.Style
	File string // "" is standard output
	// Formats are the formats of the command.
	Formats []render.Format
}

// Define defines -o and -w.
func (o *Output) Define(fs *Flags) {
	var names []string
	for _, f := range o.Formats {
		names = append(names, f.String())
	}
	Define(fs, &o.Format, "output", "o", "write `FORMAT`: "+orList(names),
		Form[render.Format]{Name: "FORMAT", Read: render.ParseFormat, Write: render.Format.String, Choices: names})
	fs.StringVarP(&o.File, "output-file", "w", "", "write data to `FILE` instead of standard output")
	fs.Check(func(command string) error {
		if !slices.Contains(o.Formats, o.Format) {
			return Usage("%s: -o %s is for probe", command, o.Format)
		}
		return nil
	})
}

// DefineFull returns the group of --full. more is the end of its help text.
func (o *Output) DefineFull(more string) Group {
	return func(fs *Flags) {
		fs.BoolVar(&o.Full, "full", false, "show functions with the whole paths of their packages"+more)
	}
}

// StyleFor returns the style of output to a writer: the width of a table is that of the terminal.
func (o *Output) StyleFor(w io.Writer) render.Style {
	style := o.Style
	style.Width = Width(w)
	return style
}

// Write calls write with the writer for data: stdout, or the file of -w. It refuses a file in inUse, even under
// another name, because ftgo reads or runs the files in inUse. It creates files that only their owner can read, because data
// may have arguments of the program's calls.
func (o *Output) Write(e *Env, inUse []string, write func(io.Writer) error) error {
	if o.File == "" {
		if o.Format == render.Pprof && IsTerminal(e.Stdout) {
			return Usage("-o pprof writes no text: -w FILE")
		}
		return write(e.Stdout)
	}
	// Check before opening the file, because opening truncates it, and waits until the lease on a binary breaks (see
	// offsets.Binary.Hold).
	there, err := os.Stat(o.File)
	for _, name := range inUse {
		used, uerr := os.Stat(name)
		if err == nil && uerr == nil && used.Mode().IsRegular() && os.SameFile(used, there) {
			return Usage("-w %s: is %s, which is in use", o.File, name)
		}
	}
	f, err := os.OpenFile(o.File, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
