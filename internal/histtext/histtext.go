// Package histtext is the text of the kernel's hist triggers and synthetic events: what is written
// to set them, and what is read back (Documentation/trace/histogram.rst).
package histtext

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/clocks"
)

// CheckFuncs refuses more functions than can't overflow the largest histogram that the kernel makes,
// with the 64 powers of two that a latency may have.
func CheckFuncs(n int) error {
	if n > mostEntries/64 {
		return fmt.Errorf("keep histograms of %d functions in the kernel: at most %d", n, mostEntries/64)
	}
	return nil
}

// The kernel's histograms have a power of two of entries between these.
const (
	leastEntries = 1 << 7
	mostEntries  = 1 << 17
)

// Triggers are four: one counts calls, one notes when each begins, one takes the time
// when it ends and hands it on as a synthetic event, since a variable can't be the key of a
// histogram, and one makes the histogram of that.
type Triggers struct {
	// Synthetic defines the synthetic event.
	Synthetic string
	// Latency is a trigger of it, Count and Begin are two of calls that begin, and End is
	// one of those that end.
	Latency, Count, Begin, End string
}

// NewTriggers has the synthetic event named like the session, whose group the events are in.
// entry is the event of calls that begin, fn the argument that numbers the function, one
// of funcs, and key those that tell calls apart, of which open can be at a time; 0 is 65536. Hits of
// entry that fail a filter begin no call, if that is not "".
// By themselves triggers would choose the trace clock "global".
func NewTriggers(session, entry, fn string, key []string, filter string, funcs, open int) Triggers {
	if open == 0 {
		open = 1 << 16
	}
	keys := strings.Join(append([]string{fn}, key...), ",")
	if filter != "" {
		filter = filterWord + filter
	}
	return Triggers{
		Synthetic: session + " u64 f; u64 lat",
		Latency:   fmt.Sprintf("hist:keys=f,lat.log2:vals=hitcount,lat:size=%d", entries(64*funcs)),
		Count:     fmt.Sprintf("hist:keys=%s:size=%d%s", fn, entries(2*funcs), filter),
		Begin:     fmt.Sprintf("hist:keys=%s:ts0=common_timestamp:size=%d:clock=%s%s", keys, open, clocks.Monotonic, filter),
		End: fmt.Sprintf("hist:keys=%s:fn=%s,lat=common_timestamp-$ts0:onmatch(%s.%s).%s($fn,$lat):size=%d:clock=%s",
			keys, fn, session, entry, session, open, clocks.Monotonic),
	}
}

// filterWord begins a trigger's filter, which ends it.
const filterWord = " if "

// Pause is what is written to have a trigger count no more.
func Pause(trigger string) string {
	at := strings.Index(trigger, filterWord)
	if at < 0 {
		at = len(trigger)
	}
	return trigger[:at] + ":pause" + trigger[at:]
}

// entries is the power of two that holds n entries, as far as the kernel makes one.
func entries(n int) int {
	return min(max(1<<bits.Len(uint(n-1)), leastEntries), mostEntries)
}

// Set lists what is set in a trigger file, as it is to be written there to be removed:
// without the state in brackets (kernel/trace/trace_events_hist.c,
// event_hist_trigger_print). The file begins with a comment when there is none.
func Set(file string) (triggers []string) {
	for line := range strings.Lines(file) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if i := strings.LastIndex(line, " ["); i >= 0 && strings.HasSuffix(line, "]") {
			line = line[:i]
		}
		triggers = append(triggers, line)
	}
	return triggers
}

// Synthetics lists the names in synthetic_events, of which a line is
//
//	NAME\tTYPE FIELD; TYPE FIELD
func Synthetics(file string) (names []string) {
	for line := range strings.Lines(file) {
		if fields := strings.Fields(line); len(fields) > 0 {
			names = append(names, fields[0])
		}
	}
	return names
}

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
	key := strings.Split(text, ",")
	for i, cell := range key {
		_, value, _ := strings.Cut(cell, ":")
		key[i] = strings.TrimSpace(value)
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
