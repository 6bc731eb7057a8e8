package pairing

import (
	"math"

	"github.com/ftgo/ftgo/internal/uprobe"
)

// siteAccount is what was seen of a site.
type siteAccount struct {
	faulty
	reads uprobe.Reads // of a hit, once they are known
	known bool
}

// faulty are hits, and how often the kernel met no memory where it fetched their values: each time costs more than
// all the rest of a hit may. The kernel counts hits alone, so those that were delivered stand for all.
type faulty struct{ hits, faults uint64 }

func (f *faulty) mean() float64 { return float64(f.faults) / float64(max(f.hits, 1)) }

// among are those of so many hits.
func (f *faulty) among(hits uint64) uint64 { return uint64(math.Round(f.mean() * float64(hits))) }

// fault counts the faults of a hit of an event's site, with these words.
func (a *accounting) fault(ev *uprobe.Event, event, site int, words []uint64) uint64 {
	at, of := &a.sites[event][site], &ev.Sites[site]
	if !at.known {
		at.reads, at.known = ev.Reads(of), true
	}
	n := at.reads.Faults(words)
	at.faults += n
	if a.faults += n; of.Func >= 0 {
		end := &a.funcs[of.Func].ends
		if of.Kind.IsEntry() {
			end = &a.funcs[of.Func].begins
		}
		end.hits++
		end.faults += n
	}
	return n
}

// Faults are those so far.
func (p *Stream) Faults() uint64 {
	if p == nil {
		return 0
	}
	return p.account.faults
}

// FaultsPerHit are those of a hit of an event's site on average.
func (p *Stream) FaultsPerHit(event, site int) float64 {
	if p == nil || event >= len(p.account.sites) {
		return 0
	}
	return p.account.sites[event][site].mean()
}

// FaultsPerCall are those of a call of a function on average.
func (p *Stream) FaultsPerCall(fn int) float64 {
	if p == nil {
		return 0
	}
	f := &p.account.funcs[fn]
	return f.begins.mean() + f.ends.mean()
}
