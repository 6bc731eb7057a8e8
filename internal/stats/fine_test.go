package stats

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// fine are the buckets of a histogram.
func fine(h *Histogram) (buckets []FineBucket) {
	for from, count := range h.Fine {
		buckets = append(buckets, FineBucket{from, count})
	}
	return buckets
}

// TestFine: buckets and totals are all there is to know of a histogram.
func TestFine(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, spread := range []int{1, 2, 7, 8, 20, 40, 63} {
		h := &Histogram{}
		for range 1000 {
			h.Record(random.Int64N(math.MaxInt64) >> (63 - random.IntN(spread)))
		}
		if h.Sum() == math.MaxInt64 {
			h.sumHi, h.sumLo = 0, math.MaxInt64 // only this is known of it
		}
		got, err := NewFine(fine(h), h.Totals())
		if err != nil {
			t.Fatalf("spread %d: %v", spread, err)
		}
		if got.sumHi > 0 {
			got.sumHi, got.sumLo = h.sumHi, h.sumLo
		}
		if !reflect.DeepEqual(got, h) {
			t.Errorf("spread %d: the buckets %v make another histogram", spread, fine(h))
		}
	}
}

// TestFineParts: what parts recorded adds up to what one would have.
func TestFineParts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	all, added := &Histogram{}, &Histogram{}
	for range 50 {
		part := &Histogram{}
		for range 1 + random.IntN(500) {
			ns := int64(math.Exp(10 + random.NormFloat64()))
			part.Record(ns)
			all.Record(ns)
		}
		read, err := NewFine(fine(part), part.Totals())
		if err != nil {
			t.Fatal(err)
		}
		added.Add(read)
	}
	if !reflect.DeepEqual(added, all) {
		t.Error("parts add up to another histogram than that of all")
	}
}

func TestNewFineRefuses(t *testing.T) {
	good := []FineBucket{{3, 2}, {128, 1}}
	if _, err := NewFine(good, Totals{3, 129, 135}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		scenario string
		buckets  []FineBucket
		of       Totals
	}{
		{"none", nil, Totals{}},
		{"twice the same", []FineBucket{{3, 1}, {3, 1}}, Totals{3, 3, 6}},
		{"backwards", []FineBucket{{128, 1}, {3, 1}}, Totals{3, 128, 131}},
		{"negative", []FineBucket{{-1, 1}}, Totals{-1, -1, -1}},
		{"none begins there", []FineBucket{{129, 1}}, Totals{129, 129, 129}},
		{"of nothing", []FineBucket{{3, 0}}, Totals{3, 3, 0}},
		{"more than can be", []FineBucket{{3, math.MaxUint64}, {4, 1}}, Totals{3, 4, math.MaxInt64}},
		{"min elsewhere", good, Totals{4, 129, 135}},
		{"max elsewhere", good, Totals{3, 130, 136}},
		{"too small a sum", good, Totals{3, 129, 133}},
		{"a negative sum", good, Totals{3, 129, -5}},
	} {
		if h, err := NewFine(test.buckets, test.of); err == nil {
			t.Errorf("%s: %v of %v", test.scenario, fine(h), test.of)
		}
	}
}
