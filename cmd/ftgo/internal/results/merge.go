package results

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/stats"
)

// Sum is what runs add up to.
type Sum struct {
	Rows []stats.Row // of functions, or with hosts, of each on each host
	stats.Summary
	Events []string // the names of the kernel events that rows have counted
	// Errors: results were looked at. Sched: latencies are split.
	Errors, Sched bool
}

// Merge adds up runs, function by function. What ran at the same time on several machines, or of several
// processes, is of one time: rates add up, too. The same run twice is an error.
func Merge(runs []*Run, perHost bool) (*Sum, error) {
	if err := twice(runs); err != nil {
		return nil, err
	}
	if err := tooMuch(runs); err != nil {
		return nil, err
	}
	s := &Sum{Summary: summed(runs)}
	names := make(map[string]bool)
	type key struct{ name, host string }
	windows := make(map[string]float64) // how long each host was looked at
	found := make(map[key]*sum)
	var order []*sum
	for _, r := range runs {
		for i := range r.Rows {
			row := &r.Rows[i]
			for name := range row.Events {
				names[name] = true
			}
			s.Errors = s.Errors || row.ReturnsErrors
			s.Sched = s.Sched || row.Split.Sum() > 0
			of := key{name: row.Name}
			if perHost {
				of.host = cmp.Or(row.Host, r.File)
			}
			if found[of] == nil {
				found[of] = &sum{net: &stats.Histogram{}, all: &stats.Histogram{}, bounds: &stats.Bounds{}, bounded: true, events: make(map[string]uint64)}
				found[of].Name, found[of].Host = of.name, of.host
				order = append(order, found[of])
			}
			found[of].add(row, r.Seconds)
		}
	}
	s.Events = slices.Sorted(maps.Keys(names))
	for _, f := range order {
		if _, ok := windows[f.Host]; !ok {
			windows[f.Host] = seconds(runs, func(r *Run) bool { return !perHost || f.Host == cmp.Or(r.Host, r.File) })
		}
		s.Rows = append(s.Rows, f.row(cmp.Or(windows[f.Host], s.Seconds), s.Events))
	}
	for _, row := range s.Rows {
		s.AsSeen = s.AsSeen || row.Latency != nil && row.Bounds == nil
	}
	return s, nil
}

// tooMuch is an error if runs add up to more than there are numbers for.
func tooMuch(runs []*Run) error {
	var all float64 // more than of any one kind
	for _, r := range runs {
		all += float64(r.Hits) + float64(r.Delivered) + float64(r.Lost) + float64(r.Filtered) + float64(r.Counted) + float64(r.Before) + float64(r.After) + float64(r.Unparsed)
		all += float64(r.Probes) + float64(r.Functions)
		if k := r.Kernel; k != nil {
			all += float64(k.Delivered) + float64(k.Lost) + float64(k.Unparsed)
		}
		for i := range r.Rows {
			f := &r.Rows[i]
			all += float64(f.Calls) + float64(f.Completed) + float64(f.Unwound) + float64(f.Open) + float64(f.Lost) + float64(f.Unsure) + float64(f.CountedOnly)
			for _, n := range f.Events {
				all += float64(n)
			}
		}
	}
	if all > 1<<63 {
		return errors.New("add up: the numbers are larger than there can be")
	}
	return nil
}

// twice is an error if a run is there twice.
func twice(runs []*Run) error {
	type run struct {
		host  string
		began time.Time
		hits  uint64
		calls uint64
	}
	files := make(map[run]string)
	for _, r := range runs {
		of := run{host: r.Host, began: r.Began.UTC().Round(0), hits: r.Hits}
		for i := range r.Rows {
			of.calls += r.Rows[i].Calls
		}
		if before, ok := files[of]; ok && r.Host != "" && r.Hits > 0 {
			return fmt.Errorf("add up %s: the run on %s that began at %s is in %s, too", r.File, r.Host, r.Began.UTC().Format(time.RFC3339), before)
		}
		files[of] = r.File
	}
	return nil
}

// seconds is how long the runs were that are wanted; what is of the same time counts once.
func seconds(runs []*Run, wanted func(*Run) bool) float64 {
	var of []*Run
	for _, r := range runs {
		if wanted(r) {
			of = append(of, r)
		}
	}
	slices.SortStableFunc(of, func(a, b *Run) int { return a.Began.Compare(b.Began) })
	var total float64
	var end time.Time
	for _, r := range of {
		ends := r.Began.Add(time.Duration(min(r.Seconds*1e9, 1<<62)))
		switch overlap := end.Sub(r.Began); {
		case !r.Began.Before(end):
			total += r.Seconds
			end = ends
		case ends.After(end):
			total += max(r.Seconds-overlap.Seconds(), 0)
			end = ends
		}
	}
	return total
}

