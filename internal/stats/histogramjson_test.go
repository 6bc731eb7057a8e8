package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

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
		{"more than can be", `{"min":3,"max":4,"sum":9223372036854775807,"counts":[[3,18446744073709551615],[4,1]]}`, "bucket of 4: 1 latencies"},
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
