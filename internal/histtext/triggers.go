// Package histtext is the text of the kernel's hist triggers and synthetic events: what is written
// to set them, and what is read back (Documentation/trace/histogram.rst).
package histtext

import (
	"fmt"
	"math/bits"
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
// of funcs, and key those that tell calls apart, of which open can be at a time; 0 is 65536.
// By themselves triggers would choose the trace clock "global".
func NewTriggers(session, entry, fn string, key []string, funcs, open int) Triggers {
	if open == 0 {
		open = 1 << 16
	}
	keys := strings.Join(append([]string{fn}, key...), ",")
	return Triggers{
		Synthetic: session + " u64 f; u64 lat",
		Latency:   fmt.Sprintf("hist:keys=f,lat.log2:vals=hitcount,lat:size=%d", entries(64*funcs)),
		Count:     fmt.Sprintf("hist:keys=%s:size=%d", fn, entries(2*funcs)),
		Begin:     fmt.Sprintf("hist:keys=%s:ts0=common_timestamp:size=%d:clock=%s", keys, open, clocks.Monotonic),
		End: fmt.Sprintf("hist:keys=%s:fn=%s,lat=common_timestamp-$ts0:onmatch(%s.%s).%s($fn,$lat):size=%d:clock=%s",
			keys, fn, session, entry, session, open, clocks.Monotonic),
	}
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
