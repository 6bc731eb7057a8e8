// Package session makes runs of what a command line says: it finds what is to be traced, plans the
// probes, opens the source, and has a view told.
package session

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Options are what a command is told that looks at a binary: those of its view, and which processes a run is of, when it
// begins and ends, and how events are recorded.
type Options struct {
	view.Options
	Duration time.Duration
	Wait     bool
	At       time.Time // when the window begins, zero for at once
	Ready    int       // the descriptor that gets "ready" once probes are armed, 0 for none
	Sole     bool      // it is found out, as the run begins, whether nobody else runs what -p names
	// Succeeded: other runs are of what replaces BINARY.
	Succeeded bool
	Among     func(pid int) bool // that of [trace.Filter]
	MaxLost   *uint64            // how many events may be lost; nil is any number
	Budget    *float64           // percent of the program's CPU time that probes may take; 0 is no limit, nil what suits
	Force     bool               // goes on in spite of much
	With      []string           // patterns of kernel events
	Waits     bool               // what goroutines wait for is told beside calls

	// Of script and report alone:
	As         string // the command that something is recorded, or shown, for
	forKernel  string // the kernel that a script is for, as uname -r prints it
	tracedPath string // where report finds the binary, "" for where it was
	follow     bool   // go statements are recorded
	files      []string
	replays    bool                   // it is report
	filters    bool                   // the kernel has done nothing of --where
	Given      func(term string) bool // tells what terms of rules are true of the command line of report
}

// NewOptions are without any flag, for a command that has more formats than others.
func NewOptions(e *cli.Env, formats ...render.Format) *Options {
	o := &Options{}
	o.Env, o.Formats = e, slices.Concat(cli.Rows, formats)
	return o
}

// Groups are the flags of all commands that have a session, and some of its own; matching are those
// that say what patterns mean.
func (o *Options) Groups(matching cli.Group, more ...cli.Group) []cli.Group {
	return append([]cli.Group{
		o.DefineProcesses(o.Env), o.DefineRun, matching,
		o.DefineSymbols, o.Output.Define, o.DefineQuiet, o.DefineRecorder,
	}, more...)
}

// DefineAt defines --at of what is measured.
func (o *Options) DefineAt(fs *cli.Flags) {
	cli.Define(fs, &o.At, "at", "", "begin to measure at `TIME`: 15:04:05, RFC 3339 or +10s", cli.Form[time.Time]{
		Read: func(text string) (time.Time, error) { return moment(text, time.Now()) },
		Write: func(t time.Time) string {
			if t.IsZero() {
				return ""
			}
			return t.Format(time.RFC3339Nano)
		},
	})
}

// moment reads when to begin: a time of day, here, a time by RFC 3339, or how long from now.
func moment(text string, now time.Time) (at time.Time, err error) {
	wait, relative := strings.CutPrefix(text, "+")
	if relative {
		d, err := cli.Seconds.Read(wait)
		if err != nil {
			return at, err
		}
		return now.Add(d), nil
	}
	for _, layout := range []string{time.TimeOnly, "15:04"} {
		if of, wrong := time.Parse(layout, text); wrong == nil {
			at = time.Date(now.Year(), now.Month(), now.Day(), of.Hour(), of.Minute(), of.Second(), of.Nanosecond(), now.Location())
			if tomorrow := at.AddDate(0, 0, 1); at.Before(now) && tomorrow.Sub(now) < time.Hour {
				at = tomorrow // it is nearly midnight
			}
		}
	}
	if at.IsZero() {
		if at, err = time.Parse(time.RFC3339, text); err != nil {
			return at, fmt.Errorf("parse time %q: not 15:04:05, 2006-01-02T15:04:05Z or +10s", text)
		}
	}
	if !at.After(now) {
		return at, fmt.Errorf("begin at %q: it has passed, it is %s", text, now.Format(time.RFC3339))
	}
	return at, nil
}

// DefineRun defines the flags that say of which processes a run is, and when it begins and ends.
func (o *Options) DefineRun(fs *cli.Flags) {
	fs.BoolVar(&o.Fork, "fork", false, "also trace child processes of -p or PROGRAM")
	cli.Define(fs, &o.Duration, "duration", "d", "stop after `SECONDS`: 5, 100ms or 2m", cli.Seconds)
	fs.Uint64VarP(&o.Calls, "calls", "n", 0, "stop after `N` calls, and show no others")
	fs.BoolVar(&o.Wait, "wait", false, "wait for BINARY; -d counts from its first process")
	cli.Define(fs, &o.Ready, "ready-fd", "", "write \"ready\" to descriptor `N` once probes are armed", cli.Form[int]{Read: func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return 0, fmt.Errorf("parse file descriptor %q: not a number from 1 on", text)
		}
		// Later it may be a file of ftgo's own.
		if _, err := os.Lstat(fmt.Sprintf("/proc/self/fd/%d", n)); err != nil {
			return 0, fmt.Errorf("use file descriptor %q: not open", text)
		}
		return n, nil
	}})
}

