package session

import (
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/tracefs"
)

// manyFuncs is how many functions wildcards may select before they are counted first: to
// place the three probes or so of each takes a second from there on, and twice as many
// take four times as long; and among so many there are some that are called all the time,
// whatever the program.
const manyFuncs = 500

// countFirst tells of which functions calls are to be counted before any is timed; nil
// is none. Calls that are only counted have no stack, no kernel events and nothing to split, and are
// of no process, so with --stack, --with, --sched and --per-pid it is none.
func (o *Options) countFirst(s *target.Target, mode uprobe.Mode, f tracefs.Features) func(*offsets.Func) bool {
	switch {
	case mode != uprobe.Latency || !o.TimesCalls || o.Stack > 0 || len(o.With) > 0 || o.Sched || o.PerPID:
		return nil
	case o.MaxRate != nil:
		if *o.MaxRate == 0 {
			return nil
		}
		return func(*offsets.Func) bool { return true }
	case !f.Append:
		return nil
	}
	wild := 0
	for _, fn := range s.Funcs {
		if !s.Roles[fn].Named {
			wild++
		}
	}
	if wild <= manyFuncs {
		return nil
	}
	return func(fn *offsets.Func) bool { return !s.Roles[fn].Named }
}
