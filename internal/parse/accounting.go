package parse

// accounting is what a pairer has seen so far.
type accounting struct {
	// delivered[e][s] is the number of events of site s of event e.
	delivered [][]uint64
	// outside is the number of events that the window leaves out.
	outside uint64
	funcs   []funcAccount // as in Plan.Funcs
	// unfollowed is the number of calls that were not paired, since as many calls as there may
	// be were open when they began. Their returns are unmatched.
	unfollowed uint64
	// unmatched is the number of returns whose call had begun before tracing did, or whose
	// entry was lost or not followed.
	unmatched uint64
	// unknown is the number of events at addresses that are none of our sites.
	unknown uint64
}

// funcAccount is what was seen of a function.
type funcAccount struct {
	// all are the hits at its entry, timed those at the entry that times its calls if it is
	// CountFirst: all are then those of its Counter.
	all, timed entries
	// abandoned is the number of calls whose Outcome is Abandoned.
	abandoned uint64
}

// entries are hits where a function begins. Of those that are no calls the stack check failed, or
// the function jumped to its start.
type entries struct{ calls, noCalls uint64 }

// extend takes account of events that have joined the plan.
func (p *pairer) extend() {
	for i := len(p.account.delivered); i < len(p.plan.Events); i++ {
		p.account.delivered = append(p.account.delivered, make([]uint64, len(p.plan.Events[i].Sites)))
		p.sites.add(&p.plan.Events[i])
	}
}

// entriesOf are the entries of a function that make calls to be paired.
func (p *pairer) entriesOf(fn int) *entries {
	if p.plan.Funcs[fn].CountFirst {
		return &p.account.funcs[fn].timed
	}
	return &p.account.funcs[fn].all
}
