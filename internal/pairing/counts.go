package pairing

import "github.com/ftgo/ftgo/internal/uprobe"

// accounting is what a stream has seen so far.
type accounting struct {
	sites  [][]siteAccount // of each event
	faults uint64
	events uint64        // all that have come
	funcs  []funcAccount // as in Plan.Funcs
	// unfollowed is the number of calls that were not paired, since as many calls as there may
	// be were open when they began.
	unfollowed uint64
	// unknown is the number of events at addresses that are none of our sites.
	unknown uint64
}

// funcAccount is what was seen of a function.
type funcAccount struct {
	// all are the hits that count its calls, timed those of them at entries that time them.
	all, timed entries
	// begins and ends are hits of sites that fetch at pointers.
	begins, ends faulty
	// abandoned is the number of calls whose Outcome is Abandoned.
	abandoned uint64
}

// entries are hits where a function begins. Of those that are no calls the stack check failed, or
// the function jumped to its start.
type entries struct{ calls, noCalls uint64 }

// extend takes account of events that have joined the plan.
func (p *Stream) extend() {
	for i := len(p.account.sites); i < len(p.plan.Events); i++ {
		p.account.sites = append(p.account.sites, make([]siteAccount, len(p.plan.Events[i].Sites)))
		for k := range p.plan.Events[i].Sites {
			p.sites.sites[eventAddr{i, p.plan.Events[i].Sites[k].Addr}] = k
		}
	}
}

// call counts a call that is to be paired.
func (a *accounting) call(fn int) {
	a.funcs[fn].timed.calls++
	a.funcs[fn].all.calls++
}

// noCall counts a hit where calls begin that was none.
func (a *accounting) noCall(fn int) {
	a.funcs[fn].timed.noCalls++
	a.funcs[fn].all.noCalls++
}

// Events is the number of events of wanted processes that have come.
func (p *Stream) Events() uint64 { return p.account.events }

// Begun is the number of calls of a function that have begun by now, as far as they were delivered.
func (p *Stream) Begun(fn int) uint64 { return p.account.funcs[fn].all.calls }

// Counters are what the kernel has counted up to a moment.
type Counters struct {
	// From are the hits of each site of each event when the window began, At those at the moment,
	// as tracefs.Session.Profile has them. What is missing counts as 0.
	From, At [][]uint64
	// Overruns is the number of events that the ring buffer has lost.
	Overruns uint64
	// Own: no other processes than the wanted ones have hit the probes.
	Own bool
	// Inexact: the kernel may have counted too few hits, see tracefs.Features.ExactHits.
	Inexact bool
}

// Counts are the calls and the hits of the window up to a moment.
type Counts struct {
	Funcs []Count // as in Plan.Funcs
	// Hits is the number of hits. They were Delivered, Filtered out by the kernel, or Lost;
	// CountedOnly of them were not to be paired.
	Hits, Delivered, Filtered, Lost, CountedOnly uint64
	// Unparsed is the number of lines, or records, that were not understood, or are of addresses
	// that are none of the plan's sites; KernelUnparsed that of records of kernel events.
	Unparsed, KernelUnparsed uint64
	// Unfollowed is the number of calls that were not paired, since too many others were open
	// when they began.
	Unfollowed uint64
	// Ours are the hits of wanted processes by what they cost, Others those of others.
	Ours, Others Hits
	// Elsewhere are the hits of others where calls begin.
	Elsewhere uint64
}

// Count is what became of the calls of one function.
type Count struct {
	// Calls is the number of calls that began. Unsure of them may be none, as hits at their stack
	// check were lost, which may have failed.
	Calls, Unsure uint64
	// Timed is the number of those that were to be paired: not those that a Counter alone has seen.
	Timed uint64
	// Abandoned is the number of calls whose Outcome is Abandoned: they are of Calls, and not of Timed.
	Abandoned uint64
	// Missing is the number of returns that were lost: so many calls that seem unwound or open
	// may have returned.
	Missing uint64
	// Hits are those of its probes in wanted processes.
	Hits Hits
}

// siteHits are the kernel's count of hits of a function's sites. Of checks those that failed are recorded, and
// no others: of what was lost, any may have been one.
type siteHits struct{ calls, timed, failed, checks, lostChecks, lostReturns uint64 }

