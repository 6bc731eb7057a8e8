package printable

import (
	"math"
	"strconv"
)

// Duration formats ns nanoseconds with three significant digits and a unit from ns to h: 812ns, 4.35µs, 12.3ms,
// 1.25s, 2.78h. Seconds have up to four digits: 7200s.
func Duration(ns int64) string {
	if ns < 1000 {
		return strconv.FormatInt(ns, 10) + "ns"
	}
	v := float64(ns) / 1e9
	if v < 9999.5 {
		return withUnit(v*1e6, "µs", "ms", "s")
	}
	return Rate(v/3600) + "h"
}

// withUnit formats v with the first of the units with which three digits before the point suffice. Each unit is 1000 times the
// one before it.
func withUnit(v float64, units ...string) string {
	for len(units) > 1 && v >= 999.5 {
		v, units = v/1e3, units[1:]
	}
	return threeDigits(v) + units[0]
}

// threeDigits formats v ≥ 0 with three significant digits. From 1000 on, it formats all integer digits.
func threeDigits(v float64) string {
	switch {
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// Rate formats a number of calls per second in at most five columns.
func Rate(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 99999.5:
		return threeDigits(v)
	}
	return Compact(v)
}

// Compact formats a count in at most five columns: 99999, 123k, 1.25M, 1.00T.
func Compact(v float64) string {
	if v < 99999.5 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return withUnit(v/1e3, "k", "M", "G", "T", "P", "E")
}

// Percent formats part/whole as a percentage. From 10% on it rounds down, so that less than the whole is never 100%.
// Less than 0.01% is <0.01%, so that only a part of 0 is 0%.
func Percent(part, whole uint64) string {
	p := 100 * float64(part) / float64(whole)
	switch {
	case part == 0:
		return "0%"
	case p >= 10:
		return strconv.FormatFloat(math.Floor(p), 'f', 0, 64) + "%"
	case p >= 0.01:
		return strconv.FormatFloat(p, 'f', 2, 64) + "%"
	}
	return "<0.01%"
}

// Share formats a fraction of 1 as a percentage.
func Share(fraction float64) string { return Percent(uint64(math.Round(fraction*1e6)), 1e6) }

// Plural formats a count and its noun, with an s unless the count is 1.
func Plural[N int | uint64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.FormatUint(uint64(n), 10) + " " + noun
}
