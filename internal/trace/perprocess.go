package trace

import (
	"slices"

	"github.com/ftgo/ftgo/internal/stats"
)

// maxProcesses is how many processes have rows of their own; the others share theirs.
const maxProcesses = 1000

// perProcess are rows of each function in each process. Processes that have ended keep
// theirs; a later one of the same number has others.
type perProcess struct {
	blank []stats.Function // as in plan.Funcs, before any call
	rows  []stats.Function // in the order in which they came to be
	// of are the indexes of rows, by process, until that has ended, and function.
	of        map[int]map[int]int
	processes int // that have rows
}

// row is that of a function in a process; it is valid until the next one is asked for.
func (p *perProcess) row(pid, fn int) *stats.Function {
	of := p.of[pid]
	if of == nil && pid != 0 && p.processes == maxProcesses {
		return p.row(0, fn)
	}
	if of == nil {
		of = make(map[int]int)
		p.of[pid] = of
		if pid != 0 {
			p.processes++
		}
	}
	i, ok := of[fn]
	if !ok {
		i = len(p.rows)
		of[fn] = i
		row := p.blank[fn]
		row.PID = pid
		if row.Latency != nil {
			row.Latency, row.Bounds = &stats.Histogram{}, nil
		}
		p.rows = append(p.rows, row)
	}
	return &p.rows[i]
}

// reconcile squares the rows with what all processes together have. Whose calls the stream
// has lost can't be told, they are nobody's; and where returns were lost, no row can tell
// calls that were unwound from calls whose return is missing.
func (p *perProcess) reconcile(all []stats.Function) []stats.Function {
	calls := make([]uint64, len(all))
	unwound := make([]uint64, len(all))
	for i := range p.rows {
		calls[p.rows[i].Func] += p.rows[i].Calls
		unwound[p.rows[i].Func] += p.rows[i].Unwound
	}
	missing := make(map[int]uint64)
	for fn := range all {
		if all[fn].Calls > calls[fn] {
			p.row(0, fn)
			missing[fn] = all[fn].Calls - calls[fn]
		}
	}
	out := slices.Clone(p.rows)
	for i := range out {
		f, fn := &out[i], out[i].Func
		if unwound[fn] > all[fn].Unwound {
			f.Unwound = 0
		}
		if f.PID == 0 {
			f.Calls += missing[fn]
		}
		if f.Latency != nil && all[fn].Completed+all[fn].Unwound+all[fn].Open+all[fn].Lost > 0 {
			f.Lost = f.Calls - min(f.Completed+f.Unwound+f.Open, f.Calls)
		}
	}
	return out
}
