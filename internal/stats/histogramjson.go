package stats

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// histogramJSON is what JSON has of a Histogram: its least latency, its largest and its sum, at most math.MaxInt64, and how
// many latencies each bucket has that is not empty, by the least latency that it takes, in ascending order.
type histogramJSON struct {
	Min    int64       `json:"min"`
	Max    int64       `json:"max"`
	Sum    int64       `json:"sum"`
	Counts [][2]uint64 `json:"counts"`
}

// MarshalJSON writes all there is to know of the latencies.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	j := histogramJSON{h.min, h.max, h.Sum(), [][2]uint64{}}
	for i, n := range h.counts {
		if n != 0 {
			j.Counts = append(j.Counts, [2]uint64{uint64(least(h.first + i)), n})
		}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON has written. It is an error if there is no such Histogram.
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

func (h *Histogram) take(j *histogramJSON) error {
	if len(j.Counts) == 0 {
		return errors.New("no bucket")
	}
	*h = Histogram{min: j.Min, max: j.Max}
	// The sum is at least that of the buckets' least latencies.
	var hi, lo, carry uint64
	before := int64(-1)
	for _, b := range j.Counts {
		from, count := int64(b[0]), b[1]
		if from <= before {
			return fmt.Errorf("bucket of %d behind that of %d", b[0], before)
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
		return fmt.Errorf("sum %d: less than that of the buckets", j.Sum)
	case j.Sum == math.MaxInt64 && (hi > 0 || lo > sum):
		h.sumHi, h.sumLo = hi, lo // of more than there is a number for, this much is known
	default:
		h.sumLo = sum
	}
	return nil
}
