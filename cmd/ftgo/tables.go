package main

import (
	"fmt"
	"strconv"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
)

// tables is what tables show.
type tables struct {
	top        int
	perPID     bool // rows of each process
	hist       bool
	errors     bool
	rawLatency bool // latencies have in them what probes cost
	inKernel   bool // the kernel keeps histograms, nothing is streamed
	maxRate    *float64
	failing    failIf
	timesCalls bool // calls have latencies, and no lines
}

// Define defines the flags of probe.
func (t *tables) Define(fs *cli.Flags) {
	t.timesCalls = true
	t.defineRows(fs)
	fs.BoolVar(&t.errors, "errors", false, "also count the calls whose last result was an error")
	fs.BoolVar(&t.rawLatency, "raw-latency", false, "do not take the cost of probes off latencies")
	cli.Define(fs, &t.maxRate, "max-rate", "", "only count functions called over `N` times a second; 0 times all", perSecond)
	fs.BoolVar(&t.hist, "hist", false, "add a latency histogram of each function")
	fs.BoolVar(&t.inKernel, "in-kernel", false, "let the kernel build histograms; stream no calls")
	t.defineFailIf(fs, "'calls == 0 || p99 > 10ms'")
}

// countTables are the tables of count.
type countTables struct{ *tables }

// Define defines the flags of count.
func (t countTables) Define(fs *cli.Flags) {
	t.defineRows(fs)
	t.defineFailIf(fs, "'calls == 0 || rate > 1000'")
}

func (t *tables) defineRows(fs *cli.Flags) {
	fs.IntVarP(&t.top, "top", "t", 0, "show only the `N` functions with the most calls")
	fs.BoolVar(&t.perPID, "per-pid", false, "show a row for each function of each process")
}

func (t *tables) defineFailIf(fs *cli.Flags, example string) {
	cli.Define(fs, &t.failing, "fail-if", "", "exit with status 6 if `EXPR` is true of a function: "+example,
		cli.Form[failIf]{Read: parseFailIf, Write: func(f failIf) string { return f.text }})
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

// Check refuses less than no rows.
func (t *tables) Check(command string) error {
	if t.top < 0 {
		return cli.Usage("%s: --top %d: negative", command, t.top)
	}
	return nil
}

// rateLimit is how often functions may be called to be timed, 0 if that is left to ftgo.
func (t *tables) rateLimit() float64 {
	if t.maxRate == nil {
		return 0
	}
	return *t.maxRate
}
