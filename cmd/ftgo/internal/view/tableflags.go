package view

import (
	"fmt"
	"strconv"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
)

// TableFlags are what tables show.
type TableFlags struct {
	Top        int
	PerPID     bool // rows of each process
	Hist       bool
	Errors     bool
	RawLatency bool // latencies have in them what probes cost
	InKernel   bool // the kernel keeps histograms, nothing is streamed
	MaxRate    *float64
	FailIf     FailIf
	// TimesCalls: calls have latencies, and no lines. The command says so, since others take the
	// flags of probe as well, to refuse them with a word.
	TimesCalls bool
}

// Define defines the flags of probe.
func (t *TableFlags) Define(fs *cli.Flags) {
	t.defineRows(fs)
	fs.BoolVar(&t.Errors, "errors", false, "also count the calls whose last result was an error")
	fs.BoolVar(&t.RawLatency, "raw-latency", false, "do not take the cost of probes off latencies")
	cli.Define(fs, &t.MaxRate, "max-rate", "", "only count functions called over `N` times a second; 0 times all", perSecond)
	fs.BoolVar(&t.Hist, "hist", false, "add a latency histogram of each function")
	fs.BoolVar(&t.InKernel, "in-kernel", false, "let the kernel build histograms; stream no calls")
	t.defineFailIf(fs, "'calls == 0 || p99 > 10ms'")
}

// DefineCount defines those of them that count has.
func (t *TableFlags) DefineCount(fs *cli.Flags) {
	t.defineRows(fs)
	t.defineFailIf(fs, "'calls == 0 || rate > 1000'")
}

func (t *TableFlags) defineRows(fs *cli.Flags) {
	fs.IntVarP(&t.Top, "top", "t", 0, "show only the `N` functions with the most calls")
	fs.BoolVar(&t.PerPID, "per-pid", false, "show a row for each function of each process")
	fs.Check(t.check)
}

func (t *TableFlags) defineFailIf(fs *cli.Flags, example string) {
	cli.Define(fs, &t.FailIf, "fail-if", "", "exit with status 6 if `EXPR` is true of a function: "+example,
		cli.Form[FailIf]{Read: parseFailIf, Write: func(f FailIf) string { return f.Text }})
}

// perSecond is the form of calls per second; nil is none that was given.
var perSecond = cli.Form[*float64]{
	Read: func(text string) (*float64, error) {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !(n >= 0 && n <= 1e12) {
			return nil, fmt.Errorf("parse rate %q: not a number of calls per second", text)
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

// check refuses less than no rows.
func (t *TableFlags) check(command string) error {
	if t.Top < 0 {
		return cli.Usage("%s: --top %d: negative", command, t.Top)
	}
	return nil
}

// RateLimit is how often functions may be called to be timed, 0 if that is left to ftgo.
func (t *TableFlags) RateLimit() float64 {
	if t.MaxRate == nil {
		return 0
	}
	return *t.MaxRate
}
