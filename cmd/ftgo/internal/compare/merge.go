package compare

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/stats"
)

// Merge adds up runs by function. If perHost is true, it adds up the runs of each host separately. Time that several
// runs share counts once, so that rates of runs at the same time add up, too. If a run occurs twice, Merge returns
// an error.
func Merge(runs []*Run, perHost bool) (*Run, error) {
	if err := cmp.Or(twice(runs), tooMuch(runs)); err != nil {
		return nil, err
	}
	s := &Run{Summary: summed(runs)}
	found := make(map[[2]string]int) // the index of a function in s.Funcs, by its name and host
	for _, r := range runs {
		for i := range r.Funcs {
			f, host := &r.Funcs[i], ""
			if perHost {
				host = cmp.Or(f.Host, r.Host, r.File)
			}
			at, ok := found[[2]string{f.Name, host}]
			if !ok {
				at = len(s.Funcs)
				found[[2]string{f.Name, host}] = at
				s.Funcs = append(s.Funcs, stats.Func{Name: f.Name, Host: host})
			}
			s.Funcs[at].Add(f)
		}
	}
	windows := make(map[string]float64) // seconds by host
	for i := range s.Funcs {
		f := &s.Funcs[i]
		if _, ok := windows[f.Host]; !ok {
			windows[f.Host] = seconds(runs, func(r *Run) bool { return !perHost || f.Host == cmp.Or(r.Host, r.File) })
		}
		f.Seconds = cmp.Or(windows[f.Host], s.Seconds)
		s.RawLatencies = s.RawLatencies || f.Latency != nil && f.Bounds == nil
	}
	return s, nil
}

// Events returns the names of the kernel events that were counted.
func (r *Run) Events() []string {
	names := make(map[string]uint64)
	for i := range r.Funcs {
		maps.Copy(names, r.Funcs[i].Events)
	}
	return slices.Sorted(maps.Keys(names))
}

// Errors reports whether errors were counted.
func (r *Run) Errors() bool {
	return slices.ContainsFunc(r.Funcs, func(f stats.Func) bool { return f.ReturnsErrors })
}

// Sched reports whether latencies are split into running, runnable and waiting time.
func (r *Run) Sched() bool {
	return slices.ContainsFunc(r.Funcs, func(f stats.Func) bool { return f.Split.Sum() > 0 })
}

func counts(f *stats.Func) []uint64 {
	all := slices.AppendSeq([]uint64{f.Open}, maps.Values(f.Events))
	for _, n := range f.Counts() {
		all = append(all, *n)
	}
	return all
}

func summaryCounts(s *stats.Summary) []uint64 {
	k := cmp.Or(s.Kernel, &stats.KernelEvents{})
	all := []uint64{k.Delivered, k.Lost, k.Unparsed, uint64(s.Probes), uint64(s.Functions)}
	for _, n := range s.Counts() {
		all = append(all, *n)
	}
	return all
}

// tooMuch returns an error if sums of counts might overflow.
func tooMuch(runs []*Run) error {
	var sum float64 // an upper bound of all sums
	for _, r := range runs {
		all := summaryCounts(&r.Summary)
		for i := range r.Funcs {
			all = append(all, counts(&r.Funcs[i])...)
		}
		for _, n := range all {
			sum += float64(n)
		}
	}
	if sum >= 1<<63 {
		return errors.New("add up: the numbers are larger than there can be")
	}
	return nil
}

func twice(runs []*Run) error {
	files := make(map[string]string) // by what identifies a run
	for _, r := range runs {
		var calls uint64
		for i := range r.Funcs {
			calls += r.Funcs[i].Calls
		}
		began := r.Began.UTC().Format(time.RFC3339Nano)
		id := fmt.Sprintf("%q %s %d %d", r.Host, began, r.Hits, calls)
		if before, ok := files[id]; ok && r.Host != "" && r.Hits > 0 {
			return fmt.Errorf("add up %s: the run on %s that began at %s is in %s, too", r.File, r.Host, began, before)
		}
		files[id] = r.File
	}
	return nil
}

// seconds returns the length of the runs for which wanted returns true. Time that several of them share counts once.
func seconds(runs []*Run, wanted func(*Run) bool) float64 {
	runs = slices.DeleteFunc(slices.Clone(runs), func(r *Run) bool { return !wanted(r) })
	slices.SortStableFunc(runs, func(a, b *Run) int { return a.Began.Compare(b.Began) })
	var total float64
	var end time.Time
	for _, r := range runs {
		counted := max(end.Sub(r.Began), 0) // the part that earlier runs include
		total += max(r.Seconds-counted.Seconds(), 0)
		if ends := r.Began.Add(time.Duration(min(r.Seconds*1e9, 1<<62))); ends.After(end) {
			end = ends
		}
	}
	return total
}

func summed(runs []*Run) (s stats.Summary) {
	hosts := make(map[string]bool)
	for i, r := range runs {
		hosts[r.Host] = true
		if i == 0 || r.Began.Before(s.Began) {
			s.Began = r.Began
		}
		s.Add(&r.Summary)
	}
	skipped := make(map[stats.Skipped]bool)
	s.Skipped = slices.DeleteFunc(s.Skipped, func(one stats.Skipped) bool {
		before := skipped[one]
		skipped[one] = true
		return before
	})
	if len(hosts) == 1 && len(runs) > 0 {
		s.Host = runs[0].Host
	}
	s.Seconds = seconds(runs, func(*Run) bool { return true })
	return s
}
