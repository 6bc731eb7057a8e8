package pairing

import (
	"cmp"
	"errors"
	"io"
	"testing"

	"github.com/ftgo/ftgo/internal/uprobe"
)

// returns takes calls that have ended.
func returns(f func(*Call)) func(*Item) bool {
	return func(it *Item) bool {
		if it.What == Ended {
			f(it.Call)
		}
		return true
	}
}

// pairerTo is a pairer that tells yield.
func pairerTo(plan *uprobe.Plan, yield func(*Item) bool) *pairer {
	p := newPairer(plan)
	p.yield = yield
	return p
}

// readOnce reads what a stream has for the moment.
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

// readAll reads a stream to its end.
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

// testProcesses are Processes that believe what is printed, want all and load files at 0 where
// nothing else is said.
type testProcesses struct {
	of     func(tid, printed int) int
	wanted int // 0 for all
	bias   func(pid int, addr uint64) (uint64, bool)
}

func (p *testProcesses) Of(tid, printed int) int {
	if p.of == nil {
		return printed
	}
	return p.of(tid, printed)
}

func (p *testProcesses) Wanted(_, pid int) (int, bool) { return pid, cmp.Or(p.wanted, pid) == pid }

func (p *testProcesses) Bias(pid int, addr uint64) (uint64, bool) {
	if p.bias == nil {
		return 0, true
	}
	return p.bias(pid, addr)
}
