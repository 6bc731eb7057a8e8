package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/tracefs"
)

// options are the flags and arguments of the commands that look at a binary.
type options struct {
	pids     []int
	fork     bool   // processes that those of -p or PROGRAM start, too
	comm     string // name of the processes
	perPID   bool   // rows of each process
	duration time.Duration
	interval time.Duration
	calls    uint64
	top      int
	regexp   bool
	exclude  []string
	format   render.Format
	outFile  string
	verbose  bool
	dryRun   bool
	hist     bool
	errors   bool
	stack    int // callers to show
	// rawLatency leaves in latencies what probes cost.
	rawLatency bool
	maxRate    maxRate
	timesCalls bool // the command is probe
	maxLost    uint64
	// inKernel: the kernel keeps histograms, nothing is streamed.
	inKernel bool
	limited  bool // --max-lost was given
	sized    bool // --buffer was given
	force    bool
	// noExpedite leaves the kernel's grace periods as long as they are.
	noExpedite bool
	// someMissing: patterns that match nothing are no error, for they are ftgo's own.
	someMissing bool
	maxProbes   int
	reader      tracefs.Reader
	trace       traceOptions
	auto        automation
	// signatures: FUNC may say what the function's parameters are; of list, show them.
	signatures bool
	at         []string
	// with are patterns of kernel events.
	with []string
	// sched splits latencies by what the goroutine was doing.
	sched    bool
	recorded recordedOptions

	binary string
	// ownBinary: it is the one that the first process of -p executes.
	ownBinary bool
	patterns  []string
	program   []string
}

// seconds is a flag value like 5, 0.5 or 100ms.
type seconds struct{ d *time.Duration }

func (s seconds) String() string {
	if s.d == nil || *s.d == 0 {
		return ""
	}
	return s.d.String()
}

func (s seconds) Type() string { return "SECONDS" }

func (s seconds) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		f, ferr := strconv.ParseFloat(text, 64)
		if ferr != nil || !(f < 1e9) { // 1e9 s is 30 years; NaN fails, too
			return fmt.Errorf("parse time %q: neither seconds nor a duration like 100ms", text)
		}
		d = time.Duration(f * float64(time.Second))
	}
	if d <= 0 {
		return fmt.Errorf("parse time %q: not positive", text)
	}
	*s.d = d
	return nil
}

// formatValue is the flag value of -o, of a command with such flags.
type formatValue struct {
	f      *render.Format
	groups flagGroup
}

func (v formatValue) String() string {
	if v.f == nil {
		return ""
	}
	return v.f.String()
}
func (v formatValue) Type() string { return "FORMAT" }
func (v formatValue) Choices() []string {
	return slices.DeleteFunc(render.Formats(), func(name string) bool {
		f, _ := render.ParseFormat(name)
		return f == render.Chrome && v.groups&(traceFlags|reportFlags) == 0 ||
			(f == render.Folded || f == render.Pprof) && v.groups&(histFlags|reportFlags) == 0
	})
}
func (v formatValue) Set(text string) (err error) {
	*v.f, err = render.ParseFormat(text)
	return err
}

// flagGroup is a set of flags that a command has.
type flagGroup uint8

const (
	selectFlags flagGroup = 1 << iota // which functions
	runFlags                          // of a session
	histFlags                         // of latencies
	traceFlags
	watchFlags
	listFlags
	scriptFlags // what a script records
	reportFlags // how a recording is shown
)

// parseFlags reads the arguments of a command. about is the text above the flags in
// its help.
func parseFlags(e *env, name, about string, groups flagGroup, args []string) (*options, error) {
	o := &options{}
	fs := newFlags(name)
	switch {
	case groups&scriptFlags != 0:
		o.defineScript(e, fs)
	case groups&reportFlags != 0:
		o.defineReport(fs)
	default:
		o.define(e, fs, groups)
	}
	if err := readFlags(e, fs, about, args); err != nil {
		return nil, err
	}
	o.limited, o.sized = fs.Changed("max-lost"), fs.Changed("buffer")
	e.Quiet = o.auto.quiet
	if o.top < 0 {
		return nil, cli.Usage("%s: --top %d: negative", name, o.top)
	}
	if o.format == render.Chrome && groups&(traceFlags|reportFlags) == 0 {
		return nil, cli.Usage("%s: -o chrome is for trace", name)
	}
	if isFile(o.trace.templateNames) {
		return nil, cli.Usage("%s: --format %q takes the names of its values: %s is a file", name, o.trace.template, o.trace.templateNames)
	}
	if groups&reportFlags != 0 {
		return o, o.recordingFile(fs)
	}
	if err := o.checkStack(name, groups&histFlags != 0 || o.recorded.as == "probe"); err != nil {
		return nil, err
	}
	return o, o.positional(name, fs)
}