// DefineInterval returns what defines -i, which is about something.
func (o *Options) DefineInterval(about string) cli.Group {
	return func(fs *cli.Flags) { cli.Define(fs, &o.Interval, "interval", "i", about, cli.Seconds) }
}

// DefineRecorder defines the flags that say how events are recorded.
func (o *Options) DefineRecorder(fs *cli.Flags) {
	fs.BoolVar(&o.DryRun, "dry-run", false, "print the probe definitions, say what of --where they do, and change nothing")
	cli.Define(fs, &o.MaxLost, "max-lost", "", "exit with status 5 if more than `N` events are lost", cli.Form[*uint64]{Read: func(text string) (*uint64, error) {
		n, err := strconv.ParseUint(text, 0, 64)
		return &n, err
	}})
	cli.Define(fs, &o.BufferKB, "buffer", "", "use ring buffers of `SIZE` per CPU (default 16M)", cli.Size)
	fs.BoolVar(&o.Force, "force", false, "go on despite unmatched patterns, a file open for writing, an old kernel, or very many probes")
	cli.Define(fs, &o.Budget, "budget", "", "let probes take `PERCENT` of the program's CPU time (default 25; no limit, 0, with PROGRAM)", percent)
}

// percent is the form of a share; nil is none that was given.
var percent = cli.Form[*float64]{
	Read: func(text string) (*float64, error) {
		n, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		if err != nil || !(n >= 0 && n < 100) {
			return nil, fmt.Errorf("parse share %q: not from 0 to less than 100 percent", text)
		}
		return &n, nil
	},
	Write: func(n *float64) string {
		if n == nil {
			return ""
		}
		return strconv.FormatFloat(*n, 'f', -1, 64)
	},
}

// usualBudget is what probes may take of programs that were running before, and are to go on as they
// did, in percent.
const usualBudget = 25

// share is what probes may take of the program's CPU time; 0 is no limit.
func (o *Options) share() float64 {
	switch {
	case o.Budget != nil:
		return *o.Budget / 100
	case len(o.Program) > 0:
		return 0
	}
	return usualBudget / 100.0
}

// together is how many functions share probes that come and go; 0 if none do.
func (o *Options) together() int {
	if o.share() == 0 {
		return 0
	}
	if len(o.Funcs) <= mostAlone && !o.Regexp && !slices.ContainsFunc(o.Funcs, func(f string) bool { return strings.ContainsAny(f, "*?[@") }) {
		return 1
	}
	return uprobe.MostTogether
}

// mostAlone is how many functions that are named have probes that come and go alone: each takes a moment to remove at the end.
const mostAlone = 8

// DefineExtras defines the flags that say what is traced beside calls.
func (o *Options) DefineExtras(fs *cli.Flags) {
	fs.StringSliceVar(&o.With, "with", nil, "also show the kernel events `GROUP:EVENT,...`")
	fs.BoolVar(&o.Sched, "sched", false, "split latencies into running, runnable and waiting; each state change costs a hit")
	fs.Check(func(string) error {
		if o.Sort != "wait" || o.Waits {
			return nil
		}
		return fs.Set("sched", "true") // so that rules know of it
	})
	fs.BoolVar(&o.Waits, "waits", false, "add rows of what calls wait for, or, without FUNC, of all that is waited for")
}

// tellReady says that the probes are armed, to a file descriptor that the caller has opened; 0 is none, since standard
// input is none to write to. Of the descriptors that are ftgo's own, those of standard output and error stay open.
func tellReady(fd int) error {
	if fd == 0 {
		return nil
	}
	f := os.NewFile(uintptr(fd), fmt.Sprintf("file descriptor %d", fd))
	_, err := f.WriteString("ready\n")
	if fd > 2 {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		// Not %w: that nobody reads it is no end like that of ftgo ... | head.
		return fmt.Errorf("tell that the probes are armed (--ready-fd %d): %v", fd, err)
	}
	return nil
}

// Words reads BINARY FUNC... -- PROGRAM.
func (o *Options) Words(command string, words, program []string) error {
	o.Program = program
	return o.Target.Words(command, words, !o.Waits)
}

// resolve finds the target.
func (o *Options) resolve() (*target.Target, error) {
	o.Signatures = o.Signatures || o.UsesValues()
	o.AllowUnmatched, o.Loading = o.AllowUnmatched || o.Force, o.Doing
	return o.Query.Resolve(o.Say)
}

// Filter says which processes are wanted. --fork adds none where all are that run BINARY.
func (o *Options) Filter() trace.Filter {
	fork := o.Fork && len(o.PIDs)+len(o.Program) > 0
	return trace.Filter{PIDs: o.PIDs, Sole: o.Sole, Fork: fork, Among: o.Among}
}

// View returns the options of a view, once all flags were read.
func (o *Options) View() *view.Options {
	if o.By.UsesStack() {
		o.Stack = cmp.Or(o.Stack, uprobe.MaxStack)
	}
	if o.UserFilter = o.Lines.Trees(); o.replays {
		o.UserFilter = o.filters
	}
	return &o.Options
}
