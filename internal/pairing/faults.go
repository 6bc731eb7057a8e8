package pairing

import (
	"math"

	"github.com/ftgo/ftgo/internal/uprobe"
)

// Faults are how often the kernel met no memory where it fetched values: each time costs more than all the
// rest of an event may. The kernel counts hits alone, so those that were delivered stand for all.
type Faults struct {
	all   uint64
	sites [][]siteFaults // of each event, nil where it has none
	funcs [][2]hitFaults // of each function, where its calls begin, and where they end
}

type siteFaults struct {
	hitFaults
	reads uprobe.Reads
	known bool // reads are
}

// hitFaults are faults of so many hits.
type hitFaults struct{ hits, faults uint64 }

func (h *hitFaults) add(faults uint64) {
	h.hits++
	h.faults += faults
}

func (h *hitFaults) mean() float64 { return float64(h.faults) / float64(max(h.hits, 1)) }

// extend takes account of an event that has joined the plan, with so many functions by now.
func (f *Faults) extend(ev *uprobe.Event, funcs int) {
	var sites []siteFaults
	if ev.Faults {
		sites = make([]siteFaults, len(ev.Sites))
	}
	f.sites = append(f.sites, sites)
	if f.funcs == nil {
		f.funcs = make([][2]hitFaults, funcs)
	}
}

// hit takes a hit of an event's site, with these words, and counts its faults.
func (f *Faults) hit(ev *uprobe.Event, event, site int, words []uint64) uint64 {
	at, of := &f.sites[event][site], &ev.Sites[site]
	if !at.known {
		at.reads, at.known = ev.Reads(of), true
	}
	n := at.reads.Faults(words)
	at.add(n)
	if f.all += n; of.Func >= 0 {
		end := 1
		if of.Kind.IsEntry() {
			end = 0
		}
		f.funcs[of.Func][end].add(n)
	}
	return n
}

// All are those so far.
func (f *Faults) All() uint64 {
	if f == nil {
		return 0
	}
	return f.all
}

// PerHit are those of a hit of an event's site on average.
func (f *Faults) PerHit(event, site int) float64 {
	if f == nil || event >= len(f.sites) || f.sites[event] == nil {
		return 0
	}
	return f.sites[event][site].mean()
}

// PerCall are those of a call of a function on average.
func (f *Faults) PerCall(fn int) float64 {
	if f == nil {
		return 0
	}
	return f.funcs[fn][0].mean() + f.funcs[fn][1].mean()
}

// of are those of so many hits of an event's site.
func (f *Faults) of(hits uint64, event, site int) uint64 {
	return uint64(math.Round(f.PerHit(event, site) * float64(hits)))
}
