package pairing

import (
	"math"

	"github.com/ftgo/ftgo/internal/uprobe"
)

// accounting counts delivered events.
type accounting struct {
	sites  [][]siteAccount // as in Plan.Events
	funcs  []Count         // as in Plan.Funcs; Hits has only Faults
	faults uint64
	events uint64 // events of selected processes
	// unfollowed is the number of calls that were not paired, because maxOpen calls were open, and unknown the number of
	// events at addresses without a site.
	unfollowed, unknown uint64
}

// extend adds the events that the plan has got since extend last ran.
func (p *Stream) extend() {
	for _, ev := range p.plan.Events[len(p.sites):] {
		sites := make(map[uint64]int, len(ev.Sites))
		for k := range ev.Sites {
			sites[ev.Sites[k].Addr] = k
		}
		p.sites, p.recent = append(p.sites, sites), append(p.recent, 0)
		p.account.sites = append(p.account.sites, make([]siteAccount, len(ev.Sites)))
	}
}

// call counts a call that is delivered as an event, except a Counter event, or as a wait.
func (a *accounting) call(fn int) {
	a.funcs[fn].Timed++
	a.funcs[fn].Calls++
}

// AddHits adds hits where calls begin, which only the kernel has counted: no event was recorded for them.
func (p *Stream) AddHits(event, site int, hits uint64) {
	a, s := &p.account, &p.plan.Events[event].Sites[site]
	a.events += hits
	a.sites[event][site].hits += hits
	if a.funcs[s.Func].Calls += hits; !s.Kind.Counts() {
		a.funcs[s.Func].Timed += hits
	}
}

// noCall counts a hit at an entry that is not a call: the stack check failed, the function jumped to its start, or the entry
// was being disarmed.
func (a *accounting) noCall(fn int) {
	a.funcs[fn].timedNoCalls++
	a.funcs[fn].noCalls++
}

// Events returns the number of events of selected processes so far.
func (p *Stream) Events() uint64 { return p.account.events }

// Begun returns the number of delivered calls of a function so far.
func (p *Stream) Begun(fn int) uint64 { return p.account.funcs[fn].Calls }

// Counters holds readings of the kernel's counters.
type Counters struct {
	// From and At are the hits of each site of each event at the begin of the window and now, from
	// tracefs.Session.Profile. If a list is shorter than the plan's list of events, the missing events have 0 hits.
	From, At  [][]uint64
	Overruns  uint64 // number of events that the ring buffer has lost
	Exclusive bool   // only selected processes have hit the probes
	Inexact   bool   // the kernel may have counted too few hits, see tracefs.Features.ExactHits
}

// Counts holds the calls and hits in the window so far.
type Counts struct {
	Funcs []Count // as in Plan.Funcs
	// Hits = Delivered + Filtered + Lost. Filtered counts the hits that the kernel's filter has dropped, and Lost the
	// hits whose events were lost or could not be parsed. CountedOnly is the part of Delivered at probes that only
	// count calls.
	Hits, Delivered, Filtered, Lost, CountedOnly uint64
	// Unparsed is the number of lines or records that could not be parsed, or whose address has no site. KernelUnparsed
	// is the number of records of kernel events that could not be parsed.
	Unparsed, KernelUnparsed uint64
	Unfollowed               uint64      // calls that were not paired, because too many others were open
	Pairs                    *PairCounts // nil unless the plan is of a pair
	Ours, Others             Hits        // the hits of selected processes, and of others
	Elsewhere                uint64      // hits at entries in other processes
}

// Count holds the calls of one function.
type Count struct {
	// Calls is the number of calls that began. Unsure is the number of these that may not be calls: the hit at their
	// stack check was lost, and the check may have failed.
	Calls, Unsure uint64
	// Timed is the number of Calls at probes that time calls. It excludes calls at Counter sites, and Abandoned calls.
	Timed     uint64
	Abandoned uint64 // the Calls with Outcome Abandoned
	Missing   uint64 // lost returns: this many unwound or open calls may have returned
	Hits      Hits   // of the function's probes in selected processes

	noCalls, timedNoCalls uint64 // hits of all entries, and of the entries that time calls, that are not calls
	checks                uint64 // hits at stack checks where only failed checks are recorded, so that any lost event may be a failed check
}

