package stats

// Latencies are the durations of calls in nanoseconds: those of a [Histogram], which are within
// 1 %, or those of a [Log2], of which only bounds are known.
type Latencies interface {
	Count() uint64
	Sum() int64
	Mean() int64
	// Quantile is what the fraction q of them does not exceed: 0 is the least, 1 the largest.
	Quantile(q float64) int64
	// AtMost is how many of them are known not to exceed ns.
	AtMost(ns int64) uint64
	// Buckets are the latencies in ranges that double in width, in units of so many ns; those
	// of a Log2 have the kernel's unit.
	Buckets(unit int64) []Bucket
	// Since is what came after an earlier Clone of them was made.
	Since(earlier Latencies) Latencies
	Clone() Latencies
}

// Statistic is a number that sums up latencies.
type Statistic struct {
	Name string
	Of   func(Latencies) int64
	// Bucketed is what a [Log2] knows of it.
	Bucketed Knowledge
	// rough: of a Histogram it is within 1 %, by which bounds are wider.
	rough bool
}

// Knowledge is how well a number is known.
type Knowledge uint8

const (
	Exact Knowledge = iota
	AtMost
	Unknown
)

// Statistics are those that are written of a function.
var Statistics = [...]Statistic{
	{"min", quantile(0), Unknown, false},
	{"mean", Latencies.Mean, Exact, false},
	{"p50", quantile(0.5), AtMost, true},
	{"p90", quantile(0.9), AtMost, true},
	{"p99", quantile(0.99), AtMost, true},
	{"max", quantile(1), AtMost, false},
	{"sum", Latencies.Sum, Exact, false},
}

func quantile(q float64) func(Latencies) int64 {
	return func(l Latencies) int64 { return l.Quantile(q) }
}
