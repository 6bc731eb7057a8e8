package stats

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// MaxParts is how many values have rows of their own: those of a thousand have some 16
// MB of histograms.
const MaxParts = 1000

// Parts are rows of parts of functions' calls: of those with a value.
//
// There is room for MaxParts of them. The values that weigh most have it, by the Space-Saving algorithm (Metwally, Agrawal and El
// Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data Streams", 2005). A value that
// finds no room takes that of the one that weighs least, whose calls join the others'. What a value
// may have among these is never more than what that one weighed, others included: that is its
// Missed. So of calls that weigh W together, each value that weighs more than W/MaxParts has a row,
// no row misses more, and a row that has never lost its room is exact.
type Parts struct {
	blank   []Func // as in plan.Funcs, before any call
	of      map[PartKey]*Part
	all     []*Part
	least   leastFirst
	serial  uint64
	uses    uint64
	evicted uint64 // values that have lost their room
}

// PartKey is what the calls of a row have in common.
type PartKey struct {
	Func  int
	Value string
	Kind  RowKind
}

// Part is a row.
type Part struct {
	Func
	key    PartKey
	weight uint64
	used   uint64 // when it was last; of those that weigh the least, the one goes that was not for longest
	at     int    // its place in Parts.least; -1 if it stays
}

// NewParts has no rows yet. The functions are as they are before any call.
func NewParts(funcs []Func) *Parts {
	return &Parts{blank: slices.Clone(funcs), of: make(map[PartKey]*Part)}
}

// Row is that of a key; it is valid until the next one is asked for.
func (p *Parts) Row(key PartKey) *Part {
	p.uses++
	r := p.of[key]
	if r != nil {
		r.used = p.uses
		return r
	}
	var missed uint64
	switch kept := key.Kind == Valued; {
	case kept && len(p.least) == MaxParts:
		r = p.least[0]
		missed = r.atMost()
		p.giveUp(r)
		*r = Part{at: r.at}
	default:
		r = &Part{at: -1}
		p.all = append(p.all, r)
		if kept {
			heap.Push(&p.least, r)
		}
	}
	r.key, r.used, r.Func = key, p.uses, p.blank[key.Func]
	r.Value, r.Kind, r.Missed, r.Serial = key.Value, key.Kind, missed, p.serial
	if r.Latency != nil {
		r.Latency = &Histogram{}
	}
	p.serial++
	p.of[key] = r
	p.Weigh(r, 0)
	return r
}

// giveUp adds a row to that of the others.
func (p *Parts) giveUp(r *Part) {
	p.evicted++
	delete(p.of, r.key)
	p.Row(PartKey{Func: r.key.Func, Kind: Others}).Add(&r.Func)
}

// Weigh adds to what a row weighs.
func (p *Parts) Weigh(r *Part, weight uint64) {
	if r.weight = added(r.weight, weight); r.at >= 0 {
		heap.Fix(&p.least, r.at)
	}
}

// Evicted is how many values have lost their room, and what any of them may weigh at most.
func (p *Parts) Evicted() (n, atMost uint64) {
	if p.evicted > 0 {
		atMost = p.least[0].atMost()
	}
	return p.evicted, atMost
}

// atMost is what all calls of its value may weigh.
func (r *Part) atMost() uint64 { return added(r.weight, r.Missed) }

// added is a+b, or as much as there can be.
func added(a, b uint64) uint64 { return a + min(b, math.MaxUint64-a) }

// Reconcile squares the rows with what all calls of each function have. Whose calls the stream
// has lost can't be told, they are nobody's; and where returns were lost, no row can tell
// calls that were unwound from calls whose return is missing. Calls count when they have
// ended: what is missing is only lost when all is told.
func (p *Parts) Reconcile(all []Func, last bool) []Func {
	calls := make([]uint64, len(all))
	unwound := make([]uint64, len(all))
	rows := make([]int, len(all))
	for _, r := range p.all {
		rows[r.key.Func]++
		calls[r.key.Func] += r.Calls
		unwound[r.key.Func] += r.Unwound
	}
	missing := make(map[PartKey]uint64)
	for fn := range all {
		key := PartKey{Func: fn, Value: "lost", Kind: NoValue}
		if timed := all[fn].timed(); timed > calls[fn] && last {
			p.Row(key)
			missing[key] = timed - calls[fn]
		} else if last && rows[fn] == 0 { // that nobody called it is to be told, too
			p.Row(PartKey{Func: fn, Kind: Others})
		}
	}
	out := make([]Func, len(p.all))
	for i, r := range p.all {
		out[i] = r.Func
		f, fn := &out[i], r.key.Func
		if unwound[fn] > all[fn].Unwound {
			f.Unwound = 0
		}
		f.Calls += missing[r.key]
		f.Whole = all[fn].Whole.Part(f.Calls, all[fn].timed())
		if f.Latency != nil && all[fn].Completed+all[fn].Unwound+all[fn].Open+all[fn].Lost > 0 {
			f.Lost = f.Calls - min(f.Completed+f.Unwound+f.Open, f.Calls)
		}
	}
	return out
}

// leastFirst is a heap.
type leastFirst []*Part

func (l leastFirst) Len() int { return len(l) }
func (l leastFirst) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(l[i].atMost(), l[j].atMost()), cmp.Compare(l[i].used, l[j].used)) < 0
}
func (l leastFirst) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].at, l[j].at = i, j
}
func (l *leastFirst) Push(r any) {
	r.(*Part).at = len(*l)
	*l = append(*l, r.(*Part))
}
func (l *leastFirst) Pop() any { panic("the least is replaced in its place") }
