package top

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
)

// One is a function that is open.
type One struct {
	Name   string
	held   *Look // what is shown while the user is reading
	latest Look
}

// Look is what is known of the function at a moment.
type Look struct {
	Head    []string // numbers, and what they cost
	Split   string   // what the time was spent with
	Heat    []Slice  // of the latencies, the oldest first
	Every   string   // how long a slice is
	Callers []Item   // those with most time first
	Slowest []Item   // calls
}

// Slice is latencies of a stretch of time: how many were of as many bits, in nanoseconds.
type Slice [64]uint32

// Item is a line with what it is worth.
type Item struct{ Weight, Text string }

// Bucket is where a slice has a latency.
func Bucket(ns int64) int { return min(bits.Len64(uint64(max(ns, 0))), 63) }

func (o *One) pause() {
	if o.held != nil {
		o.held = nil
		return
	}
	held := o.latest
	o.held = &held
}

func (o *One) status() string {
	if o.held != nil {
		return "paused, p goes on; Esc goes back, ? helps, q quits"
	}
	return "Esc goes back, p pauses, ? helps, q quits"
}

// draw shares the lines among what there is to tell.
func (o *One) draw(width, height int) []Line {
	look := &o.latest
	if o.held != nil {
		look = o.held
	}
	lines := []Line{{printable.Shorten(printable.Text(o.Name), width), Bold}}
	for _, text := range look.Head {
		lines = append(lines, Line{Text: printable.Text(text)})
	}
	if look.Split != "" {
		lines = append(lines, Line{Text: printable.Text(look.Split)})
	}
	room := height - len(lines)
	heat := heat(look, width, max(room*2/5-1, 1))
	callers := min(len(look.Callers), max((room-len(heat)-2)/3, 1))
	lines = append(lines, heat...)
	if room = height - len(lines); len(look.Callers) > 0 && room > 5 {
		lines = append(lines, Line{"CALLERS, by time", Bold})
		lines = append(lines, items(look.Callers[:callers], width)...)
	}
	if room = height - len(lines); len(look.Slowest) > 0 && room > 1 {
		lines = append(lines, Line{"SLOWEST CALLS", Bold})
		lines = append(lines, items(look.Slowest[:min(room-1, len(look.Slowest))], width)...)
	}
	return lines[:min(len(lines), height)]
}

func items(list []Item, width int) (lines []Line) {
	for _, i := range list {
		text := printable.Text(i.Text)
		if i.Weight != "" {
			text = right(i.Weight, labelWidth) + "  " + text
		}
		lines = append(lines, Line{Text: printable.Cut(text, width)})
	}
	return lines
}

// shades are for more and more of the calls of a slice.
var shades = []rune(" ░▒▓█")

// labelWidth is that of the latencies beside the heat strip.
const labelWidth = 8

// heat draws latencies over time: a column for each slice, the newest on the right, and a line for each
// power of two, the longest above. Where there is no room for as many lines, a line is for several.
func heat(look *Look, width, height int) []Line {
	slices := look.Heat[max(len(look.Heat)-max(width-labelWidth-2, 1), 0):]
	least, most := 64, -1
	for i := range slices {
		for k, n := range slices[i] {
			if n > 0 {
				least, most = min(least, k), max(most, k)
			}
		}
	}
	if most < 0 {
		return nil
	}
	step := (most - least + height) / height // rounded up
	lines := []Line{{fmt.Sprintf("LATENCY, a column for each %s", look.Every), Bold}}
	for to := most; to >= least; to -= step {
		from := to - step + 1
		var b strings.Builder
		b.WriteString(right(printable.Duration(int64(1)<<max(from-1, 0)), labelWidth) + " ")
		for i := range slices {
			b.WriteRune(slices[i].shade(from, to))
		}
		lines = append(lines, Line{Text: b.String()})
	}
	return lines
}

// shade tells which part of the calls of a slice is in some of its buckets.
func (s *Slice) shade(from, to int) rune {
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
	case n*100 < all: // few calls are often those that matter
		return shades[1]
	case n*10 < all:
		return shades[2]
	case n*2 < all:
		return shades[3]
	}
	return shades[4]
}
