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
	"github.com/ftgo/ftgo/offsets"
)

// View writes the results of a run as tables, lines or pages. An error of Begin, Take or Interval ends the run.
// ErrEnough ends it early but successfully.
type View interface {
	// Needs returns the requirements of the view. They depend only on the flags.
	Needs() Needs
	// Begin is called once, before the probes are placed.
	Begin(*Scene) error
	// Take is called for each item of the stream, in order. The view writes pending output at an item
	// [pairing.Read], which comes about 50 times a second.
	Take(*pairing.Item) error
	// Interval is called at the end of each interval, between the items before and after it.
	Interval(*trace.Reading) error
	// End is called last, with the totals of the run. It is not called if nothing was measured.
	End(*trace.Reading) error
}

// Needs are the requirements of a view. The view sets the fields of the request that concern calls. The session sets
// the target, and the fields that concern processes and time.
type Needs struct {
	engine.Request
	Totals engine.Totals
	Stacks bool // sum calls by their callers
	Memory bool // the kernel must support fetching from memory
	Soon   bool // see [trace.Limits]
}

// Scene has the parts of a run that a view reads. They are set before Begin.
type Scene struct {
	Env      *cli.Env
	Target   *target.Target // without Binary for a recording whose binary is missing
	Plan     *uprobe.Plan
	Out      io.Writer // the writer for results; messages go to Env.Stderr
	Clock    *trace.Clock
	Totals   *engine.Totals
	Stacks   *engine.Stacks // nil unless Needs.Stacks is set
	Events   []string       // the names of the recorded kernel events, by [pairing.KernelEvent].Format
	Recorded time.Time      // the start of a recording's window, zero for a live run
}

// common is the common part of views.
type common struct {
	*Scene
	opt       *Options
	memory    *engine.Memories
	funcs     map[*offsets.Func]*funcValues // of the functions whose calls have values
	undecided uint64                        // the number of calls left out because --where needs an unknown value
}

func (v *common) begin(s *Scene) {
	v.Scene, v.memory = s, engine.NewMemories(s.Target.Binary, !s.Recorded.IsZero())
}

// ErrEnough is returned by a view that needs no more calls.
var ErrEnough = errors.New("enough")
