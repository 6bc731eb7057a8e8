package stats

// Row is what one line of a table tells: the calls of a function over a stretch
// of time, which is the whole run or one interval of it.
type Row struct {
	Function
	Seconds float64 // the length of that stretch, 0 if that is not known
	Rate    float64 // calls per second of it, those that nobody saw included; 0 if its length is not known
	// Raw: Latency has in it what probes cost, since that may be all of it, and Net is without that.
	Raw bool
	Net *Histogram
}

// NewRow returns the row of f over the given seconds. Its latencies are raw if of what was
// seen of a typical call all may be probes'.
func NewRow(f Function, seconds float64) Row {
	row := Row{Function: f, Seconds: seconds}
	if b := f.Bounds; b != nil && f.Latency.Count() > 0 && b.typicalShare() == 0 {
		row.Raw, row.Net, row.Latency = true, f.Latency, &b.Raw
		if f.Split.Sum() > 0 {
			row.Split = f.Split.Of(b.Raw.Sum())
		}
	}
	if seconds > 0 {
		row.Rate = f.Number() / seconds
	}
	return row
}