// newFlags has no flags yet.
func newFlags(name string) *pflag.FlagSet {
	fs := pflag.NewFlagSet(name, pflag.ContinueOnError)
	fs.SortFlags = false
	fs.Usage = func() {}
	return fs
}

// readFlags reads a command's flags. It returns cli.ErrHelp if it wrote the command's
// help, which begins with about, or if only the flags themselves are asked for.
func readFlags(e *env, fs *pflag.FlagSet, about string, args []string) error {
	wantHelp := fs.BoolP("help", "h", false, "show this text")
	if e.flagsOnly != nil {
		e.flagsOnly(fs)
		return cli.ErrHelp
	}
	if err := fs.Parse(joinValues(fs, args)); err != nil {
		return cli.Usage("%s: %w (see ftgo %s -h)", fs.Name(), err, fs.Name())
	}
	if !*wantHelp {
		return nil
	}
	width, _ := terminal.Size(e.Stdout)
	if _, err := io.WriteString(e.Stdout, about+flagHelp(fs, cmp.Or(width, plainWidth))); err != nil {
		return err
	}
	return cli.ErrHelp
}

// define defines the flags of the commands that have sessions, and of list.
func (o *options) define(e *env, fs *pflag.FlagSet, groups flagGroup) {
	if groups&runFlags != 0 {
		fs.IntSliceVarP(&o.pids, "pid", "p", nil, "trace process `PID`; BINARY defaults to its executable")
		o.defineFollowing(fs)
		fs.VarP(seconds{&o.duration}, "duration", "d", "stop after `SECONDS`: 5, 100ms or 2m")
		every := "print a table every `SECONDS`"
		if groups&watchFlags != 0 {
			every = "read the variables every `SECONDS` (default 1 without --at)"
		}
		fs.VarP(seconds{&o.interval}, "interval", "i", every)
		fs.Uint64VarP(&o.calls, "calls", "n", 0, "stop after `N` calls, and show no others")
		fs.IntVarP(&o.top, "top", "t", 0, "show only the `N` functions with the most calls")
		// They are known to who knows probe, and refused with a word.
		fs.Lookup("interval").Hidden = groups&traceFlags != 0
		fs.Lookup("top").Hidden = groups&(traceFlags|watchFlags) != 0
	}
	if groups&watchFlags == 0 {
		o.defineMatching(fs)
	} else {
		fs.StringArrayVar(&o.at, "at", nil, "read the variables when `FUNC` is called (default runtime.usleep)")
		o.trace.defineFetch(fs)
	}
	fs.VarP(formatValue{&o.format, groups}, "output", "o", "write `FORMAT`: "+formatsOf(groups))
	fs.StringVarP(&o.outFile, "output-file", "w", "", "write data to `FILE` instead of standard output")
	if groups&runFlags != 0 {
		fs.BoolVarP(&o.verbose, "verbose", "v", false, "also show the probe definitions and other details")
		fs.BoolVar(&o.dryRun, "dry-run", false, "print the probe definitions and change nothing")
		fs.Uint64Var(&o.maxLost, "max-lost", 0, "exit with status 5 if more than `N` events are lost")
		fs.Var(readerValue{&o.reader}, "reader", "read through pipe or, cheaper, raw")
		fs.Var(bufferValue{&e.bufferKB}, "buffer", "use ring buffers of `SIZE` per CPU (default 16M)")
		fs.BoolVar(&o.force, "force", false, "go on despite unmatched patterns, a file open for writing, or an old kernel")
		o.defineExpedite(fs)
		fs.IntVar(&o.maxProbes, "max-probes", 0, "refuse to place more than `N` probes")
		o.auto.define(fs)
	}
	if groups&runFlags != 0 && groups&(traceFlags|watchFlags) == 0 {
		example := "'calls == 0 || rate > 1000'"
		if groups&histFlags != 0 {
			example = "'calls == 0 || p99 > 10ms'"
		}
		o.auto.defineFailIf(fs, example)
		fs.BoolVar(&o.perPID, "per-pid", false, "show a row for each function of each process")
	}
	if groups&(histFlags|traceFlags) != 0 {
		o.defineWith(fs)
		o.defineSched(fs)
	}
	if groups&histFlags != 0 {
		fs.BoolVar(&o.errors, "errors", false, "also count the calls whose last result was an error")
		fs.BoolVar(&o.rawLatency, "raw-latency", false, "do not take the cost of probes off latencies")
		o.timesCalls = true
		fs.Var(&o.maxRate, "max-rate", "only count functions called over `N` times a second; 0 times all")
		fs.BoolVar(&o.hist, "hist", false, "add a latency histogram of each function")
		fs.BoolVar(&o.inKernel, "in-kernel", false, "let the kernel build histograms; stream no calls")
	}
	if groups&histFlags != 0 {
		o.defineStack(fs, "group calls by stack: up to `DEPTH` callers, or 15")
	}
	if groups&traceFlags != 0 {
		o.defineStack(fs, "show who called: up to `DEPTH` callers, or 15")
		o.trace.define(fs)
		o.signatures = true
	}
	if groups&listFlags != 0 {
		fs.BoolVarP(&o.signatures, "signatures", "s", false, "show the parameters and results of functions")
	}
}

