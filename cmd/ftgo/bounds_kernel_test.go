package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// boundedRow is a function's row with what bounds its latencies.
type boundedRow struct {
	Function  string
	Completed uint64
	Raw       bool
	NS        statistics `json:"ns"`
	Low       statistics `json:"ns_low"`
	High      statistics `json:"ns_high"`
	Seen      statistics `json:"ns_raw"`
}

type statistics map[string]int64

// TestKernelBounds: each latency has its bounds, of a function with many hits within nothing is
// claimed, of one that works for long much is; and it is told what share of the program's
// time probes took. How dear hits are is the machine's, which other programs disturb: what
// ftgo does wrong it does each time.
func TestKernelBounds(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "selftimed")
	tracetest.RightOnce(t, 3, t.Errorf, func() (wrong []string) {
		add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
		rows, probing := probeSelftimed(t, target)
		if len(rows) != 30 {
			add("%d functions", len(rows))
		}
		for name, row := range rows {
			if len(row.Low) != 7 || len(row.High) != 7 || len(row.Seen) != 7 {
				add("%s: %+v lacks bounds", name, row)
			}
			for s, seen := range row.Seen {
				if row.Low[s] < 0 || row.Low[s] > row.NS[s] || row.Low[s] > row.High[s] || row.NS[s] > seen || row.High[s] > seen+seen/64+1 || row.Raw && row.NS[s] != seen {
					add("%s: %s is %d, from %d to %d, and was seen to be %d", name, s, row.NS[s], row.Low[s], row.High[s], seen)
				}
			}
		}
		// f50 works for less than 3 µs, in which 190 probes are hit; f54 for some 10 ms.
		if row := rows["main.f50"]; !row.Raw || row.NS["p50"] < 10*row.High["p50"]/9 {
			add("f50: %+v", row)
		}
		if row := rows["main.f54"]; row.Raw || row.Low["min"] == 0 {
			add("f54: %+v", row)
		}
		if probing.Share <= 0 || probing.Share > 1 || probing.Low > probing.NS || probing.NS > probing.High || probing.High > probing.CPU || probing.CPU == 0 {
			add("probes took %+v", probing)
		}
		return wrong
	})
}

// toldCost is what probes are said to have cost.
type toldCost struct {
	NS    int64   `json:"ns"`
	Low   int64   `json:"ns_low"`
	High  int64   `json:"ns_high"`
	CPU   int64   `json:"cpu_ns"`
	Share float64 `json:"share"`
}

// probeSelftimed probes a few requests of testdata/selftimed, with ftgo as a program of its own, as
// only that can measure what hits cost.
func probeSelftimed(t *testing.T, target string) (rows map[string]boundedRow, cost toldCost) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	cmd := exec.Command(built(t), "probe", "--budget", "0", "-o", "json", "-w", data, target, "main.f??", "--", target)
	cmd.Stdin = strings.NewReader("request 30\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rows = make(map[string]boundedRow)
	for _, row := range decoded[struct {
		boundedRow
		Probing *toldCost
	}](t, readFile(t, data)) {
		if row.Probing != nil {
			cost = *row.Probing
		} else if row.Function != "" {
			rows[row.Function] = row.boundedRow
		}
	}
	return rows, cost
}
