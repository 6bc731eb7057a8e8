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

// Add takes what a hist file says (kernel/trace/trace_events_hist.c, hist_show): for each
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
//
// One key is of calls that begin, two of latencies. More are of calls that are open, or were: only
// what the table could not hold matters.
func (r *Reading) Add(text string) error {
	keys := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if info, ok := strings.CutPrefix(line, "# trigger info: hist:keys="); ok {
			list, _, _ := strings.Cut(info, ":")
			keys = strings.Count(list, ",") + 1
		}
		if keys == 0 || line == "" || line[0] == '#' {
			continue
		}
		if err := r.add(keys, line); err != nil {
			return fmt.Errorf("line %q: %w", line, err)
		}
	}
	return nil
}

func (r *Reading) add(keys int, line string) error {
	name, number, _ := strings.Cut(line, ": ")
	switch {
	case line[0] == '{' && keys <= 2:
		return r.entry(keys, line[1:])
	case name != "Hits" && name != "Dropped":
		return nil
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if keys > 2 {
		r.Hits += n
	}
	if keys > 2 && name == "Dropped" {
		r.Lost += n
	}
	return err
}

func (r *Reading) entry(keys int, line string) error {
	text, values, ok := strings.Cut(line, "}")
	if !ok {
		return fmt.Errorf("no } in it")
	}
	var key []string
	for cell := range strings.SplitSeq(text, ",") {
		_, value, _ := strings.Cut(cell, ":")
		key = append(key, strings.TrimSpace(value))
	}
	if len(key) != keys {
		return fmt.Errorf("%d keys, not %d", len(key), keys)
	}
	var hits, sum uint64
	words := strings.Fields(values)
	for i := 0; i+1 < len(words); i += 2 {
		n, err := strconv.ParseUint(words[i+1], 10, 64)
		switch {
		case err != nil:
			return err
		case words[i] == "hitcount:":
			hits = n
		case words[i] == "lat:":
			sum = n
		}
	}
	n, err := strconv.ParseUint(key[0], 10, 32)
	if err != nil || n >= uint64(len(r.Funcs)) {
		return fmt.Errorf("function %q: not one of %d", key[0], len(r.Funcs))
	}
	f := &r.Funcs[n]
	if keys == 1 {
		f.Calls += hits
		return nil
	}
	power, ok := strings.CutPrefix(key[1], "~ 2^")
	k, err := strconv.ParseUint(power, 10, 8)
	if !ok || err != nil || k >= uint64(len(f.Log2)) {
		return fmt.Errorf("latency %q: not ~ 2^N", key[1])
	}
	f.Log2[k] += hits
	f.Completed += hits
	f.Sum += sum
	return nil
}