func formatsOf(groups flagGroup) string {
	if groups&reportFlags != 0 {
		return "table, json, csv, tsv, folded, pprof or chrome"
	}
	if groups&histFlags != 0 {
		return "table, json, csv, tsv, folded or pprof"
	}
	if groups&traceFlags != 0 {
		return "table, json, csv, tsv or chrome"
	}
	return "table, json, csv or tsv"
}

// positional sorts what is no flag into BINARY, FUNC... and PROGRAM ARGS.
func (o *options) positional(name string, fs *pflag.FlagSet) error {
	words := fs.Args()
	if n := fs.ArgsLenAtDash(); n >= 0 {
		o.program = words[n:]
		words = words[:n]
		if len(o.program) == 0 {
			return cli.Usage("%s: no program after --", name)
		}
	}
	for _, pid := range o.pids {
		if pid <= 0 {
			return cli.Usage("%s: -p %d: not a process id", name, pid)
		}
	}
	if len(o.pids) > 0 && len(o.program) > 0 {
		return cli.Usage("%s: -p and -- PROGRAM exclude each other", name)
	}
	// With -p the binary is known, but people name it all the same.
	if len(words) > 0 && (len(o.pids) == 0 || isFile(words[0])) {
		o.binary, words = words[0], words[1:]
	} else if len(o.pids) > 0 {
		o.binary, o.ownBinary = procfs.Exe(o.pids[0]), true
	}
	o.patterns = words
	switch {
	case o.binary == "":
		return cli.Usage("%s: no BINARY (see ftgo %s -h)", name, name)
	case len(o.patterns) == 0:
		return cli.Usage("%s: no FUNC (see ftgo %s -h; '*' is all)", name, name)
	}
	return o.checkFollowing(name)
}

// defineMatching defines what patterns mean.
func (o *options) defineMatching(fs *pflag.FlagSet) {
	fs.BoolVarP(&o.regexp, "regexp", "r", false, "take patterns as regular expressions (RE2, unanchored)")
	fs.StringArrayVarP(&o.exclude, "exclude", "x", nil, "leave out functions that match `PATTERN`")
}

// mixed: several processes may be seen, so that lines must name them.
func (o *options) mixed() bool {
	return o.fork || len(o.pids) > 1 || len(o.pids) == 0 && len(o.program) == 0
}

// query is what the arguments say of the target.
func (o *options) query() *target.Query {
	return &target.Query{
		Binary: o.binary, Own: o.ownBinary, PIDs: o.pids, Funcs: o.patterns, Exclude: o.exclude, Regexp: o.regexp, Inside: o.trace.inside,
		Signatures: o.signatures, Missing: o.force || o.someMissing,
		// --fail-if is there, or may be given to report.
		Wrappers: o.auto.failing.text != "" || o.recorded.as != "",
	}
}

// resolve finds the target, and notes the path of its binary.
func (o *options) resolve(e *env) (*target.Target, error) {
	q := o.query()
	t, err := q.Resolve(e.Say)
	o.binary, o.ownBinary, o.patterns = q.Binary, q.Own, q.Funcs
	return t, err
}

func isFile(name string) bool {
	if !strings.Contains(name, "/") {
		return false
	}
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
