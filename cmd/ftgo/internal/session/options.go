// Package session runs commands: it resolves the target, plans the probes, opens the source, and passes its calls
// to a view.
package session

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Options are the flags of a command that reads a binary: the flags of its view, when the run begins and ends, and how to
// record events.
type Options struct {
	view.Options
	Ready      int                    // the descriptor that gets "ready" once probes are armed; 0 without the flag
	Successors bool                   // other runs trace the files that replace BINARY
	MaxLost    *uint64                // the limit of lost events; nil without one
	Budget     *float64               // the percentage of the program's CPU time that probes may take; 0 is unlimited, nil the default
	Force      bool                   // continue despite the problems that the help of --force names
	With       []string               // patterns of kernel events
	Verbose    bool                   // say how calls are counted, and why
	Waits      bool                   // add rows for the reasons that goroutines wait
	As         string                 // the command that script records for, or the command whose output report shows
	isReport   bool                   // the command is report
	tracedPath string                 // where report finds the binary; "" is its path when it was recorded
	HasTerm    func(term string) bool // reports whether a term of a rule holds for the flags of report
}

// NewOptions returns the defaults of flags, for a command with the output formats that all commands have and more
// formats.
func NewOptions(e *cli.Env, formats ...render.Format) *Options {
	o := &Options{}
	o.Env, o.Formats = e, slices.Concat(cli.RowFormats, formats)
	return o
}

// Groups returns the flags that all commands which trace have, the flags for patterns in matching, and more flags.
func (o *Options) Groups(matching cli.Group, more ...cli.Group) []cli.Group {
	return append([]cli.Group{
		o.DefineProcesses(o.Env), o.DefineRun, matching,
		o.DefineSymbols, o.Output.Define, o.DefineQuiet, o.DefineRecorder,
	}, more...)
}

// DefineRun defines the flags that select processes and the run's beginning and end.
func (o *Options) DefineRun(fs *cli.Flags) {
	fs.BoolVar(&o.Fork, "fork", false, "also trace child processes of -p or PROGRAM")
	cli.Define(fs, &o.Duration, "duration", "d", "stop after `SECONDS`: 5, 100ms or 2m", cli.Seconds)
	fs.Uint64VarP(&o.Calls, "calls", "n", 0, "stop after `N` calls, and show no others")
	cli.Define(fs, &o.Ready, "ready-fd", "", "write \"ready\" to descriptor `N` once probes are armed", cli.Form[int]{Read: func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return 0, fmt.Errorf("parse file descriptor %q: not a number from 1 on", text)
		}
		// Later the number may belong to a file that ftgo opens.
		if _, err := os.Lstat(fmt.Sprintf("/proc/self/fd/%d", n)); err != nil {
			return 0, fmt.Errorf("use file descriptor %q: not open", text)
		}
		return n, nil
	}})
}

// DefineInterval returns a group with the flag -i. about is the text for its help.
func (o *Options) DefineInterval(about string) cli.Group {
	return func(fs *cli.Flags) { cli.Define(fs, &o.Interval, "interval", "i", about, cli.Seconds) }
}

// DefineRecorder defines the flags that say how to record events.
func (o *Options) DefineRecorder(fs *cli.Flags) {
	fs.BoolVar(&o.DryRun, "dry-run", false, "print the probe definitions and the part of --where that the kernel evaluates")
	cli.Define(fs, &o.MaxLost, "max-lost", "", "exit with status 5 if more than `N` events are lost", cli.Form[*uint64]{Read: func(text string) (*uint64, error) {
		n, err := strconv.ParseUint(text, 0, 64)
		return &n, err
	}})
	cli.Define(fs, &o.BufferKB, "buffer", "", "use ring buffers of `SIZE` per CPU (default 16M)", cli.Size)
	fs.BoolVar(&o.Force, "force", false, "go on despite unmatched patterns, a file open for writing, an old kernel, or very many probes")
	cli.Define(fs, &o.Budget, "budget", "", "let probes take `PERCENT` of the program's CPU time (default 25; no limit, 0, with PROGRAM)", percent)
}

