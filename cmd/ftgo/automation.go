package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/stats"
)

// automation are the flags for scripts, of all commands that have a session.
type automation struct {
	quiet   bool
	header  yesNo
	ready   readyFD
	wait    bool
	failing failIf
}

func (a *automation) define(fs *pflag.FlagSet) {
	a.defineTalk(fs)
	fs.BoolVar(&a.wait, "wait", false, "wait for BINARY; -d counts from its first process")
	fs.Var(&a.ready, "ready-fd", "write \"ready\" to descriptor `N` once probes are armed")
}

// defineTalk defines what is written beside the data.
func (a *automation) defineTalk(fs *pflag.FlagSet) {
	fs.BoolVarP(&a.quiet, "quiet", "q", false, "write only errors and losses to standard error")
	a.header = true
	fs.Var(&a.header, "header", "write the columns' names")
	fs.Lookup("header").NoOptDefVal = "yes"
}

// defineFailIf is for commands that make rows.
func (a *automation) defineFailIf(fs *pflag.FlagSet, example string) {
	fs.Var(&a.failing, "fail-if", "exit with status 6 if `EXPR` is true of a function: "+example)
}

// yesNo is a flag value.
type yesNo bool

func (v *yesNo) String() string {
	if *v {
		return "yes"
	}
	return "no"
}

func (v *yesNo) Type() string { return "yes|no" }

func (v *yesNo) Choices() []string { return []string{"yes", "no"} }

func (v *yesNo) accepts(word string) bool { return new(yesNo).Set(word) == nil }

func (v *yesNo) Set(text string) error {
	switch text {
	case "yes", "true", "1":
		*v = true
	case "no", "false", "0":
		*v = false
	default:
		return fmt.Errorf("parse %q: neither yes nor no", text)
	}
	return nil
}

// readyFD is a file descriptor that the caller has opened; 0 is none, since standard input
// is none to write to.
type readyFD int

func (v *readyFD) String() string { return strconv.Itoa(int(*v)) }

func (v *readyFD) Type() string { return "N" }

func (v *readyFD) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return fmt.Errorf("parse file descriptor %q: not a number from 1 on", text)
	}
	*v = readyFD(n)
	return nil
}

// tell says that the probes are armed. Of the descriptors that are ftgo's own, those of
// standard output and error stay open.
func (v readyFD) tell() error {
	if v == 0 {
		return nil
	}
	f := os.NewFile(uintptr(v), fmt.Sprintf("file descriptor %d", v))
	_, err := f.WriteString("ready\n")
	if v > 2 {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		// Not %w: that nobody reads it is no end like that of ftgo ... | head.
		return fmt.Errorf("tell that the probes are armed (--ready-fd %d): %v", v, err)
	}
	return nil
}

// footer says how far the numbers can be trusted: with --quiet only if not all the way.
func footer(e *cli.Env, rows []stats.Row, summary stats.Summary) error {
	if e.Quiet && summary.Lost == 0 && summary.Unparsed == 0 {
		return nil
	}
	return render.Footer(e.Stderr, rows, summary)
}
