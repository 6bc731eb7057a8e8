package stats

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/offsets"
)

// Location is a place in a stack: an address in the file, and the functions whose code is
// there, the innermost inlined one first. Address 0, without functions, stands for callers
// that are not known.
type Location struct {
	Addr   uint64
	Frames []offsets.Frame
}

// Calls stands between the functions of a stack that is a value, the innermost first.
const Calls = " < "

// StackRow is what is known of the calls of one function from one stack.
type StackRow struct {
	// Func is the function's index in Plan.Funcs, PCs are the return addresses, the
	// innermost first.
	Func int
	PCs  []uint64
	// Function is its name, At where its calls begin, and Callers are at the return addresses: for who shows them.
	Function string
	At       Location
	Callers  []Location
	// Calls = Completed + Unwound + Open: those that were seen.
	Calls, Completed, Unwound, Open uint64
	// Min, Max and Sum are latencies of the completed calls in nanoseconds, Self is Sum
	// without what traced calls nested in them took; Sum is net, from Low to High, and Raw as
	// seen. Sums are at most math.MaxInt64.
	Min, Max, Sum, Self, Low, High, Raw int64
	Runnable                            int64 // the part of Self in which the goroutine could have gone on with a CPU, if that is known
	Amount                              int64 // the sum of what [Amounts] has, likewise
}

// MaxStacks is how many stacks are told apart. The callers of calls that come from others later are not
// known: one row of each function has these calls, so that no number is short of any.
const MaxStacks = 100_000

// unknown are callers that are not known.
var unknown = []uint64{0}

// Stacks adds up calls by function and stack. The zero value is empty and ready to use.
type Stacks struct {
	Beyond uint64 // calls whose callers are not known, because too many others were
	rows   map[string]*StackRow
	key    []byte
}

// Add takes a call that has ended, from where pcs tells. If it has returned, it took so long,
// and was runnable for a part of timing.Self.
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

// Of makes a row of the calls of a function that were timed one of all its calls, if that is an estimate.
func (r StackRow) Of(f *Func) StackRow {
	timed := f.timed()
	if f.Whole == nil || timed == 0 {
		return r
	}
	scale := f.Whole.Least() / float64(timed)
	for _, n := range []*uint64{&r.Calls, &r.Completed, &r.Unwound, &r.Open} {
		*n = uint64(math.Round(float64(*n) * scale))
	}
	for _, n := range []*int64{&r.Sum, &r.Self, &r.Runnable, &r.Low, &r.High, &r.Raw, &r.Amount} {
		*n = int64(min(float64(*n)*scale, 1<<62))
	}
	return r
}

// AddUp adds two numbers, up to math.MaxInt64.
func AddUp(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// Rows are all stacks, by function, those with most calls first.
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

// NestedSums are latencies of calls, added up by the ID of the call that they were nested in until that ends.
type NestedSums map[uint64]int64

// Add notes a call.
func (n NestedSums) Add(c *pairing.Call, ns int64) {
	if c.Depth > 0 {
		n[c.Parent] += ns
	}
}

// Take returns the sum of the calls that were nested in one that has ended, and forgets them.
func (n NestedSums) Take(c *pairing.Call) int64 {
	sum := n[c.ID]
	delete(n, c.ID)
	return sum
}
