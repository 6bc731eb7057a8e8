package histtext

import (
	"fmt"
	"strconv"
	"strings"
)

// Reading is what histograms hold, all since they were started.
type Reading struct {
	// Funcs are the functions, by their number.
	Funcs []Counts
	// Hits is how often the probes were hit in the processes that are followed; Lost is how
	// many of those hits found the kernel's table of open calls full: of a call that began or ended
	// with one there is no latency.
	Hits, Lost uint64
}

// Counts are the calls of one function.
type Counts struct {
	// Calls is how many have begun, Completed how many of them have ended, for which it
	// took Sum nanoseconds.
	Calls, Completed, Sum uint64
	// Log2[k] is how many took more than 2^(k-1), and at most 2^k nanoseconds; Log2[0] also
	// has those that took none.
	Log2 [64]uint64
}

// Add takes what a hist file says.
func (r *Reading) Add(text string) error {
	all, err := parse(text)
	if err != nil {
		return err
	}
	for i := range all {
		if err := r.add(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

// add takes what one histogram says.
func (r *Reading) add(t *histogram) error {
	switch len(t.keys) {
	case 1: // calls that begin
		for _, e := range t.entries {
			f, err := r.function(e.keys[0])
			if err != nil {
				return err
			}
			f.Calls += e.hits
		}
	case 2: // latencies
		for _, e := range t.entries {
			f, err := r.function(e.keys[0])
			if err != nil {
				return err
			}
			power, ok := strings.CutPrefix(e.keys[1], "~ 2^")
			k, err := strconv.ParseUint(power, 10, 8)
			if !ok || err != nil || k >= uint64(len(f.Log2)) {
				return fmt.Errorf("latency %q: not ~ 2^N", e.keys[1])
			}
			f.Log2[k] += e.hits
			f.Completed += e.hits
			f.Sum += e.sum
		}
	default: // calls that are open, or were: only what the table could not hold matters
		r.Hits += t.hits + t.dropped
		r.Lost += t.dropped
	}
	return nil
}

func (r *Reading) function(text string) (*Counts, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n >= uint64(len(r.Funcs)) {
		return nil, fmt.Errorf("function %q: not one of %d", text, len(r.Funcs))
	}
	return &r.Funcs[n], nil
}

// histogram is one histogram of a hist file.
type histogram struct {
	keys          []string
	entries       []entry // none where there are more than two keys
	hits, dropped uint64
}

type entry struct {
	keys []string
	hits uint64
	sum  uint64 // of lat
}

// parse reads a hist file (kernel/trace/trace_events_hist.c, hist_show): for each
// trigger of the event
//
//	# event histogram
//	#
//	# trigger info: hist:keys=f,lat.log2:vals=hitcount,lat:... [active]
//	#
//
//	{ f:          0, lat: ~ 2^16 } hitcount:        163  lat:    9749882
//	...
//	Totals:
//	    Hits: 2503
//	    Entries: 30
//	    Dropped: 0
func parse(text string) ([]histogram, error) {
	var all []histogram
	var at *histogram
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if info, ok := strings.CutPrefix(line, "# trigger info: hist:keys="); ok {
			keys, _, _ := strings.Cut(info, ":")
			all = append(all, histogram{keys: strings.Split(keys, ",")})
			at = &all[len(all)-1]
			continue
		}
		if at == nil || line == "" || line[0] == '#' {
			continue
		}
		var err error
		switch {
		case line[0] == '{':
			err = at.read(line)
		case strings.HasPrefix(line, "Hits: "):
			at.hits, err = strconv.ParseUint(line[len("Hits: "):], 10, 64)
		case strings.HasPrefix(line, "Dropped: "):
			at.dropped, err = strconv.ParseUint(line[len("Dropped: "):], 10, 64)
		}
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
	}
	return all, nil
}

func (t *histogram) read(line string) error {
	if len(t.keys) > 2 {
		return nil
	}
	keys, values, ok := strings.Cut(line[1:], "}")
	if !ok {
		return fmt.Errorf("no } in it")
	}
	var e entry
	for cell := range strings.SplitSeq(keys, ",") {
		_, value, _ := strings.Cut(cell, ":")
		e.keys = append(e.keys, strings.TrimSpace(value))
	}
	if len(e.keys) != len(t.keys) {
		return fmt.Errorf("%d keys, not %d", len(e.keys), len(t.keys))
	}
	words := strings.Fields(values)
	for i := 0; i+1 < len(words); i += 2 {
		n, err := strconv.ParseUint(words[i+1], 10, 64)
		switch {
		case err != nil:
			return err
		case words[i] == "hitcount:":
			e.hits = n
		case words[i] == "lat:":
			e.sum = n
		}
	}
	t.entries = append(t.entries, e)
	return nil
}