// summed is the summary of all runs.
func summed(runs []*Run) (s stats.Summary) {
	skipped := make(map[stats.Skipped]bool)
	hosts := make(map[string]bool)
	for i, r := range runs {
		hosts[r.Host] = true
		if i == 0 || r.Began.Before(s.Began) {
			s.Began = r.Began
		}
		s.Hits += r.Hits
		s.Delivered += r.Delivered
		s.Lost += r.Lost
		s.Filtered += r.Filtered
		s.Counted += r.Counted
		s.Before += r.Before
		s.After += r.After
		s.Unparsed += r.Unparsed
		s.Probes += r.Probes
		s.Functions += r.Functions
		s.Own = time.Duration(stats.AddUp(int64(s.Own), int64(r.Own)))
		s.Pass = max(s.Pass, r.Pass)
		s.Budget = max(s.Budget, r.Budget)
		s.LatencyMeasured, s.Streamed = s.LatencyMeasured || r.LatencyMeasured, s.Streamed || r.Streamed
		for _, one := range r.Skipped {
			if !skipped[one] {
				skipped[one] = true
				s.Skipped = append(s.Skipped, one)
			}
		}
		if p := r.Probing; p != nil {
			all, cpu := cmp.Or(s.Probing, &stats.Probing{}), 0.0
			if s.Probing == nil || min(all.CPU, p.CPU) > 0 { // else that of one is not known, nor of all
				cpu = plus(all.CPU, p.CPU)
			}
			s.Probing = &stats.Probing{
				NS: plus(all.NS, p.NS), Low: plus(all.Low, p.Low), High: plus(all.High, p.High), CPU: cpu, Others: plus(all.Others, p.Others),
				Emulated: max(all.Emulated, p.Emulated), Stepped: max(all.Stepped, p.Stepped),
			}
		}
		if k := r.Kernel; k != nil {
			all := cmp.Or(s.Kernel, &stats.KernelEvents{})
			s.Kernel = &stats.KernelEvents{Delivered: all.Delivered + k.Delivered, Lost: all.Lost + k.Lost, Unparsed: all.Unparsed + k.Unparsed}
		}
	}
	if len(hosts) == 1 && len(runs) > 0 {
		s.Host = runs[0].Host
	}
	s.Seconds = seconds(runs, func(*Run) bool { return true })
	return s
}

// plus adds two times in ns, as far as an int64 goes.
func plus(a, b float64) float64 { return max(min(a+b, 1<<62), -1<<62) }

// sum adds up the rows of a function. Its latencies are net if those of all its rows are,
// and else as they were seen.
type sum struct {
	stats.Function
	net, all *stats.Histogram // net, where there are bounds, and as they were seen
	bounds   *stats.Bounds
	bounded  bool // all have them
	events   map[string]uint64
}

func (s *sum) add(row *Row, seconds float64) {
	f := row.Function
	f.Latency, f.Bounds = nil, nil
	s.Function.Add(&f)
	s.Unsure += f.Unsure
	s.CountedOnly += f.CountedOnly
	s.ReturnsErrors = s.ReturnsErrors || f.ReturnsErrors
	for name, n := range row.Events {
		s.events[name] += n
	}
	if row.Latency == nil || row.Latency.Count() == 0 {
		return
	}
	s.bounded = s.bounded && row.Bounds != nil
	if b := row.Bounds; b == nil {
		s.all.Add(row.Latency)
	} else {
		s.net.Add(row.Latency)
		s.all.Add(&b.Raw)
		s.bounds.Low.Add(&b.Low)
		s.bounds.High.Add(&b.High)
		s.bounds.Waiting = max(s.bounds.Waiting, b.Waiting)
	}
}

// row is what the rows add up to, over so many seconds.
func (s *sum) row(seconds float64, events []string) stats.Row {
	f := s.Function
	for _, name := range events {
		f.Events = append(f.Events, s.events[name])
	}
	switch {
	case s.all.Count() == 0:
	case !s.bounded:
		f.Latency = s.all
	default:
		f.Latency, f.Bounds = s.net, s.bounds
		f.Bounds.Raw = *s.all
	}
	return stats.NewRow(f, seconds)
}
