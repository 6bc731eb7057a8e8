package histtext

import (
	"strings"
	"testing"
)

// histText is what Linux 6.12 printed for an event with two triggers, shortened.
const histText = `# event histogram
#
# trigger info: hist:keys=f:vals=hitcount:sort=hitcount:size=128 [active]
#

{ f:          1 } hitcount:         11
{ f:          0 } hitcount:       1395

Totals:
    Hits: 1406
    Entries: 2
    Dropped: 0


# event histogram
#
# trigger info: hist:keys=f,g,hi-sp:vals=hitcount:ts0=common_timestamp:sort=hitcount:size=4096:clock=mono [active]
#

{ f:          1, g: 824633720832, hi-sp:        264 } hitcount:         11

Totals:
    Hits: 1400
    Entries: 18
    Dropped: 6
`

const latencyText = `# event histogram
#
# trigger info: hist:keys=f,lat.log2:vals=hitcount,lat:sort=hitcount:size=128 [paused]
#

{ f:          0, lat: ~ 2^16 } hitcount:        163  lat:    9749882
{ f:          0, lat: ~ 2^0  } hitcount:          1  lat:          1
{ f:          1, lat: ~ 2^21 } hitcount:          1  lat:    1350341

Totals:
    Hits: 165
    Entries: 3
    Dropped: 0
`

func TestReading(t *testing.T) {
	r := Reading{Funcs: make([]Counts, 2)}
	for _, text := range []string{histText, latencyText} {
		if err := r.Add(text); err != nil {
			t.Fatal(err)
		}
	}
	if r.Hits != 1406 || r.Lost != 6 {
		t.Errorf("hits %d, lost %d", r.Hits, r.Lost)
	}
	a, b := r.Funcs[0], r.Funcs[1]
	if a.Calls != 1395 || a.Completed != 164 || a.Sum != 9749883 || a.Log2[16] != 163 || a.Log2[0] != 1 {
		t.Errorf("first function: %+v", a)
	}
	if b.Calls != 11 || b.Completed != 1 || b.Sum != 1350341 || b.Log2[21] != 1 {
		t.Errorf("second function: %+v", b)
	}
}

func TestReadingRefuses(t *testing.T) {
	for _, c := range []struct{ what, old, new, want string }{
		{"a number", "hitcount:        163", "hitcount:        16x", `"16x"`},
		{"a bracket", "} hitcount:        163", " hitcount:        163", "no }"},
		{"a key", "{ f:          1, lat: ~ 2^21 }", "{ f:          1 }", "1 keys, not 2"},
		{"a function", "{ f:          1,", "{ f:          2,", `function "2"`},
		{"a power", "~ 2^16", "16", `latency "16"`},
		{"a large power", "~ 2^16", "~ 2^64", `latency "~ 2^64"`},
		{"the hits", "Hits: 165", "Hits: many", `"many"`},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := Reading{Funcs: make([]Counts, 2)}
			err := r.Add(strings.Replace(latencyText, c.old, c.new, 1))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

func FuzzReading(f *testing.F) {
	f.Add(histText)
	f.Add(latencyText)
	f.Add("# trigger info: hist:keys=f\n{\n{}\nHits: \nDropped: 1")
	f.Fuzz(func(t *testing.T, text string) {
		r := Reading{Funcs: make([]Counts, 3)}
		if r.Add(text) != nil {
			return
		}
		for _, c := range r.Funcs {
			var n uint64
			for _, k := range c.Log2 {
				n += k
			}
			if n != c.Completed {
				t.Errorf("%d latencies of %d completed calls", n, c.Completed)
			}
		}
	})
}
