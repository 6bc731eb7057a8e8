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
	"github.com/ftgo/ftgo/internal/trace"
)

// stream is a view that writes lines. They are gathered for a moment: a write for each of a million
// calls would cost more than tracing them.
type stream struct {
	run.Ignore
	*run.Scene
	opt     *Options
	out     *bufio.Writer
	flushed time.Time
	memory  *trace.Memories
	count   uint64 // calls written
}

func (s *stream) begin(scene *run.Scene) {
	s.Scene = scene
	s.memory = trace.NewMemories(scene.Target.Binary, !scene.Recorded.IsZero())
	s.out = bufio.NewWriterSize(scene.Out, 64<<10)
}

// flushEvery is too short for people to notice.
const flushEvery = 50 * time.Millisecond

// Flush writes what has been gathered if that was not done just now.
func (s *stream) Flush() error {
	if s.out.Buffered() == 0 || time.Since(s.flushed) < flushEvery {
		return nil
	}
	s.flushed = time.Now()
	return s.out.Flush()
}

func (s *stream) ProcessEnded(pid int) { s.memory.Forget(pid) }

// enough tells whether as many calls as -n says were written.
func (s *stream) enough() bool { return s.opt.Calls > 0 && s.count >= s.opt.Calls }

// wrote counts calls, and ends the run when they are enough.
func (s *stream) wrote(calls uint64) error {
	if s.count += calls; s.enough() {
		return errors.Join(s.out.Flush(), run.ErrEnough)
	}
	return nil
}

// conclude says how far the numbers can be trusted: with --quiet only if not all the way, unless
// that is part of the data.
func conclude(e *cli.Env, f render.Format, out io.Writer, rows []stats.Row, s stats.Summary) error {
	switch {
	case f == render.JSON:
		return render.SummaryJSON(out, s)
	case e.Quiet && s.Lost == 0 && s.Unparsed == 0:
		return nil
	}
	return render.Footer(e.Stderr, rows, s)
}
