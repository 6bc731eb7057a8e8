package stats

import (
	"cmp"
	"slices"
	"strings"
)

// Timing is how long a call took, in nanoseconds: Raw as it was seen, with what probes took
// of it; Net without that, as far as it is known, which is from Low to High.
type Timing struct{ Raw, Net, Low, High int64 }

// Bounds say how far net latencies may be off. They hold a value of each call, between which
// the call's real latency is; so the same share of the real latencies is between the same
// quantiles of Low and High.
type Bounds struct {
	Raw, Low, High Histogram
	// Waiting is the share of time that the program waited for a CPU in, which may be the
	// tracer's doing: the bounds of a Statistic have it.
	Waiting float64
}

// Time records a call that returned in Latency. Where it is not known what probes cost, Raw is all
// there is.
func (f *Function) Time(t Timing, known bool) {
	if !known {
		f.Latency.Record(t.Raw)
		return
	}
	f.Latency.Record(t.Net)
	if f.Bounds == nil {
		f.Bounds = &Bounds{}
	}
	f.Bounds.Raw.Record(t.Raw)
	f.Bounds.Low.Record(t.Low)
	f.Bounds.High.Record(t.High)
}

// since is as [Histogram.Since].
func (b *Bounds) since(earlier *Bounds) *Bounds {
	if b == nil {
		return nil
	}
	earlier = cmp.Or(earlier, &Bounds{})
	return &Bounds{*b.Raw.Since(&earlier.Raw), *b.Low.Since(&earlier.Low), *b.High.Since(&earlier.High), b.Waiting}
}

// typicalShare is how much of what was seen of a typical call is at least its own: of a median
// one, or of a fast one, which had to wait for nothing.
func (b *Bounds) typicalShare() float64 {
	share := 1.0
	for _, q := range [...]float64{0.1, 0.5} {
		if raw := b.Raw.Quantile(q); raw > 0 {
			share = min(share, float64(b.Low.Quantile(q))/float64(raw))
		}
	}
	return share
}

// Of are the bounds of a statistic. Where calls wait for a CPU, or for others that probes
// keep, those take longer by more than they cost themselves: then probes have the same
// share of it as of a typical call.
func (b *Bounds) Of(s Statistic) (low, high int64) {
	low, high = s.Of(&b.Low), s.Of(&b.High)
	low = min(low, int64(float64(s.Of(&b.Raw))*b.typicalShare()))
	low = int64(float64(low) * (1 - b.Waiting))
	if s.rough {
		low -= low >> (subBits + 1)
		high += high>>(subBits+1) + 1
	}
	return low, high
}

// Probing is what probes cost the program, in nanoseconds of its time.
type Probing struct {
	Emulated, Stepped float64 // what a hit costs, by what the kernel does with the instruction
	NS, Low, High     float64 // what all hits cost, at least Low and at most High
	Others            float64 // what hits of other processes cost these: the file is probed for all
	CPU               float64 // the time that the program used meanwhile, 0 if that is not known
	// Functions are those whose probes took a large part of it, the largest first.
	Functions []FunctionShare
}

// FunctionShare is the share of a program's time that the probes of a function took.
type FunctionShare struct {
	Function string  `json:"function"`
	Share    float64 `json:"share"`
}

// largeShare is what part of the program's time has a function named.
const largeShare = 0.1

// Share is the part of the program's CPU time that is ns.
func (p *Probing) Share(ns float64) float64 {
	if p.CPU == 0 {
		return 0
	}
	return min(ns/p.CPU, 1)
}

// Add names a function whose probes cost so much, if that is a large part.
func (p *Probing) Add(function string, ns float64) {
	if share := p.Share(ns); share > largeShare {
		p.Functions = append(p.Functions, FunctionShare{function, share})
	}
	slices.SortFunc(p.Functions, func(a, b FunctionShare) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), strings.Compare(a.Function, b.Function))
	})
}
