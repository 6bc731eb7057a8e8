package results

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/ftgo/ftgo/internal/stats"
)

// functionLine is what JSON has of a function. The values of some keys do not matter.
type functionLine struct {
	counts
	Function, Host string
	Value, Rest    json.RawMessage
	NS             json.RawMessage
	SumOf          json.RawMessage `json:"sum_of"`
	Interval       *int64
	Seen           *uint64
	Low            uint64   `json:"calls_low"`
	High           *float64 `json:"calls_high"`
	Sched          *sched
	Buckets        *buckets
	Events         map[string]uint64
}

type counts struct {
	Calls, Completed, Unwound, Open, Lost, Unsure uint64
	Errors                                        *uint64
	CountedOnly                                   uint64 `json:"counted_only"`
	CutShort                                      uint64 `json:"cut_short"`
}

type sched struct {
	Running, Runnable, Waiting int64
	Waits                      map[string]int64
}

type buckets struct {
	NS, Low, High, Raw *histogram
	Waited             float64
	Self               int64
}

type histogram struct {
	Min, Max, Sum int64
	Counts        counted
}

// counted are the pairs of buckets.
type counted []stats.FineBucket

// UnmarshalJSON reads [[FROM,COUNT],…]. Package json would take five times as long.
func (c *counted) UnmarshalJSON(text []byte) error {
	wrong := fmt.Errorf("counts of buckets: %s", quote(text))
	at := 0
	next := func(want byte) bool {
		for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n') {
			at++
		}
		if at < len(text) && text[at] == want {
			at++
			return true
		}
		return false
	}
	number := func() (n uint64, ok bool) {
		next(0)
		for ; at < len(text) && text[at] >= '0' && text[at] <= '9'; at++ {
			if n > math.MaxInt64/10-1 {
				return 0, false
			}
			n, ok = n*10+uint64(text[at]-'0'), true
		}
		return n, ok
	}
	if *c = nil; !next('[') { // a key that is there twice counts once
		return wrong
	}
	for i := 0; !next(']'); i++ {
		if i > 0 && !next(',') || !next('[') {
			return wrong
		}
		from, ok := number()
		if !ok || !next(',') {
			return wrong
		}
		count, ok := number()
		if !ok || !next(']') {
			return wrong
		}
		*c = append(*c, stats.FineBucket{From: int64(from), Count: count})
	}
	return nil
}

// summaryLine is what JSON has of a run.
type summaryLine struct {
	hits
	Host     string
	Began    time.Time
	Seconds  *float64
	Interval *int64
	Probes   int
	Funcs    int `json:"functions"`
	Skipped  []stats.Skipped
	Budget   struct{ Percent float64 }
	Vanished []int
	Own      int64 `json:"own_cpu_ns"`
	Pass     int64 `json:"pass_ns"`
	Probing  *probed
	Events   *kernelEvents
}

type hits struct {
	Hits, Delivered, Lost, Filtered, Counted, Before, After, Unparsed uint64
}

type kernelEvents struct{ Delivered, Lost, Unparsed uint64 }

type probed struct {
	NS       float64
	Low      float64 `json:"ns_low"`
	High     float64 `json:"ns_high"`
	CPU      float64 `json:"cpu_ns"`
	Others   float64 `json:"others_ns"`
	Emulated float64 `json:"emulated_hit_ns"`
	Stepped  float64 `json:"stepped_hit_ns"`
}

// A run takes no longer than this, in seconds, and no less: rates are numbers.
const longest, shortest = 1e10, 1e-9

// possible tells whether there can be so much CPU time.
func (p *probed) possible() bool {
	for _, ns := range [...]float64{p.NS, p.Low, p.High, p.CPU, p.Others, p.Emulated, p.Stepped} {
		if math.Abs(ns) > mostTime {
			return false
		}
	}
	return true
}

// mostTime is what no CPU time exceeds, in ns: that of a thousand CPUs in ten years.
const mostTime = 1 << 58
