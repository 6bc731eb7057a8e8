package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func recorded(values ...int64) *Histogram {
	h := new(Histogram)
	for _, v := range values {
		h.Record(v)
	}
	return h
}

// nearestRank returns a percentile by its definition.
func nearestRank(sorted []int64, percent int) int64 {
	rank := (percent*len(sorted) + 99) / 100
	return sorted[max(rank, 1)-1]
}

func TestHistogramQuantilesAgainstSortedValues(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	shapes := map[string]func() int64{
		"small":         func() int64 { return random.Int64N(200) },
		"uniform":       func() int64 { return random.Int64N(1e9) },
		"log uniform":   func() int64 { return random.Int64() >> random.IntN(63) },
		"two humps":     func() int64 { return []int64{800, 5e6}[random.IntN(2)] + random.Int64N(100) },
		"exponential":   func() int64 { return int64(random.ExpFloat64() * 35e3) },
		"powers of two": func() int64 { return 1 << random.IntN(63) },
		"just below":    func() int64 { return 1<<random.IntN(63) - 1 },
	}
	for name, next := range shapes {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 2, 3, 10, 100, 101, 5000} {
				values := make([]int64, n)
				h := new(Histogram)
				for i := range values {
					values[i] = next()
					h.Record(values[i])
				}
				slices.Sort(values)
				for percent := 0; percent <= 100; percent++ {
					want, got := nearestRank(values, percent), h.Quantile(float64(percent)/100)
					if off := math.Abs(float64(got) - float64(want)); off > float64(want)/100 {
						t.Fatalf("n=%d p%d = %d, want %d within 1 %%", n, percent, got, want)
					}
					if got < h.Quantile(0) || got > h.Quantile(1) {
						t.Fatalf("n=%d p%d = %d outside [%d, %d]", n, percent, got, h.Quantile(0), h.Quantile(1))
					}
				}
				if h.Quantile(0) != values[0] || h.Quantile(1) != values[n-1] || h.Count() != uint64(n) {
					t.Fatalf("n=%d: count %d min %d max %d, want %d %d %d", n, h.Count(), h.Quantile(0), h.Quantile(1), n, values[0], values[n-1])
				}
			}
		})
	}
}

func TestHistogramExtremes(t *testing.T) {
	const huge = math.MaxInt64
	tests := []struct {
		name                     string
		h                        *Histogram
		min, p50, max, mean, sum int64
	}{
		{"empty", recorded(), 0, 0, 0, 0, 0},
		{"zero", recorded(0), 0, 0, 0, 0, 0},
		{"negative is zero", recorded(-5, math.MinInt64), 0, 0, 0, 0, 0},
		{"single value is exact", recorded(123456789), 123456789, 123456789, 123456789, 123456789, 123456789},
		{"equal values are exact", recorded(999999, 999999, 999999), 999999, 999999, 999999, 999999, 2999997},
		{"largest", recorded(huge), huge, huge, huge, huge, huge},
		{"sum saturates, mean does not", recorded(huge, huge, huge), huge, huge, huge, huge, huge},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := test.h
			got := [...]int64{h.Quantile(0), h.Quantile(0.5), h.Quantile(1), h.Mean(), h.Sum()}
			want := [...]int64{test.min, test.p50, test.max, test.mean, test.sum}
			if got != want {
				t.Errorf("min, p50, max, mean, sum = %d, want %d", got, want)
			}
		})
	}
	h := recorded(10, 20, 30)
	for q, want := range map[float64]int64{-1: 10, 2: 30, math.Inf(1): 30, math.Inf(-1): 10} {
		if got := h.Quantile(q); got != want {
			t.Errorf("Quantile(%v) = %d, want %d", q, got, want)
		}
	}
	if got := h.Quantile(math.NaN()); got != 10 {
		t.Errorf("Quantile(NaN) = %d, want 10", got)
	}
}

func TestBucketsAreContiguous(t *testing.T) {
	for b := range bucket(math.MaxInt64) + 1 {
		low, high := least(b), least(b+1)-1 // wraps to MaxInt64 for the last bucket
		if b > 0 && bucket(low-1) != b-1 || bucket(low) != b || bucket(high) != b || bucket(middle(b)) != b || (high-low)/2 > low>>(subBits+1) {
			t.Fatalf("bucket %d is from %d to %d", b, low, high)
		}
	}
}

