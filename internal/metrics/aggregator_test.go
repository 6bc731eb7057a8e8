package metrics

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/testdata/setclock"
)

var began = time.Unix(1_800_000_000, 0)

// reading returns the arguments of Update for a reading at a number of seconds after began.
func reading(after int, summary stats.Summary, funcs ...stats.Func) (at time.Time, all []stats.Func, s *stats.Summary, used time.Duration) {
	used = time.Duration(after) * time.Second
	summary.Seconds = used.Seconds()
	return began.Add(used), funcs, &summary, used
}

// timed returns a function with calls that took these latencies in ns.
func timed(name string, took ...int64) stats.Func {
	f := stats.Func{Name: name, Calls: uint64(len(took)), Completed: uint64(len(took)), Latency: &stats.Histogram{}}
	for _, ns := range took {
		f.Time(stats.Timing{Raw: ns + 100, Net: ns, Low: ns - 10, High: ns + 20, Known: true})
	}
	return f
}

// named returns a function of a snapshot.
func named(t *testing.T, s *Snapshot, name string) stats.Func {
	t.Helper()
	f := s.Functions[name]
	if f == nil {
		t.Fatalf("there is no %s", name)
	}
	return *f
}

// TestAggregator checks the sum of two files that are probed at the same time, and that the counts of a closed file
// stay.
func TestAggregator(t *testing.T) {
	b := NewAggregator(About{Service: "shop"}, began)
	old := b.Open()
	old.Describe(File{Path: "/bin/shop", BuildID: "1"})
	old.Update(reading(1, stats.Summary{Probes: 4, Hits: 10, Lost: 1, Budget: 0.25}, timed("main.a", 1000, 2000), timed("main.gone", 5)))
	during := b.Open()
	during.Describe(File{Path: "/bin/shop", BuildID: "2"})
	during.Update(reading(2, stats.Summary{Probes: 2, Hits: 3}, timed("main.a", 4000)))
	s := b.Snapshot()
	if a := named(t, s, "main.a"); a.Calls != 3 || a.Latency.Sum() != 7000 || !s.Probed["main.a"] || s.Since["main.a"] != began {
		t.Errorf("of two files at the same time: %+v", a)
	}
	if s.Run.Probes != 6 || s.Run.Hits != 13 || len(s.Run.Files) != 2 || s.Run.Budget != 0.25 || s.Run.Plans != 2 {
		t.Errorf("of two files at the same time: %+v", s.Run)
	}
	old.Update(reading(3, stats.Summary{Hits: 11, Lost: 1}, timed("main.a", 1000, 2000, 3000), timed("main.gone", 5)))
	old.Close()
	before := s
	s = b.Snapshot()
	a, gone := named(t, s, "main.a"), named(t, s, "main.gone")
	if a.Calls != 4 || a.Latency.Count() != 4 || math.Abs(a.Bounds.Low.Seconds()-9960e-9) > 1e-12 || math.Abs(a.Bounds.High.Seconds()-10080e-9) > 1e-12 {
		t.Errorf("after the first was closed: %+v", a)
	}
	if gone.Calls != 1 || s.Probed["main.gone"] {
		t.Errorf("a function that is in no file: %+v", gone)
	}
	if s.Run.Hits != 14 || s.Run.Lost != 1 || s.Run.Probes != 2 || s.Run.CPU != 5*time.Second || !s.At.Equal(began.Add(3*time.Second)) {
		t.Errorf("after the first was closed: %+v", s.Run)
	}
	if old := named(t, before, "main.a"); old.Calls != 3 || old.Latency.Count() != 3 {
		t.Errorf("an earlier snapshot has changed: %+v", old)
	}
}

// TestSinceStays checks that Since stays the time when a function was first probed, whichever of two files is closed
// first: a later time would look like a reset of the counter.
func TestSinceStays(t *testing.T) {
	b := NewAggregator(About{}, began)
	old, failed := b.Open(), b.Open()
	old.Update(reading(1, stats.Summary{}, timed("main.a", 1)))
	failed.Update(began.Add(9*time.Second), []stats.Func{timed("main.a", 2)}, &stats.Summary{Seconds: 2}, 0)
	before := b.Snapshot().Since["main.a"]
	failed.Close()
	if after := b.Snapshot().Since["main.a"]; before != began || after != began {
		t.Errorf("probed since %v, then since %v, not %v", before, after, began)
	}
}

// TestYears checks that counters stay monotonic if latencies add up to more than the 292 years of an int64, which the
// waits of many goroutines reach within days.
func TestYears(t *testing.T) {
	const years = math.MaxInt64 / 2
	b := NewAggregator(About{}, began)
	before := 0.0
	for range 3 {
		p, f := b.Open(), timed("main.a", years)
		f.Split = stats.Split{Running: 1, Waiting: years}
		p.Update(reading(1, stats.Summary{}, f))
		p.Close()
		a := named(t, b.Snapshot(), "main.a")
		if sum := a.Latency.Seconds(); sum < before+0.99*seconds(years) || a.Bounds.Low.Seconds() < 0.99*sum || a.Split.Waiting < years || a.Split.Sum() < years {
			t.Errorf("after %v s: %v s, %+v", before, sum, a)
		}
		before = a.Latency.Seconds()
	}
}