// percent is the form of a percentage; nil means that the flag is not given.
var percent = cli.Form[*float64]{
	Read: func(text string) (*float64, error) {
		n, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		if err != nil || !(n >= 0 && n < 100) {
			return nil, fmt.Errorf("parse share %q: not from 0 to less than 100 percent", text)
		}
		return &n, nil
	},
}

// defaultBudget is the budget in percent for programs that ftgo has not started, because they must keep working.
const defaultBudget = 25

// budgetShare returns the share of the program's CPU time to which sampling limits probes; 0 is unlimited. Pairs are not
// sampled, because a pair of which one end was not seen would be wrong.
func (o *Options) budgetShare() float64 {
	if o.From != "" {
		return 0
	}
	return o.costLimit()
}

// costLimit returns the share of the program's CPU time that probes may take; 0 is unlimited.
func (o *Options) costLimit() float64 {
	switch {
	case o.Budget != nil:
		return *o.Budget / 100
	case len(o.Program) > 0:
		return 0
	}
	return defaultBudget / 100.0
}

// groupSize returns the number of functions whose probes the budget places and removes together; 0 without a
// budget.
func (o *Options) groupSize() int {
	if o.budgetShare() == 0 {
		return 0
	}
	if len(o.Funcs) <= maxUngrouped && !o.Regexp && !slices.ContainsFunc(o.Funcs, func(f string) bool { return strings.ContainsAny(f, "*?[@") }) {
		return 1
	}
	return uprobe.MaxGroupSize
}

// maxUngrouped is the maximum number of FUNC arguments without wildcards with which the probes of each function are
// placed and removed separately. Each function then has its own events, and each event takes time to remove at the end.
const maxUngrouped = 8

// DefineExtras defines the flags that add data to calls.
func (o *Options) DefineExtras(fs *cli.Flags) {
	fs.StringSliceVar(&o.With, "with", nil, "also show the kernel events `GROUP:EVENT,...`")
	fs.BoolVar(&o.Sched, "sched", false, "split latencies into running, runnable and waiting; each state change costs a hit")
	fs.Check(func(string) error {
		if o.Sort != "wait" || o.Waits {
			return nil
		}
		return fs.Set("sched", "true") // so that rules apply
	})
	fs.BoolVar(&o.Waits, "waits", false, "add a row per wait reason of calls or, without FUNC, of all goroutines")
}

// writeReady writes "ready" to the descriptor of --ready-fd, and closes it unless it is standard output or error.
// fd 0 means that the flag is not given.
func writeReady(fd int) error {
	if fd == 0 {
		return nil
	}
	f := os.NewFile(uintptr(fd), fmt.Sprintf("file descriptor %d", fd))
	_, err := f.WriteString("ready\n")
	if fd > 2 {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		// Not %w: a closed pipe here is an error, unlike one of standard output in ftgo ... | head.
		return fmt.Errorf("write \"ready\" (--ready-fd %d): %v", fd, err)
	}
	return nil
}

// ReadArgs reads BINARY FUNC... -- PROGRAM. --fork has no effect where every process that runs BINARY is traced anyway.
func (o *Options) ReadArgs(command string, words, program []string) error {
	o.Program = program
	err := o.Target.ReadArgs(command, words, !o.Waits && o.From+o.To == "" && command != "watch")
	o.Fork = o.Fork && len(o.PIDs)+len(program) > 0
	return err
}

func (o *Options) resolve() (*target.Target, error) {
	o.Signatures = o.Signatures || o.UsesValues()
	o.AllowUnmatched = o.AllowUnmatched || o.Force
	return o.Query.Resolve(o.Say)
}

// View returns the options of a view. Call it after all flags are read.
func (o *Options) View() *view.Options {
	if !o.isReport { // applyRecorded sets it for a report
		o.UserFilter = o.Trees()
	}
	return &o.Options
}