func TestHistogramSince(t *testing.T) {
	tests := []struct {
		name            string
		earlier, later  []int64
		exactMin, exact bool // the extremes of the difference are exact
	}{
		{"nothing happened", []int64{1, 2, 3}, nil, true, true},
		{"from nothing", nil, []int64{7, 1e6, 3}, true, true},
		{"new extremes", []int64{1e6, 2e6}, []int64{5, 1e9, 1e6}, true, true},
		{"within old extremes", []int64{1, 1e9}, []int64{123456, 7891011}, false, false},
		{"new maximum only", []int64{1, 1e3}, []int64{500, 777777}, false, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := recorded(test.earlier...)
			earlier := h.Since(nil)
			for _, v := range test.later {
				h.Record(v)
			}
			got, want := h.Since(earlier), recorded(test.later...)
			if got.Count() != want.Count() || got.Sum() != want.Sum() || got.first != want.first || !slices.Equal(got.counts, want.counts) {
				t.Errorf("%+v, want %+v", got, want)
			}
			near := func(what string, got, want int64, exact bool) {
				if off := math.Abs(float64(got - want)); exact && off != 0 || off > float64(want)/100 {
					t.Errorf("%s = %d, want %d", what, got, want)
				}
			}
			near("min", got.Quantile(0), want.Quantile(0), test.exactMin)
			near("max", got.Quantile(1), want.Quantile(1), test.exact)
			near("p50", got.Quantile(0.5), want.Quantile(0.5), false)
		})
	}
}

func TestHistogramRecordDoesNotAllocate(t *testing.T) {
	h := new(Histogram)
	for shift := range 63 {
		h.Record(1 << shift)
	}
	v := int64(1)
	if allocs := testing.AllocsPerRun(1000, func() {
		h.Record(v)
		v = v*3 + 1
	}); allocs != 0 {
		t.Errorf("Record allocates %v times", allocs)
	}
}

// TestHistogramIsSmall checks the number of buckets, because a run may have ten thousand histograms.
func TestHistogramIsSmall(t *testing.T) {
	h := new(Histogram)
	for v := int64(999_999); v >= 1000; v -= 100 {
		h.Record(v)
	}
	if most := 10 << subBits; len(h.counts) > most {
		t.Errorf("latencies from 1 µs to 1 ms take %d buckets, want at most %d", len(h.counts), most)
	}
}

func equal(t *testing.T, got, want *Histogram) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestAtMost(t *testing.T) {
	var h Histogram
	for ns := int64(1); ns <= 1000; ns++ {
		h.Record(ns)
	}
	for _, c := range []struct {
		ns        int64
		low, high uint64
	}{{0, 0, 0}, {1, 1, 1}, {100, 100, 100}, {500, 495, 505}, {512, 507, 517}, {1000, 1000, 1000}, {1 << 62, 1000, 1000}} {
		if n := h.AtMost(c.ns); n < c.low || n > c.high {
			t.Errorf("%d are at most %d, want %d to %d", n, c.ns, c.low, c.high)
		}
	}
}

func TestBuckets(t *testing.T) {
	tests := []struct {
		name string
		h    *Histogram
		unit int64
		want []Bucket
	}{
		{"empty", recorded(), 1, nil},
		{"zero and one share the first", recorded(0, 1, 1, 2, 3), 1, []Bucket{{0, 2, 3}, {2, 4, 2}}},
		{"edges in ns are exact", recorded(1023, 1024, 2047, 2048), 1, []Bucket{{512, 1024, 1}, {1024, 2048, 2}, {2048, 4096, 1}}},
		{"gaps are kept, ends are not", recorded(5, 33), 1, []Bucket{{4, 8, 1}, {8, 16, 0}, {16, 32, 0}, {32, 64, 1}}},
		{"microseconds", recorded(900, 1500, 3000, 3000, 9000), 1000, []Bucket{{0, 2000, 2}, {2000, 4000, 2}, {4000, 8000, 0}, {8000, 16000, 1}}},
		{"largest", recorded(math.MaxInt64), 1, []Bucket{{1 << 62, math.MaxInt64, 1}}},
		{"largest in seconds", recorded(math.MaxInt64), 1e9, []Bucket{{1 << 33 * 1e9, math.MaxInt64, 1}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.h.Buckets(test.unit); !slices.Equal(got, test.want) {
				t.Errorf("Buckets(%d) = %v, want %v", test.unit, got, test.want)
			}
		})
	}
}

