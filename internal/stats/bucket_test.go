package stats

import (
	"math"
	"slices"
	"testing"
)

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
