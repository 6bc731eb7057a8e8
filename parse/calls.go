package parse

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/ftgo/ftgo/internal/biases"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// Calls yields the calls of a running session as they end, until the source ends or
// ctx is done; those open then come last. Each Call is valid until the next. An
// error is the last thing yielded; a done ctx is none.
func Calls(ctx context.Context, src Source, plan *uprobe.Plan) iter.Seq2[*Call, error] {
	return func(yield func(*Call, error) bool) {
		sink := yielded{yield, true}
		stream, err := NewStream(plan, src, everyProcess{src, biases.New(plan, false)}, &sink, Options{})
		if err != nil {
			yield(nil, err)
			return
		}
		for sink.wanted {
			_, err := stream.Read(ctx)
			if err == nil {
				continue
			}
			stream.Finish()
			if sink.wanted && !errors.Is(err, io.EOF) && ctx.Err() == nil {
				yield(nil, err)
			}
			return
		}
	}
}

// yielded is a Sink that yields calls as they end, as long as they are wanted.
type yielded struct {
	yield  func(*Call, error) bool
	wanted bool
}

func (y *yielded) Counted(int, int)    {}
func (y *yielded) Entry(*Call)         {}
func (y *yielded) Kernel(*KernelEvent) {}
func (y *yielded) Return(c *Call)      { y.wanted = y.wanted && y.yield(c, nil) }

// everyProcess wants all processes, whose threads a tracefs.Session tells; other sources are
// believed what they print.
type everyProcess struct {
	src    Source
	biases *biases.Biases
}

func (e everyProcess) Of(tid, printed int) int {
	if session, ok := e.src.(interface{ Process(tid, printed int) int }); ok {
		return session.Process(tid, printed)
	}
	return printed
}

func (e everyProcess) Wanted(_, pid int) (int, bool) { return pid, true }

func (e everyProcess) Bias(pid int, addr uint64) (uint64, bool) { return e.biases.Of(pid, addr) }
