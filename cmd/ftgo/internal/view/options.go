// Package view has what commands make of what happens in a program: tables, lines, and variables.
package view

import (
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
)

// Options are what views are told by flags.
type Options struct {
	Env    *cli.Env
	Format render.Format
	Header bool
	Tables TableFlags
	Lines  LineFlags
	Fetch  FetchFlags
	// Stack is how many callers are shown.
	Stack int
	// Every is how long an interval is, 0 for none; Calls how many calls are enough, 0 for all.
	Every time.Duration
	Calls uint64
	// Sched: latencies are split by what the scheduler did.
	Sched bool
	// Inside: only calls are wanted that functions with that role make.
	Inside bool
	// Mixed: several processes may be seen, so that lines must name them.
	Mixed bool
	// Keys: what is typed is for the view.
	Keys    bool
	Verbose bool
	// Whole tells whether nothing of --where is for the kernel: what that drops is not there for
	// others to be inside of.
	Whole func(inside bool) bool
}