// reread encodes and decodes a histogram.
func reread(t *testing.T, h *Histogram) (got *Histogram, text string) {
	t.Helper()
	b, err := json.Marshal(h)
	if err == nil {
		err = json.Unmarshal(b, &got)
	}
	if err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return got, string(b)
}

// TestHistogramJSON checks that a histogram stays the same when it is encoded and decoded.
func TestHistogramJSON(t *testing.T) {
	if _, text := reread(t, recorded(3, 129, 3)); text != `{"min":3,"max":129,"sum":135,"counts":[[3,2],[128,1]]}` {
		t.Error(text)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, spread := range []int{1, 2, 7, 8, 20, 40, 63} {
		h := &Histogram{}
		for range 1000 {
			h.Record(random.Int64N(math.MaxInt64) >> (63 - random.IntN(spread)))
		}
		if h.Sum() == math.MaxInt64 {
			h.sumHi, h.sumLo = 0, math.MaxInt64 // JSON limits the sum
		}
		got, text := reread(t, h)
		if got.sumHi > 0 {
			got.sumHi, got.sumLo = h.sumHi, h.sumLo
		}
		if !reflect.DeepEqual(got, h) {
			t.Errorf("spread %d: %s makes another histogram", spread, text)
		}
	}
}

// TestHistogramParts checks that the sum of decoded histograms equals the histogram of all latencies.
func TestHistogramParts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	all, added := &Histogram{}, &Histogram{}
	for range 50 {
		part := &Histogram{}
		for range 1 + random.IntN(500) {
			ns := int64(math.Exp(10 + random.NormFloat64()))
			part.Record(ns)
			all.Record(ns)
		}
		read, _ := reread(t, part)
		added.Add(read)
	}
	if !reflect.DeepEqual(added, all) {
		t.Error("parts add up to another histogram than that of all")
	}
}

func TestHistogramJSONRefuses(t *testing.T) {
	for _, test := range []struct{ scenario, text, want string }{
		{"none", `{}`, "no bucket"},
		{"twice the same", `{"min":3,"max":3,"sum":6,"counts":[[3,1],[3,1]]}`, "bucket of 3 after 3"},
		{"backwards", `{"min":3,"max":128,"sum":131,"counts":[[128,1],[3,1]]}`, "bucket of 3 after 128"},
		{"negative", `{"min":-1,"max":-1,"sum":-1,"counts":[[-1,1]]}`, "cannot unmarshal number -1"},
		{"beyond all", `{"min":3,"max":3,"sum":3,"counts":[[18446744073709551615,1]]}`, "bucket of 18446744073709551615 after"},
		{"none begins there", `{"min":129,"max":129,"sum":129,"counts":[[129,1]]}`, "none begins there"},
		{"of nothing", `{"min":3,"max":3,"counts":[[3,0]]}`, "0 latencies"},
		{"without a count", `{"min":3,"max":3,"counts":[[3]]}`, "0 latencies"},
		{"more than can be", `{"min":3,"max":4,"sum":9223372036854775807,"counts":[[3,18446744073709551615],[4,1]]}`, "bucket of 4 after 3 with 1 latencies"},
		{"min elsewhere", `{"min":4,"max":129,"sum":135,"counts":[[3,2],[128,1]]}`, "min 4"},
		{"max elsewhere", `{"min":3,"max":130,"sum":136,"counts":[[3,2],[128,1]]}`, "max 130"},
		{"too small a sum", `{"min":3,"max":129,"sum":133,"counts":[[3,2],[128,1]]}`, "sum 133"},
		{"a negative sum", `{"min":3,"max":129,"sum":-5,"counts":[[3,2],[128,1]]}`, "sum -5"},
	} {
		var h Histogram
		if err := json.Unmarshal([]byte(test.text), &h); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.scenario, err, test.want)
		}
	}
}
