package stats

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

// Time records a call that returned in Latency, a Histogram. Where it is not known what probes cost, Raw is all
// there is.
func (f *Function) Time(t Timing, known bool) {
	latency := f.Latency.(*Histogram)
	if !known {
		latency.Record(t.Raw)
		return
	}
	latency.Record(t.Net)
	if f.Bounds == nil {
		f.Bounds = &Bounds{}
	}
	f.Bounds.Raw.Record(t.Raw)
	f.Bounds.Low.Record(t.Low)
	f.Bounds.High.Record(t.High)
}

func (b *Bounds) clone() *Bounds { return b.since(&Bounds{}) }

// since returns what was recorded after earlier, a clone of b, or nil, was taken.
func (b *Bounds) since(earlier *Bounds) *Bounds {
	if b == nil || earlier == nil {
		return b
	}
	return &Bounds{*b.Raw.since(&earlier.Raw), *b.Low.since(&earlier.Low), *b.High.since(&earlier.High), b.Waiting}
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