// TestSameBuild checks that a build that was deployed twice is one file with the processes of both.
func TestSameBuild(t *testing.T) {
	b := NewAggregator(About{}, began)
	for pid := range 2 {
		p := b.Open()
		p.Describe(File{Path: "/bin/shop", BuildID: "1"})
		p.SetPIDs([]int{pid})
		p.Update(reading(1, stats.Summary{}))
	}
	for range 2 { // a snapshot must not change the aggregator
		if files := b.Snapshot().Run.Files; len(files) != 1 || !slices.Equal(files[0].PIDs, []int{0, 1}) {
			t.Errorf("%+v", files)
		}
	}
}

// TestNeverLess checks that no counter decreases.
func TestNeverLess(t *testing.T) {
	b := NewAggregator(About{}, began)
	p := b.Open()
	first, second := timed("main.a", 1, 2), timed("main.a", 1, 2)
	first.Unwound, first.Split = 3, stats.Split{Running: 5, Waiting: 7}
	second.Unwound, second.Split = 2, stats.Split{Running: 6, Waiting: 6}
	p.Update(reading(1, stats.Summary{Hits: 9, Lost: 2, Probing: &stats.Probing{NS: 50}}, first))
	p.Update(reading(2, stats.Summary{Hits: 9, Lost: 1, Probing: &stats.Probing{NS: 40}}, second))
	s := b.Snapshot()
	if f := s.Functions["main.a"]; f.Unwound != 3 || f.Split != (stats.Split{Running: 6, Waiting: 7}) {
		t.Errorf("%+v", f)
	}
	if s.Run.Lost != 2 || s.Run.Cost != 50 || s.Run.CPU != 2*time.Second {
		t.Errorf("%+v", s.Run)
	}
}

// TestClockSet checks that the clock of the snapshot gives the time of a reading, and that start times stay as they were
// when the system clock is set.
func TestClockSet(t *testing.T) {
	began := time.Now()
	b := NewAggregator(About{}, began)
	p := b.Open()
	for i, ahead := range []time.Duration{0, 3 * time.Hour, -2 * time.Hour} {
		read := began.Add(time.Duration(i+1) * time.Second)
		now := setclock.By(read.Add(time.Second/4), ahead)
		b.now = func() time.Time { return now }
		// The reading is from before the clock was set.
		p.Update(read, []stats.Func{timed("main.a", 1000)}, &stats.Summary{Seconds: float64(i) + 0.5}, 0)
		s := b.Snapshot()
		if got := s.Created.Round(0).Sub(s.At.Round(0)); s.Created != now || got != time.Second/4 {
			t.Errorf("set by %v: of %v ago, at %v", ahead, got, s.Created)
		}
		if since := s.Since["main.a"].Sub(began.Round(0)); s.From != began || since != time.Second/2 {
			t.Errorf("set by %v: from %v, since %v", ahead, s.From, since)
		}
	}
}

// TestExponential checks the buckets of a histogram, and the count of latencies of 0.
func TestExponential(t *testing.T) {
	var h stats.Histogram
	for _, ns := range []int64{0, 0, 1000, 4000, 4000} {
		h.Record(ns)
	}
	e := newExponential(&h, 0)
	if e.zero != 2 || e.first != -20 || !slices.Equal(e.counts, []uint64{1, 0, 2}) {
		t.Errorf("%+v", e)
	}
}

// TestExpired checks that snapshots include a function for an hour after its last file was closed, that it continues if
// it comes back within this time, and that it begins at 0 if it comes back later.
func TestExpired(t *testing.T) {
	b := NewAggregator(About{}, began)
	now := began
	b.now = func() time.Time { return now }
	deploy := func(name string) {
		p := b.Open()
		p.Update(now, []stats.Func{timed(name, 1)}, &stats.Summary{Hits: 2, Seconds: 1}, 0)
		b.Snapshot()
		p.Close()
		b.Snapshot()
	}
	for i := range 100 {
		deploy(fmt.Sprint("main.build", i))
		now = now.Add(10 * time.Minute)
	}
	s := b.Snapshot()
	if n := len(s.Functions); n > 7 || s.Run.Hits != 200 {
		t.Errorf("%d functions of the builds of 1000 minutes, %d hits", n, s.Run.Hits)
	}
	if n := max(len(b.past.Functions), len(b.first), len(b.closed)); n > 7 {
		t.Errorf("%d are remembered", n)
	}
	if deploy("main.build99"); named(t, b.Snapshot(), "main.build99").Calls != 2 {
		t.Error("one that comes back soon does not go on")
	}
	if deploy("main.build0"); named(t, b.Snapshot(), "main.build0").Calls != 1 || b.Snapshot().Since["main.build0"].Before(now.Add(-time.Second)) {
		t.Error("one that comes back late does not begin anew")
	}
}
