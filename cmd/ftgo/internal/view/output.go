package view

import (
	"bufio"
	"errors"
	"io"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/internal/stats"
)

// output gathers lines for a moment: a write for each of a million calls would cost more than
// tracing them.
type output struct {
	*bufio.Writer
	last time.Time
	// count is how many calls were written, limit how many are enough; 0 is all.
	count, limit uint64
}

func newOutput(w io.Writer, limit uint64) *output {
	return &output{Writer: bufio.NewWriterSize(w, 64<<10), limit: limit}
}

// flushEvery is too short for people to notice.
const flushEvery = 50 * time.Millisecond

// flushLate writes what has been gathered if that was not done just now.
func (o *output) flushLate() error {
	if o.Buffered() == 0 || time.Since(o.last) < flushEvery {
		return nil
	}
	o.last = time.Now()
	return o.Flush()
}

func (o *output) enough() bool { return o.limit > 0 && o.count >= o.limit }

// add counts calls, and ends the run when they are enough.
func (o *output) add(calls uint64) error {
	if o.count += calls; o.enough() {
		return errors.Join(o.Flush(), run.ErrEnough)
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