// Counts squares what the kernel has counted with what was delivered. Calls are counted by the
// kernel, if its counters are of nothing else, so that they are right whatever the stream has lost.
//
// Unless something was lost, what is recorded was all delivered, and the counters of what is
// recorded are cut where the window ends: they are read a moment later.
func (p *Stream) Counts(c Counters) *Counts {
	plan, account := p.plan, &p.account
	_, unparsedKernel := p.reader.Unparsed()
	out := &Counts{
		Funcs:    make([]Count, len(plan.Funcs)),
		Unparsed: p.unparsed(), KernelUnparsed: unparsedKernel, Unfollowed: account.unfollowed,
	}
	sites := make([]siteHits, len(plan.Funcs))
	cut := c.Overruns+out.Unparsed == 0
	var gained uint64
	for i := range plan.Events {
		ev := &plan.Events[i]
		for k := range ev.Sites {
			site := &ev.Sites[k]
			fn, kind := site.Func, site.Kind
			of := &account.sites[i][k]
			seen := of.hits
			count := max(c.gained(i, k), seen) // see tracefs.Features.ExactHits
			gained += count
			ours := seen
			if c.Own {
				ours = count
			}
			faults := of.among(ours)
			out.Ours.add(ours, site, ev.Words, faults)
			out.Others.add(count-ours, site, ev.Words, of.among(count-ours))
			if fn >= 0 {
				out.Funcs[fn].Hits.add(ours, site, ev.Words, faults)
			}
			if fn >= 0 && kind.IsEntry() {
				out.Elsewhere += count - ours
			}
			switch {
			case plan.Mode == uprobe.Count || kind.Counts() && !plan.Recorded:
				seen = count // the kernel's counter is all there is to deliver
			case cut:
				count = seen
			}
			out.Hits += count
			out.Delivered += seen
			switch {
			case kind == uprobe.CheckFailed:
				sites[fn].failed += count
			case kind.Counts():
				sites[fn].calls += count
				if kind == uprobe.CounterJump {
					sites[fn].check(count, seen, !plan.Recorded)
				}
				if c.Own {
					seen = count
				}
				out.CountedOnly += seen
			case fn < 0:
			case kind.IsEntry():
				sites[fn].timed += count
				sites[fn].calls += count
				if kind == uprobe.EntryJump {
					sites[fn].check(count, seen, plan.Mode == uprobe.Count)
				}
			default:
				sites[fn].lostReturns += count - seen
			}
		}
	}
	own := c.Own && !plan.Filtered()
	for i := range out.Funcs {
		out.Funcs[i].take(&sites[i], &account.funcs[i], own && i < plan.Asked(), c.Overruns+out.Unparsed)
	}
	switch {
	case own && c.Inexact:
		out.Hits = max(out.Hits, out.Delivered+c.Overruns) // so many there were at least
	case own: // what is counted beyond was hit after the moment
		out.Hits = min(out.Hits, out.Delivered+c.Overruns+out.Unparsed)
	case c.Own: // what the kernel's filter has dropped is counted with the hits
		lost := c.Overruns + out.Unparsed
		out.Hits = max(gained, out.Delivered+lost)
		out.Filtered = out.Hits - out.Delivered - lost
	default: // what was lost of ours is told by the ring buffer
		out.Hits = out.Delivered + c.Overruns
	}
	out.Lost = out.Hits - out.Delivered - out.Filtered
	return out
}

// check adds the hits of a stack check's jump.
func (h *siteHits) check(count, seen uint64, failuresAlone bool) {
	if failuresAlone {
		h.checks += count
	} else {
		h.lostChecks += count - seen
	}
}

// take sets the numbers of calls. own says that the kernel's counts are of wanted calls alone, and lost is how
// much of what was recorded of all functions was lost.
func (c *Count) take(hits *siteHits, seen *funcAccount, own bool, lost uint64) {
	if !own {
		c.Calls, c.Timed = seen.all.calls, seen.timed.calls
	} else {
		c.Calls, c.Timed = less(hits.calls, seen.all.noCalls+hits.failed), less(hits.timed, seen.timed.noCalls)
		c.Unsure = min(hits.lostChecks+min(hits.checks, lost), c.Calls)
		c.Missing = less(hits.lostReturns, seen.abandoned) // no more is known of those
	}
	c.Timed, c.Abandoned = min(less(c.Timed, seen.abandoned), c.Calls), seen.abandoned
}

// less is a-b, or 0.
func less(a, b uint64) uint64 { return a - min(a, b) }

// gained is what a counter has gained since the window began.
func (c *Counters) gained(event, site int) uint64 {
	count := func(hits [][]uint64) uint64 {
		if event < len(hits) {
			return hits[event][site]
		}
		return 0 // it was not there yet
	}
	return less(count(c.At), count(c.From))
}

// siteIndex finds the sites of addresses.
type siteIndex struct {
	sites map[eventAddr]int
	// recent are answers: most hits are at a few addresses.
	recent [256]struct {
		addr         uint64
		format, site int32 // site plus 1: 0 is none
	}
}

// eventAddr is an address of the file where an event is hit.
type eventAddr struct {
	format int
	addr   uint64
}

// find is the site of an event at an address of the file, load bias taken off.
func (c *siteIndex) find(format int, addr uint64) (site int, ok bool) {
	known := &c.recent[(addr+uint64(format))*0x9e3779b97f4a7c15>>56]
	if known.site != 0 && known.addr == addr && known.format == int32(format) {
		return int(known.site) - 1, true
	}
	if site, ok = c.sites[eventAddr{format, addr}]; ok {
		known.addr, known.format, known.site = addr, int32(format), int32(site)+1
	}
	return site, ok
}
