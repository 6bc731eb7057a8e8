package stats

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// MaxValues is the maximum number of values with rows. The histograms of 1000 rows take some 16 MB.
const MaxValues = 1000

// ValueRows holds a row for each value of a function's calls, for up to MaxValues values, and a row for all other calls
// of a function.
//
// Each call adds a weight to its row: 1, its latency or its amount. The values with the largest weights have rows, by
// the Space-Saving algorithm (Metwally, Agrawal and El Abbadi, "Efficient Computation of Frequent and Top-k Elements in
// Data Streams", 2005). If there are MaxValues rows, a new value replaces the value with the least weight, whose calls
// are added to the row with Kind Others. Calls with the new value may be in that row already, from an earlier
// replacement; their weight is at most the weight of the replaced row plus its Missed. This upper bound is the new
// row's Missed. So if the weight of all calls is W, each value with a weight of more than W/MaxValues has a row, no row
// misses more than W/MaxValues, and a row is exact if Missed is 0.
type ValueRows struct {
	empty   []Func // as in plan.Funcs, without calls
	rows    map[RowKey]*ValueRow
	all     []*ValueRow
	heap    lightestFirst // the rows of values
	serial  uint64
	uses    uint64
	evicted uint64 // how often a value has lost its row
}

// RowKey identifies a row.
type RowKey struct {
	Func  int
	Value string
	Kind  RowKind
}

// ValueRow is a row of ValueRows.
type ValueRow struct {
	Func
	key    RowKey
	weight uint64
	used   uint64 // ValueRows.uses at its last use: of rows with equal weights, Row replaces the least recently used row
	index  int    // in ValueRows.heap; -1 for a row that is never replaced
}

// NewValueRows returns a ValueRows without rows. funcs are the functions before any call.
func NewValueRows(funcs []Func) *ValueRows {
	return &ValueRows{empty: slices.Clone(funcs), rows: make(map[RowKey]*ValueRow)}
}

// Row returns the row with a key, which it adds if needed. The row is valid until the next call of Row.
func (v *ValueRows) Row(key RowKey) *ValueRow {
	v.uses++
	r := v.rows[key]
	if r != nil {
		r.used = v.uses
		return r
	}
	var missed uint64
	if valued := key.Kind == Valued; valued && len(v.heap) == MaxValues {
		r = v.heap[0]
		missed = r.atMost()
		v.evicted++
		delete(v.rows, r.key)
		v.Row(RowKey{Func: r.key.Func, Kind: Others}).Add(&r.Func)
		*r = ValueRow{index: r.index}
	} else {
		r = &ValueRow{index: -1}
		v.all = append(v.all, r)
		if valued {
			heap.Push(&v.heap, r)
		}
	}
	r.key, r.used, r.Func = key, v.uses, v.empty[key.Func]
	r.Value, r.Kind, r.Missed, r.Serial = key.Value, key.Kind, missed, v.serial
	if r.Latency != nil {
		r.Latency = &Histogram{}
	}
	v.serial++
	v.rows[key] = r
	v.AddWeight(r, 0)
	return r
}

// AddWeight adds weight to the weight of a row, at most up to math.MaxUint64.
func (v *ValueRows) AddWeight(r *ValueRow, weight uint64) {
	if r.weight = addLimited(r.weight, weight); r.index >= 0 {
		heap.Fix(&v.heap, r.index)
	}
}

// Evicted returns how often a value has lost its row, and the largest weight that a value without a row may have.
func (v *ValueRows) Evicted() (n, atMost uint64) {
	if v.evicted > 0 {
		atMost = v.heap[0].atMost()
	}
	return v.evicted, atMost
}

// atMost returns the largest weight that all calls with the row's value may have.
func (r *ValueRow) atMost() uint64 { return addLimited(r.weight, r.Missed) }

// addLimited returns a+b, at most math.MaxUint64.
func addLimited(a, b uint64) uint64 { return a + min(b, math.MaxUint64-a) }

// Reconcile returns the rows, adjusted so that they add up to all calls of each function. The value of a lost call is
// unknown; lost calls get a row of Kind NoValue. If a function has fewer unwound calls than its rows together, returns
// were lost, and its rows count unwound calls as lost. Rows count a call when it ends, so a call that is in no row may
// still run: Reconcile counts such calls as lost only if last is true, for the last table.
func (v *ValueRows) Reconcile(all []Func, last bool) []Func {
	calls := make([]uint64, len(all))
	unwound := make([]uint64, len(all))
	rows := make([]int, len(all))
	for _, r := range v.all {
		rows[r.key.Func]++
		calls[r.key.Func] += r.Calls
		unwound[r.key.Func] += r.Unwound
	}
	missing := make(map[RowKey]uint64)
	for fn := range all {
		key := RowKey{Func: fn, Value: "lost", Kind: NoValue}
		if timed := all[fn].timed(); timed > calls[fn] && last {
			v.Row(key)
			missing[key] = timed - calls[fn]
		} else if last && rows[fn] == 0 { // a row of zeros for a function without calls
			v.Row(RowKey{Func: fn, Kind: Others})
		}
	}
	out := make([]Func, len(v.all))
	for i, r := range v.all {
		out[i] = r.Func
		f, fn := &out[i], r.key.Func
		if unwound[fn] > all[fn].Unwound {
			f.Unwound = 0
		}
		f.Calls += missing[r.key]
		f.Estimate = all[fn].Estimate.Part(f.Calls, all[fn].timed())
		if f.Latency != nil && all[fn].Completed+all[fn].Unwound+all[fn].Open+all[fn].Lost > 0 {
			f.Lost = f.Calls - min(f.Completed+f.Unwound+f.Open, f.Calls)
		}
	}
	return out
}

// lightestFirst is a heap of rows; the first has the least weight, including Missed.
type lightestFirst []*ValueRow

func (l lightestFirst) Len() int { return len(l) }
func (l lightestFirst) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(l[i].atMost(), l[j].atMost()), cmp.Compare(l[i].used, l[j].used)) < 0
}
func (l lightestFirst) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].index, l[j].index = i, j
}
func (l *lightestFirst) Push(r any) {
	r.(*ValueRow).index = len(*l)
	*l = append(*l, r.(*ValueRow))
}
func (l *lightestFirst) Pop() any { panic("rows are replaced in place") }
