package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// roundFuncs is how many functions testdata/rounds calls alike, leastHit less than what a hit
// of a probe takes anywhere.
const (
	roundFuncs = 300
	leastHit   = 100 // ns
)

// sameRounds fails unless all functions were called equally often, but for what rounds are
// under way at the window's ends, and in the time that reading the counters took, where these
// alone tell, or tell what was lost.
func sameRounds(t *testing.T, r result, counters bool) {
	t.Helper()
	r.succeeded(t)
	o := readObserved(t, r.stdout)
	least, most := ^uint64(0), uint64(0)
	n := 0
	for name, f := range o.functions {
		if strings.HasPrefix(name, "main.f") {
			n++
			least, most = min(least, f.Calls), max(most, f.Calls)
		}
	}
	s := o.summary
	far := uint64(1)
	if counters || s.Lost > 0 {
		far += 2 * uint64(s.Pass) / (roundFuncs * leastHit)
	}
	if n != roundFuncs || most-least > far || least == 0 || s.Delivered+s.Lost != s.Hits {
		t.Errorf("%d functions have %d to %d calls, %d apart at most are right\n%+v\n%s", n, least, most, far, s, r.stderr)
	}
}

// TestKernelWindow: all functions' calls are of one stretch of time, though probes come out
// one event after the other, and the program gains speed as they go.
func TestKernelWindow(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "rounds")
	m := family(t, target)
	defer m.goOn(t)
	for _, line := range []string{
		"probe TARGET", "raw probe TARGET", "probe -p PID",
		"count TARGET", "count -p PID", "raw count -p PID",
	} {
		t.Run(line, func(t *testing.T) {
			words := readBy(t, strings.Fields(strings.NewReplacer("TARGET", target, "PID", m.pid()).Replace(line)))
			sameRounds(t, ftgo(t, append(words, "-o", "json", "--budget", "0", "-d", "0.3", "--buffer", "64M", "main.f*")...), line == "count TARGET")
		})
	}
}

// TestKernelWindowScript: the same of recordings.
func TestKernelWindowScript(t *testing.T) {
	f := tracetest.LongKernel(t)
	target := fixture.Build(t, "rounds")
	m := family(t, target)
	defer m.goOn(t)
	recorded := [][]string{{"--as", "probe"}, {"--as", "count"}}
	if f.Features().ExactHits {
		recorded = append(recorded, []string{"--as", "count", "--kernel", "6.12"})
	}
	for _, as := range recorded {
		counters := len(as) > 2
		script := scriptFor(t, append(as, target, "main.f*")...)
		for _, sh := range scriptShells(t) {
			file := filepath.Join(t.TempDir(), "rec")
			executed(t, sh[0], append(sh[1:], script, "-d", "1", "-w", file)...)
			sameRounds(t, ftgo(t, "report", "-o", "json", file), counters)
			os.Remove(file) // the next may need its place on the disk
		}
	}
}

// TestKernelAtMost: -n shows so many calls and no more, however fast they come.
func TestKernelAtMost(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "rounds")
	m := family(t, target)
	defer m.goOn(t)
	for _, command := range []string{"probe", "count"} {
		for _, n := range []uint64{1, 2, 997} {
			r := ftgo(t, command, "-o", "json", "-n", fmt.Sprint(n), target, "main.f00*", "main.touch")
			var calls uint64
			for _, f := range readObserved(t, r.stdout).functions {
				calls += f.Calls
			}
			if calls != n || r.code != 0 {
				t.Errorf("%s -n %d: %d calls, status %d\n%s%s", command, n, calls, r.code, r.stdout, r.stderr)
			}
		}
	}
}

// TestKernelIntervalsAddUp: the rows of all intervals, the last and shorter one included, add
// up to the total.
func TestKernelIntervalsAddUp(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "rounds")
	m := family(t, target)
	defer m.goOn(t)
	for _, command := range []string{"probe", "count"} {
		r := ftgo(t, command, "-o", "json", "-i", "0.2", "-d", "0.7", "--budget", "0", target, "main.f00*") // estimates change as more is seen
		calls, total := make(map[string]uint64), make(map[string]uint64)
		for _, l := range jsonLines(t, r.stdout, "function") {
			name, n := l["function"].(string), uint64(l["calls"].(float64))
			if at, _ := l["interval"].(float64); at > 0 && l["time"] != nil && l["total"] == nil {
				calls[name] += n
			} else if l["total"] == true && l["interval"] == nil && total[name] == 0 {
				total[name] = n
			} else {
				t.Errorf("%s: %v", command, l)
			}
		}
		for name, n := range calls {
			if n != total[name] {
				t.Errorf("%s %s: intervals have %d calls, the total is %d", command, name, n, total[name])
			}
		}
		if len(calls) != 10 || r.code != 0 {
			t.Errorf("%d functions, status %d\n%s", len(calls), r.code, r.stderr)
		}
	}
}
