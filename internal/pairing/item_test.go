package pairing

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// returns returns a yield function that calls f for each ended call.
func returns(f func(*Call)) func(*Item) bool {
	return func(it *Item) bool {
		if it.Kind == Ended {
			f(it.Call)
		}
		return true
	}
}

// streamTo returns a Stream without a source that emits to yield.
func streamTo(plan *uprobe.Plan, yield func(*Item) bool) *Stream {
	p := newStream(plan)
	p.yield, p.reader = yield, &parse.Reader{}
	return p
}

// open returns a Stream that reads from a source.
func open(t testing.TB, plan *uprobe.Plan, src parse.Source, opt Options) *Stream {
	t.Helper()
	s, err := NewStream(plan, src, opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// told returns a yield function that appends the text of each ended call to calls.
func told(calls *[]string, text func(*Call) string) func(*Item) bool {
	return returns(func(c *Call) { *calls = append(*calls, text(c)) })
}

// spanned returns the function, the times and the Outcome of a call of testPlan.
func spanned(c *Call) string {
	return fmt.Sprintf("%s %d-%d %v", testFuncs[c.Func].name, c.Start, c.End, c.Outcome)
}

// readOnce yields the items of one Read.
func readOnce(t testing.TB, s *Stream, yield func(*Item) bool) error {
	t.Helper()
	for it, err := range s.Read(t.Context()) {
		if err != nil {
			return err
		}
		yield(it)
	}
	return nil
}

// readAll reads until the end of the source and finishes the stream.
func readAll(t *testing.T, s *Stream, yield func(*Item) bool) {
	t.Helper()
	var err error
	for err == nil {
		err = readOnce(t, s, yield)
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	for it := range s.Finish() {
		yield(it)
	}
}

// hit handles a hit of a function in testPlan, at a depth of a goroutine's stack. more are the fetched words behind the
// common ones.
func hit(p *Stream, kind uprobe.Kind, fn int, goid, depth, time uint64, more ...uint64) {
	const hi = 0x10000
	i := slices.IndexFunc(p.plan.Events, func(e uprobe.Event) bool { return e.Sites[0].Kind == kind })
	e := &p.plan.Events[i]
	args := []uint64{hi - depth, 0xc000 + goid, hi, hi - 0x8000, goid}
	args = append(args[:min(len(args), len(e.Args))], more...)
	p.event(&parse.Event{Format: i, PID: 1, TID: 1, Time: time, Addr: e.Sites[fn].Addr, Args: args}, 0)
}
