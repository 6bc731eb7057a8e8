package stats

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/offsets"
)

// Location is an element of a stack: an address in the file, and the functions at this address, the innermost inlined
// one first. Address 0, without functions, stands for unknown callers.
type Location struct {
	Addr   uint64
	Frames []offsets.Frame
}

// StackSeparator separates the functions of a stack in Func.Value, the innermost first.
const StackSeparator = " < "

// StackRow has the counts and latencies of a function's calls with one call stack.
type StackRow struct {
	Func int      // index in Plan.Funcs
	PCs  []uint64 // return addresses, the innermost first
	// Function, At and Callers describe Func and PCs for output.
	Function string
	At       Location // where the function begins
	Callers  []Location
	// Calls = Completed + Unwound + Open: without lost calls.
	Calls, Completed, Unwound, Open uint64
	// Latencies of completed calls in nanoseconds. Min, Max and Sum are net of the cost of probes. Self is Sum without
	// the time in nested traced calls. Low and High are the bounds of Sum, because the cost of probes is an estimate.
	// Raw is Sum including this cost. A sum that would overflow is math.MaxInt64.
	Min, Max, Sum, Self, Low, High, Raw int64
	Runnable                            int64 // the part of Self in which the goroutine was runnable; 0 if unknown
	Amount                              int64 // sum of the calls' amounts (see [Amounts]); 0 unless requested
}

// MaxStacks is the maximum number of stacks with rows. Calls with other stacks are added to one row per function, with
// unknown callers, so that all calls are counted.
const MaxStacks = 100_000

// unknown stands for the return addresses of unknown callers.
var unknown = []uint64{0}

// Stacks adds up calls by function and stack. The zero value is empty and ready to use.
type Stacks struct {
	Beyond uint64 // calls without a row for their stack, because of MaxStacks
	rows   map[string]*StackRow
	key    []byte
}

// Add adds a call that has ended. pcs are its return addresses. amount is the call's amount. timing and runnable, a
// part of timing.Self, are used only if the call has returned.
func (s *Stacks) Add(c *pairing.Call, pcs []uint64, timing Timing, runnable, amount int64) {
	s.key = binary.AppendUvarint(s.key[:0], uint64(c.Func))
	for _, pc := range pcs {
		s.key = binary.LittleEndian.AppendUint64(s.key, pc)
	}
	row := s.rows[string(s.key)]
	if row == nil {
		if len(s.rows) >= MaxStacks && !slices.Equal(pcs, unknown) {
			s.Beyond++
			s.Add(c, unknown, timing, runnable, amount)
			return
		}
		if s.rows == nil {
			s.rows = make(map[string]*StackRow)
		}
		row = &StackRow{Func: c.Func, PCs: slices.Clone(pcs), Min: math.MaxInt64}
		s.rows[string(s.key)] = row
	}
	row.Calls++
	row.Amount = AddUp(row.Amount, amount)
	switch c.Outcome {
	case pairing.Returned:
		row.Completed++
		row.Min, row.Max = min(row.Min, timing.Net), max(row.Max, timing.Net)
		row.Sum, row.Self = AddUp(row.Sum, timing.Net), AddUp(row.Self, timing.Self)
		row.Runnable = AddUp(row.Runnable, runnable)
		row.Low, row.High, row.Raw = AddUp(row.Low, timing.Low), AddUp(row.High, timing.High), AddUp(row.Raw, timing.Raw)
	case pairing.Unwound:
		row.Unwound++
	case pairing.Open:
		row.Open++
	}
}

// Extrapolate returns the row extrapolated to all calls of its function f, if their number is an estimate.
func (r StackRow) Extrapolate(f *Func) StackRow {
	timed := f.timed()
	if f.Estimate == nil || timed == 0 {
		return r
	}
	scale := f.Estimate.Least() / float64(timed)
	for _, n := range []*uint64{&r.Calls, &r.Completed, &r.Unwound, &r.Open} {
		*n = uint64(math.Round(float64(*n) * scale))
	}
	for _, n := range []*int64{&r.Sum, &r.Self, &r.Runnable, &r.Low, &r.High, &r.Raw, &r.Amount} {
		*n = int64(min(float64(*n)*scale, 1<<62))
	}
	return r
}

// AddUp returns a+b, at most math.MaxInt64.
func AddUp(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// Rows returns the rows of all stacks, by function, and by the number of calls in descending order.
func (s *Stacks) Rows() []StackRow {
	rows := make([]StackRow, 0, len(s.rows))
	for _, r := range s.rows {
		row := *r
		if row.Completed == 0 {
			row.Min = 0
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b StackRow) int {
		return cmp.Or(cmp.Compare(a.Func, b.Func), cmp.Compare(b.Calls, a.Calls), slices.Compare(a.PCs, b.PCs))
	})
	return rows
}
