package top

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
)

// One is the content of the screen of one function at a moment.
type One struct {
	Name    string
	Head    []string // numbers, and the cost of probes
	Split   string   // running, runnable and waiting time, "" if unknown
	Every   string   // the length of an interval of Heat
	Callers []string // sorted by time, the largest first
	Slowest []string // the slowest calls
	// Heat[i][b] is the number of calls in interval i, 0 for the oldest, whose latency [Bucket] maps to b.
	Heat [][64]uint32
}

// Bucket returns the index of a latency in an element of Heat: the number of bits of the latency in nanoseconds.
func Bucket(ns int64) int { return min(bits.Len64(uint64(max(ns, 0))), 63) }

// draw divides the height among latencies, callers and slowest calls.
func (o *One) draw(width, height int) []Line {
	lines := []Line{{printable.Shorten(printable.Text(o.Name), width), Bold}}
	for _, text := range o.Head {
		lines = append(lines, Line{Text: printable.Text(text)})
	}
	if o.Split != "" {
		lines = append(lines, Line{Text: printable.Text(o.Split)})
	}
	room := height - len(lines)
	heat := o.heat(width, max(room*2/5-1, 1))
	callers := min(len(o.Callers), max((room-len(heat)-2)/3, 1))
	lines = append(lines, heat...)
	if room = height - len(lines); len(o.Callers) > 0 && room > 5 {
		lines = append(lines, Line{"CALLERS, by time", Bold})
		lines = append(lines, items(o.Callers[:callers], width)...)
	}
	if room = height - len(lines); len(o.Slowest) > 0 && room > 1 {
		lines = append(lines, Line{"SLOWEST CALLS", Bold})
		lines = append(lines, items(o.Slowest[:min(room-1, len(o.Slowest))], width)...)
	}
	return lines[:min(len(lines), height)]
}

func items(list []string, width int) (lines []Line) {
	for _, text := range list {
		lines = append(lines, Line{Text: printable.Cut(printable.Text(text), width)})
	}
	return lines
}

// shades mark growing shares of the calls of an interval.
var shades = []rune(" ░▒▓█")

// labelWidth is the width of the latencies at the left of the heat map, in columns.
const labelWidth = 8

// heat draws latencies over time: a column per interval, the newest on the right, and a line per power of
// two, the longest at the top. If the height is too small, a line covers several powers.
func (o *One) heat(width, height int) []Line {
	slices := o.Heat[max(len(o.Heat)-max(width-labelWidth-2, 1), 0):]
	low, high := 64, -1
	for i := range slices {
		for k, n := range slices[i] {
			if n > 0 {
				low, high = min(low, k), max(high, k)
			}
		}
	}
	if high < 0 {
		return nil
	}
	step := (high - low + height) / height // rounded up
	lines := []Line{{fmt.Sprintf("LATENCY, a column for each %s", o.Every), Bold}}
	for to := high; to >= low; to -= step {
		from := to - step + 1
		var b strings.Builder
		b.WriteString(right(printable.Duration(int64(1)<<max(from-1, 0)), labelWidth) + " ")
		for i := range slices {
			b.WriteRune(shade(&slices[i], from, to))
		}
		lines = append(lines, Line{Text: b.String()})
	}
	return lines
}

// shade returns the mark for the share of an interval's calls that is in a range of buckets.
func shade(s *[64]uint32, from, to int) rune {
	var n, all uint64
	for k, count := range s {
		all += uint64(count)
		if k >= from && k <= to {
			n += uint64(count)
		}
	}
	switch {
	case n == 0:
		return shades[0]
	case n*100 < all: // a few slow calls often matter most
		return shades[1]
	case n*10 < all:
		return shades[2]
	case n*2 < all:
		return shades[3]
	}
	return shades[4]
}
