package stats

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// histogramJSON is the JSON form of a Histogram.
type histogramJSON struct {
	Min int64 `json:"min"`
	Max int64 `json:"max"`
	Sum int64 `json:"sum"` // at most math.MaxInt64
	// Counts has the least value and the count of each bucket that is not empty, in ascending order.
	Counts [][2]uint64 `json:"counts"`
}

// MarshalJSON encodes h without loss, unless the sum exceeds math.MaxInt64.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	j := histogramJSON{h.min, h.max, h.Sum(), [][2]uint64{}}
	for i, n := range h.counts {
		if n != 0 {
			j.Counts = append(j.Counts, [2]uint64{uint64(least(h.first + i)), n})
		}
	}
	return json.Marshal(j)
}

// UnmarshalJSON decodes the output of MarshalJSON. It returns an error if the numbers contradict each other, so that no
// input results in an invalid Histogram.
func (h *Histogram) UnmarshalJSON(text []byte) error {
	var j histogramJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	if err := h.take(&j); err != nil {
		return fmt.Errorf("buckets: %w", err)
	}
	return nil
}

// take checks j and sets h from it.
func (h *Histogram) take(j *histogramJSON) error {
	if len(j.Counts) == 0 {
		return errors.New("no bucket")
	}
	*h = Histogram{min: j.Min, max: j.Max}
	// (hi, lo) is the lower bound of the sum: each latency is at least the least value of its bucket.
	var hi, lo, carry uint64
	before := int64(-1)
	for _, b := range j.Counts {
		from, count := int64(b[0]), b[1]
		if from <= before {
			return fmt.Errorf("bucket of %d after %d", b[0], before)
		}
		before = from
		if least(bucket(from)) != from {
			return fmt.Errorf("bucket of %d: none begins there", from)
		}
		if h.count, carry = bits.Add64(h.count, count, 0); count == 0 || carry != 0 {
			return fmt.Errorf("bucket of %d: %d latencies", from, count)
		}
		h.add(bucket(from), count)
		productHi, productLo := bits.Mul64(uint64(from), count)
		lo, carry = bits.Add64(lo, productLo, 0)
		hi += productHi + carry
	}
	first, last := int64(j.Counts[0][0]), before
	switch sum := uint64(j.Sum); {
	case j.Min < 0 || j.Min > j.Max || bucket(j.Min) != bucket(first):
		return fmt.Errorf("min %d: not in the bucket of %d", j.Min, first)
	case bucket(j.Max) != bucket(last):
		return fmt.Errorf("max %d: not in the bucket of %d", j.Max, last)
	case j.Sum < 0 || (hi > 0 || lo > sum) && j.Sum != math.MaxInt64:
		return fmt.Errorf("sum %d: less than the sum of the buckets", j.Sum)
	case j.Sum == math.MaxInt64 && (hi > 0 || lo > sum):
		h.sumHi, h.sumLo = hi, lo // the true sum exceeds int64; this is its lower bound
	default:
		h.sumLo = sum
	}
	return nil
}
