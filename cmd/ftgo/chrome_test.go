package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// traceEvent has the fields of "Trace Event Format" that are used; a pointer is nil where
// there is none.
type traceEvent struct {
	Ph, Name, Cat string
	S, BP         string
	ID            int // of an arrow
	PID, TID      *int64
	TS, Dur       *float64
	Args          map[string]any
}

// checkChrome checks trace events against "Trace Event Format": what each phase must have,
// and that begins and ends, and complete events, nest on each track ("Duration Events",
// "Complete Events", "Instant Events", "Flow Events", "Metadata Events"), and arrows lead from
// within a call to the begin of one. Besides, time stamps grow along each track, and each has a name
// before its first event.
func checkChrome(t *testing.T, text string) (events []traceEvent) {
	t.Helper()
	var file struct {
		TraceEvents     []traceEvent
		DisplayTimeUnit string
		OtherData       map[string]string
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		t.Fatalf("%v\n%.2000s", err, text)
	}
	if file.DisplayTimeUnit != "ns" || file.OtherData["hits"] == "" {
		t.Errorf("unit %q, other data %v", file.DisplayTimeUnit, file.OtherData)
	}
	type track struct{ pid, tid int64 }
	type span struct {
		name string
		end  float64
	}
	names := make(map[track]string)
	last := make(map[track]float64)
	open := make(map[track][]span)
	arrows, marks := make(map[int]string), make(map[int]string)
	for i, e := range file.TraceEvents {
		bad := func(format string, args ...any) {
			t.Errorf("event %d, %s %q: %s", i, e.Ph, e.Name, fmt.Sprintf(format, args...))
		}
		if e.Name == "" || e.PID == nil || e.TID == nil || *e.PID < 0 || *e.TID < 0 || *e.TID > math.MaxUint32 {
			bad("name, pid or tid missing, or out of range: %+v", e)
			continue
		}
		at := track{*e.PID, *e.TID}
		if e.Ph == "M" {
			name, _ := e.Args["name"].(string)
			if e.Name != "process_name" && e.Name != "thread_name" || name == "" {
				bad("args %v", e.Args)
			}
			if e.Name == "thread_name" {
				names[at] = name
			}
			continue
		}
		events = append(events, e)
		if names[at] == "" {
			bad("its track has no name")
		}
		if e.TS == nil || *e.TS < last[at] {
			bad("time stamp missing, or before %v", last[at])
			continue
		}
		last[at] = *e.TS
		stack := open[at]
		for len(stack) > 0 && stack[len(stack)-1].end <= *e.TS && e.Ph != "E" {
			stack = stack[:len(stack)-1]
		}
		switch e.Ph {
		case "X":
			if e.Dur == nil || *e.Dur < 0 {
				bad("no duration")
				continue
			}
			end := *e.TS + *e.Dur
			if n := len(stack); n > 0 && end > stack[n-1].end+1e-6 {
				bad("ends at %v, after %q, which it is inside of, at %v", end, stack[n-1].name, stack[n-1].end)
			}
			stack = append(stack, span{e.Name, end})
		case "B":
			stack = append(stack, span{e.Name, math.Inf(1)})
		case "E":
			for len(stack) > 0 && !math.IsInf(stack[len(stack)-1].end, 1) {
				stack = stack[:len(stack)-1]
			}
			if len(stack) == 0 || stack[len(stack)-1].name != e.Name {
				bad("ends what has not begun: %v", stack)
				continue
			}
			stack = stack[:len(stack)-1]
		case "b", "e": // of a tree: they may overlap
			marks[e.ID] += e.Ph
		case "s", "f":
			if arrows[e.ID] += e.Ph; e.ID == 0 || len(stack) == 0 || e.Ph == "f" && e.BP != "e" {
				bad("arrow %d, in %d calls", e.ID, len(stack))
			}
		case "i":
			if e.S != "t" && e.S != "p" && e.S != "g" {
				bad("scope %q", e.S)
			}
		default:
			bad("no phase of ours")
		}
		open[at] = stack
	}
	for id, ends := range arrows {
		if ends != "sf" {
			t.Errorf("arrow %d: %q", id, ends)
		}
	}
	for id, ends := range marks {
		if ends != "be" {
			t.Errorf("mark %d: %q", id, ends)
		}
	}
	for at, stack := range open {
		for _, s := range stack {
			if math.IsInf(s.end, 1) {
				t.Errorf("%v: %q has no end", at, s.name)
			}
		}
	}
	return events
}

// chromeCounts returns how many events there are of each phase and name, with the end of calls that have not returned, and how
// many tracks they are on.
func chromeCounts(t *testing.T, text string) string {
	t.Helper()
	counts, tracks := make(map[string]int), make(map[int64]bool)
	for _, e := range checkChrome(t, text) {
		end, _ := e.Args["end"].(string)
		counts[strings.TrimSpace(e.Ph+" "+e.Name+" "+end)]++
		tracks[*e.TID] = true
	}
	counts["tracks"] = len(tracks)
	var lines []string
	for name, n := range counts {
		lines = append(lines, fmt.Sprintf("%4d %s\n", n, name))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// TestReportChromeNests: begins and ends are rounded alike, so that a call never ends after the
// one that it is inside of, and times are from where the recording begins.
func TestReportChromeNests(t *testing.T) {
	const pairs = 300
	var events strings.Builder
	hit := func(tick uint64, event, addr string, sp int) {
		fmt.Fprintf(&events, " f-7 (    7) [000] d... %d: %s_0123456789abcd: (%s) sp=%d g=5 hi=100%s\n", tick, event, addr, sp, map[string]string{"e0": " id=1"}[event])
	}
	tick := uint64(2_400_000_000)
	for i := range uint64(pairs) {
		hit(tick, "e0", "0x2", 90)
		hit(tick+1+i%5, "e0", "0x2", 80)
		hit(tick+11+i%4, "r1", "0x6", 80)
		hit(tick+11+i%4+i%2, "r1", "0x6", 90)
		tick += 20 + i%11
	}
	text := strings.NewReplacer("2200000000", "2270000000", "4000000000", "4700000000").Replace(cycles(events.String())) // at 2.7 GHz
	text = strings.ReplaceAll(text, "abcd 2\n", fmt.Sprintf("abcd %d\n", 2*pairs))
	r := reported(t, text, "--as", "trace", "-o", "chrome")
	r.succeeded(t)
	shown := checkChrome(t, r.stdout)
	if n := len(shown); n != 2*pairs || *shown[0].TS < 48_000 || *shown[n-1].TS <= *shown[0].TS {
		t.Errorf("%d slices, the first at %v µs, the last at %v µs", n, *shown[0].TS, *shown[n-1].TS)
	}
}
