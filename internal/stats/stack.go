package stats

import (
	"math"

	"github.com/ftgo/ftgo/offsets"
)

// Location is an element of a stack: an address in the file, and the functions at this address, the innermost inlined
// one first. Address 0, without functions, stands for unknown callers.
type Location struct {
	Addr   uint64
	Frames []offsets.Frame
}

// StackRow has the counts and latencies of a function's calls with one call stack.
type StackRow struct {
	Func     int        // index in Plan.Funcs
	PCs      []uint64   // return addresses, the innermost first
	Function string     // the function's name, for output, as the next two
	At       Location   // where the function begins
	Callers  []Location // the places of PCs
	// Calls = Completed + Unwound + Open: without lost calls.
	Calls, Completed, Unwound, Open uint64
	// Latencies of completed calls in nanoseconds. Min, Max and Sum are net of the cost of probes. Self is Sum without
	// the time in nested traced calls. Low and High are the bounds of Sum, because the cost of probes is an estimate.
	// Raw is Sum including this cost. A sum that would overflow is math.MaxInt64.
	Min, Max, Sum, Self, Low, High, Raw int64
	Runnable                            int64 // the part of Self in which the goroutine was runnable; 0 if unknown
	Amount                              int64 // sum of the calls' amounts (see [Amounts]); 0 unless requested
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
