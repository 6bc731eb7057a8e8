package view

import (
	"errors"
	"io"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// View is what a command makes of what a source tells: tables, or lines. An error ends the run,
// ErrEnough ends it well.
type View interface {
	// Needs depends on flags alone.
	Needs() Needs
	// Begin comes when all is ready to start.
	Begin(*Scene) error
	// Take takes what has happened; at [pairing.Read], 50 times a second, it is time to write.
	Take(*pairing.Item) error
	// Interval comes at its place among the calls.
	Interval(*engine.Table) error
	// End comes last, unless nothing was measured.
	End(*engine.Table) error
}

// Needs are what a view wants of a source: that of the request which is about calls, not about processes and time, and how
// calls are added up.
type Needs struct {
	engine.Request
	Totals engine.TotalsOptions
	Stacks bool // the table adds up calls by their callers
	Memory bool // the view is nothing without what is fetched from memory
	Soon   bool // the first interval is a short one: somebody waits for the numbers
}

// Scene is what a view sees of a run before it begins.
type Scene struct {
	Env      *cli.Env
	Target   *target.Target
	Plan     *uprobe.Plan
	Out      io.Writer // gets data
	Clock    *trace.Clock
	Totals   *engine.Totals
	Stacks   *engine.Stacks // those of Needs.Stacks
	Events   []string       // the names of the kernel's that are told
	Recorded time.Time      // when the window of a recording began; it is zero for what is live
}

// Ignore is a view that does nothing with what it does not need.
type Ignore struct{}

func (Ignore) Take(*pairing.Item) error     { return nil }
func (Ignore) Interval(*engine.Table) error { return nil }

// ErrEnough ends a run for a good reason.
var ErrEnough = errors.New("enough")
