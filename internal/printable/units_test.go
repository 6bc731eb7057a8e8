package printable

import (
	"math"
	"testing"
)

func TestDuration(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0ns", 1: "1ns", 812: "812ns", 999: "999ns", 1000: "1.00µs", 4350: "4.35µs", 9994: "9.99µs", 9996: "10.0µs",
		99_949: "99.9µs", 99_960: "100µs", 999_499: "999µs", 999_500: "1.00ms", 12_300_000: "12.3ms",
		999_499_999: "999ms", 999_500_000: "1.00s", 1_250_000_000: "1.25s", 59_960_000_000: "60.0s",
		7_200_000_000_000: "7200s", 9_999_500_000_000: "2.78h", 360_000_000_000_000: "100h", math.MaxInt64: "2.56Mh",
	} {
		if got := Duration(ns); got != want {
			t.Errorf("Duration(%d) = %q, want %q", ns, got, want)
		}
	}
}

func TestRate(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.004: "0.00", 0.5: "0.50", 9.994: "9.99", 9.996: "10.0", 99.96: "100", 1550.1: "1550", 99999.4: "99999",
		99999.6: "100k", 123456: "123k", 999499: "999k", 999500: "1.00M", 12.5e6: "12.5M", 1e9: "1.00G", 1e12: "1.00T",
	} {
		if got := Rate(v); got != want {
			t.Errorf("Rate(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestCompact(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0", 99999: "99999", 100000: "100k", 1_250_000: "1.25M", 1e12: "1.00T", 1e15: "1.00P", math.MaxUint64: "18.4E",
	} {
		if got := Compact(float64(n)); got != want {
			t.Errorf("Compact(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for _, test := range []struct {
		part, whole uint64
		want        string
	}{
		{395560, 900000, "43%"}, {1, 3, "33%"}, {1, 200, "0.50%"}, {1, 1e6, "<0.01%"},
		{999999, 1000000, "99%"}, {5, 5, "100%"},
	} {
		if got := Percent(test.part, test.whole); got != test.want {
			t.Errorf("Percent(%d, %d) = %q, want %q", test.part, test.whole, got, test.want)
		}
	}
}