// Counts combines the kernel's counters with the delivered events. If only selected processes hit the probes, the
// number of calls is the kernel's, and is exact even if events were lost.
//
// The counters are read a little after the end of the window. So if no event was lost, Counts replaces the counters of
// recorded hits by the number of delivered events, which end with the window.
func (p *Stream) Counts(c Counters) *Counts {
	plan, account := p.plan, &p.account
	unparsed, unparsedKernel := p.reader.Unparsed()
	out := &Counts{
		Funcs:    make([]Count, len(plan.Funcs)),
		Unparsed: unparsed + account.unknown, KernelUnparsed: unparsedKernel, Unfollowed: account.unfollowed,
	}
	if p.pairs != nil {
		out.Pairs = new(p.pairs.counts)
	}
	cut := c.Overruns+out.Unparsed == 0
	var increase uint64
	for i := range plan.Events {
		ev := &plan.Events[i]
		for k := range ev.Sites {
			site := &ev.Sites[k]
			fn, kind := site.Func, site.Kind
			sample := &account.sites[i][k]
			delivered := sample.hits
			count := max(c.increase(i, k), delivered) // see tracefs.Features.ExactHits
			increase += count
			ours := delivered
			if c.Exclusive {
				ours = count
			}
			faults, others := sample.estimate(ours), count-ours
			out.Ours.add(ours, site, ev.Words, faults)
			out.Others.add(others, site, ev.Words, sample.estimate(others))
			recorded := plan.Mode != uprobe.Count && (!kind.Counts() || plan.Recorded)
			switch {
			case !recorded:
				delivered = count
			case cut:
				count = delivered
			}
			out.Hits += count
			out.Delivered += delivered
			if fn < 0 {
				continue
			}
			f, lost := &out.Funcs[fn], count-delivered
			f.Hits.add(ours, site, ev.Words, faults)
			if kind == uprobe.EntryJump || kind == uprobe.CounterJump {
				if f.Unsure += lost; !recorded {
					f.checks += count
				}
			}
			switch {
			case kind.Counts():
				f.Calls += count
				if c.Exclusive {
					delivered = count
				}
				out.CountedOnly += delivered
			case kind.IsEntry():
				f.Timed += count
				f.Calls += count
				out.Elsewhere += others
			default:
				f.Missing += lost
			}
		}
	}
	own := c.Exclusive && !plan.Filtered()
	for i := range out.Funcs {
		out.Funcs[i].correct(&account.funcs[i], own && i < plan.RequestedFuncs(), c.Overruns+out.Unparsed)
	}
	switch {
	case own && c.Inexact:
		out.Hits = max(out.Hits, out.Delivered+c.Overruns) // the counters may be too low
	case own: // hits beyond this number happened after the end of the window
		out.Hits = min(out.Hits, out.Delivered+c.Overruns+out.Unparsed)
	case c.Exclusive: // the counters include hits that the kernel's filter has dropped
		lost := c.Overruns + out.Unparsed
		out.Hits = max(increase, out.Delivered+lost)
		out.Filtered = out.Hits - out.Delivered - lost
	default: // the counters include other processes, so only the ring buffer knows how many events were lost
		out.Hits = out.Delivered + c.Overruns
	}
	out.Lost = out.Hits - out.Delivered - out.Filtered
	return out
}

// correct corrects the kernel's numbers of a function by the delivered events. If own is true, the kernel's counters
// include only calls of the traced processes. Otherwise correct replaces them. lost is the number of lost events of all
// functions.
func (c *Count) correct(delivered *Count, own bool, lost uint64) {
	if own {
		c.Calls, c.Timed = subtract(c.Calls, delivered.noCalls), subtract(c.Timed, delivered.timedNoCalls)
		c.Unsure = min(c.Unsure+min(c.checks, lost), c.Calls)
		c.Missing = subtract(c.Missing, delivered.Abandoned) // returns of abandoned calls do not matter
	} else {
		c.Calls, c.Timed, c.Unsure, c.Missing = delivered.Calls, delivered.Timed, 0, 0
	}
	c.Timed, c.Abandoned = min(subtract(c.Timed, delivered.Abandoned), c.Calls), delivered.Abandoned
}

// subtract returns a-b, at least 0.
func subtract(a, b uint64) uint64 { return a - min(a, b) }

// increase returns the increase of a counter since the begin of the window.
func (c *Counters) increase(event, site int) uint64 {
	var from, at uint64 // 0 if the event joined the plan later
	if event < len(c.From) {
		from = c.From[event][site]
	}
	if event < len(c.At) {
		at = c.At[event][site]
	}
	return subtract(at, from)
}

// siteAccount counts the delivered hits of a site, and how often the kernel found no memory at a pointer when it fetched
// their values. Such a fault may cost more than the rest of the hit. The kernel's counters do not count faults, so
// delivered hits are taken as a sample of all hits.
type siteAccount struct {
	hits, faults uint64
	reads        uprobe.Reads // the words that a hit fetches, valid if known is true
	known        bool
}

// perHit returns the faults per hit.
func (s *siteAccount) perHit() float64 { return float64(s.faults) / float64(max(s.hits, 1)) }

// estimate returns the estimated faults of a number of hits.
func (s *siteAccount) estimate(hits uint64) uint64 {
	return uint64(math.Round(s.perHit() * float64(hits)))
}

// fault counts the faults of a hit that fetched words, and returns their number. event and site are the indexes of the
// hit's site.
func (a *accounting) fault(ev *uprobe.Event, event, site int, words []uint64) uint64 {
	account, s := &a.sites[event][site], &ev.Sites[site]
	if !account.known {
		account.reads, account.known = ev.Reads(s), true
	}
	n := account.reads.Faults(words)
	account.faults += n
	if a.faults += n; s.Func >= 0 {
		a.funcs[s.Func].Hits.Faults += n
	}
	return n
}

// Faults returns the number of faults so far.
func (p *Stream) Faults() uint64 { return p.account.faults }

// FaultsPerHit returns the mean number of faults in a hit of an event's site.
func (p *Stream) FaultsPerHit(event, site int) float64 {
	return p.account.sites[event][site].perHit()
}

// FaultsPerCall returns the mean number of faults in a call of a function.
func (p *Stream) FaultsPerCall(fn int) float64 {
	f := &p.account.funcs[fn]
	return float64(f.Hits.Faults) / float64(max(f.Timed, 1))
}
