package uprobe

import (
	"github.com/ftgo/ftgo/offsets/arch"
	"github.com/ftgo/ftgo/tracefs"
)

// Event is one event of a plan.
type Event struct {
	tracefs.Event
	// Fields tells which argument holds what.
	Fields Fields
	// funcs[i] is the index in Plan.Funcs of the function that Sites[i] is in; -1
	// for a witness, which belongs to none.
	funcs []int
	// addrs[i] is the virtual address of Sites[i] in the file.
	addrs []uint64
	// kinds[i] is what a hit of Sites[i] means.
	kinds []Kind
	// conds[i] is the condition of the jump at Sites[i].
	conds []arch.Cond
	// stepped[i] tells whether the kernel single-steps the instruction at Sites[i].
	stepped []bool
	index   map[uint64]int // address → i
	words   int            // of values
	// counts[i] is the number of words that Args[i] yields, 0 for one that is no array; nil
	// if none is.
	counts []int
}

// Counts is the number of words that each of Args yields, 0 for one that is no array; nil
// if none is.
func (e *Event) Counts() []int { return e.counts }

// Place is a site as a plan sees it.
type Place struct {
	// Kind is what a hit means. Either all of an event's Counts or none.
	Kind Kind
	// Addr is the virtual address in the file, Offset the place in the file.
	Addr, Offset uint64
	// Func is an index in Plan.Funcs, -1 for a witness.
	Func int
	// Cond is the condition of a conditional jump.
	Cond arch.Cond
	// Stepped: the kernel single-steps the instruction, rather than emulating it.
	Stepped bool
	// Fetch are the fetchargs, if they are others than those of the event's Args.
	Fetch []string
}

// Add gives the event one more site. A second one at the same address is left out.
func (e *Event) Add(p Place) {
	if e.index == nil {
		e.index = make(map[uint64]int)
	}
	if _, twice := e.index[p.Addr]; twice {
		return
	}
	e.index[p.Addr] = len(e.Sites)
	e.Sites = append(e.Sites, p.Offset)
	e.addrs = append(e.addrs, p.Addr)
	e.funcs = append(e.funcs, p.Func)
	e.kinds = append(e.kinds, p.Kind)
	e.conds = append(e.conds, p.Cond)
	e.stepped = append(e.stepped, p.Stepped)
	if p.Fetch != nil && e.Fetch == nil {
		e.Fetch = make([][]string, len(e.Sites)-1, cap(e.Sites))
	}
	if e.Fetch != nil {
		e.Fetch = append(e.Fetch, p.Fetch)
	}
}

// Kind is what a hit of a site means.
func (e *Event) Kind(site int) Kind { return e.kinds[site] }

// IsCounter tells whether hits are counted, rather than paired.
func (e *Event) IsCounter() bool { return len(e.kinds) > 0 && e.kinds[0].Counts() }

// Cond is the condition of the jump at a site, for [Plan].Processor: a call begins, or ends,
// if the jump's flags say so.
func (e *Event) Cond(site int) arch.Cond { return e.conds[site] }

// Words is the number of words of values that each hit fetches.
func (e *Event) Words() int { return e.words }

// Stepped tells whether the kernel single-steps the instruction at a site, which costs the
// program many times more than one that it emulates.
func (e *Event) Stepped(site int) bool { return e.stepped[site] }

// Func is the index in Plan.Funcs of the function that a site is in; -1 for a
// witness, which belongs to no function that was asked for, or ProgramStart.
func (e *Event) Func(site int) int { return e.funcs[site] }

// Site finds the site at an address of the file, load bias taken off.
func (e *Event) Site(addr uint64) (site int, ok bool) {
	site, ok = e.index[addr]
	return site, ok
}
