package pairing

import (
	"math"

	"github.com/ftgo/ftgo/internal/uprobe"
)

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
		a.funcs[s.Func].faults += n
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
	return float64(f.faults) / float64(max(f.timed, 1))
}
