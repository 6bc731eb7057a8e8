package engine

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// MaxStacks is the maximum number of stacks with rows. Calls with other stacks are added to one row per function, with
// unknown callers, so that all calls are counted.
const MaxStacks = 100_000

// unknown stands for the return addresses of unknown callers.
var unknown = []uint64{0}

// Stacks finds the callers of calls, and adds up calls by function and stack.
type Stacks struct {
	Beyond  uint64 // calls without a row for their stack, because of MaxStacks
	rows    map[string]*stats.StackRow
	key     []byte
	binary  *offsets.Binary
	callers *uprobe.Callers
	pcs     []uint64
	known   map[uint64]stats.Location // by return address, unless the callee is panicking
}

// panicking functions are shown with the wrappers that called them (elideWrapperCalling in runtime/traceback.go).
var panicking = map[string]bool{"runtime.gopanic": true, "runtime.panicwrap": true, trapped: true}

// trapped is a function that was not called, but entered by a signal handler. Its return address is the address of the
// instruction that failed. The return address of a call is the address after the call instruction.
const trapped = "runtime.sigpanic"

// NewStacks returns the stacks of calls in a binary.
func NewStacks(b *offsets.Binary) *Stacks {
	return &Stacks{binary: b, callers: uprobe.NewCallers(b), rows: make(map[string]*stats.StackRow), known: make(map[uint64]stats.Location)}
}

// of returns the return addresses of c. The slice is s.pcs, and the next use of s overwrites it.
func (s *Stacks) of(c *pairing.Call) []uint64 {
	s.pcs = s.callers.Append(s.pcs[:0], c.Stack, c.SP, c.StackHi, c.Bias)
	return s.pcs
}

// add adds a call that has ended. pcs are its return addresses. amount is the call's amount. timing and runnable, a
// part of timing.Self, are used only if the call has returned.
func (s *Stacks) add(c *pairing.Call, pcs []uint64, timing stats.Timing, runnable, amount int64) {
	s.key = binary.LittleEndian.AppendUint64(s.key[:0], uint64(c.Func))
	for _, pc := range pcs {
		s.key = binary.LittleEndian.AppendUint64(s.key, pc)
	}
	row := s.rows[string(s.key)]
	if row == nil {
		if len(s.rows) >= MaxStacks && !slices.Equal(pcs, unknown) {
			s.Beyond++
			s.add(c, unknown, timing, runnable, amount)
			return
		}
		row = &stats.StackRow{Func: c.Func, PCs: slices.Clone(pcs)}
		s.rows[string(s.key)] = row
	}
	row.Calls++
	row.Amount = stats.AddUp(row.Amount, amount)
	switch c.Outcome {
	case pairing.Returned:
		if row.Completed++; row.Completed == 1 {
			row.Min = timing.Net
		}
		row.Min, row.Max = min(row.Min, timing.Net), max(row.Max, timing.Net)
		row.Sum, row.Self = stats.AddUp(row.Sum, timing.Net), stats.AddUp(row.Self, timing.Self)
		row.Runnable = stats.AddUp(row.Runnable, runnable)
		row.Low, row.High, row.Raw = stats.AddUp(row.Low, timing.Low), stats.AddUp(row.High, timing.High), stats.AddUp(row.Raw, timing.Raw)
	case pairing.Unwound:
		row.Unwound++
	case pairing.Open:
		row.Open++
	}
}

// Rows returns the rows of all stacks, by function, and by the number of calls in descending order.
func (s *Stacks) Rows() []stats.StackRow {
	rows := make([]stats.StackRow, 0, len(s.rows))
	for _, r := range s.rows {
		rows = append(rows, *r)
	}
	slices.SortFunc(rows, func(a, b stats.StackRow) int {
		return cmp.Or(cmp.Compare(a.Func, b.Func), cmp.Compare(b.Calls, a.Calls), slices.Compare(a.PCs, b.PCs))
	})
	return rows
}

// Locations returns the functions at return addresses, the innermost first, as runtime.CallersFrames would show them in the
// program. callee is the name of the function that returns to pcs[0].
func (s *Stacks) Locations(pcs []uint64, callee string) []stats.Location {
	out := make([]stats.Location, 0, len(pcs))
	for _, pc := range pcs {
		l := s.location(pc, callee)
		if callee = ""; len(l.Frames) > 0 {
			callee = l.Frames[len(l.Frames)-1].Function
		}
		if len(l.Frames) > 0 || pc == uprobe.Cut {
			out = append(out, l)
		}
	}
	return out
}

// location returns the functions at the return address of a callee.
func (s *Stacks) location(pc uint64, callee string) stats.Location {
	wrappers := panicking[callee]
	if l, known := s.known[pc]; pc == uprobe.Cut || known && !wrappers {
		return l
	}
	l := stats.Location{Addr: pc - 1} // the call instruction is before the return address
	if callee == trapped {
		l.Addr = pc
	}
	for _, f := range s.binary.Internals().Frames(l.Addr) {
		if !f.Wrapper || wrappers {
			l.Frames = append(l.Frames, f)
		}
		wrappers = panicking[f.Function]
	}
	if !panicking[callee] {
		s.known[pc] = l
	}
	return l
}

// Callers returns the callers of c, a call of the function callee.
func (s *Stacks) Callers(c *pairing.Call, callee string) []stats.Location {
	return s.Locations(s.of(c), callee)
}
