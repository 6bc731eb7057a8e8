package parse

// Books are the sums of what a Pairer has seen.
type Books struct {
	// Delivered[e][s] is the number of events of site s of event e.
	Delivered [][]uint64
	// Outside[e][s] is the number of those that the stream's window leaves out.
	Outside [][]uint64
	// Entries[f] is the number of calls of function f seen to begin, NoCalls[f] that
	// of hits at its entry that began none: the stack check failed, or the function
	// jumped to its start.
	Entries, NoCalls []uint64
	// Timed and TimedNoCalls are the same at the entries that time calls of functions
	// that are CountFirst; Entries and NoCalls are then those of their Counters.
	Timed, TimedNoCalls []uint64
	// Abandoned is the number of calls that were not paired, since as many as there may be
	// were open when they began. Their returns are among Strays.
	Abandoned uint64
	// Strays is the number of returns whose call had begun before tracing did, or
	// whose entry was lost.
	Strays uint64
	// Unplaced is the number of events at addresses that are none of our sites.
	Unplaced uint64
}

// extend keeps books of events that have joined the plan.
func (p *Pairer) extend() {
	for i := len(p.books.Delivered); i < len(p.plan.Events); i++ {
		p.books.Delivered = append(p.books.Delivered, make([]uint64, len(p.plan.Events[i].Sites)))
		p.books.Outside = append(p.books.Outside, make([]uint64, len(p.plan.Events[i].Sites)))
	}
}

// began counts a call of a function that is seen to begin, noCall a hit that is none.
func (p *Pairer) began(fn int) { *p.entriesOf(fn, p.books.Entries, p.books.Timed)++ }

func (p *Pairer) noCall(fn int) { *p.entriesOf(fn, p.books.NoCalls, p.books.TimedNoCalls)++ }

func (p *Pairer) entriesOf(fn int, all, timed []uint64) *uint64 {
	if p.plan.Funcs[fn].CountFirst {
		return &timed[fn]
	}
	return &all[fn]
}
