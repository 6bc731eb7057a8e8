package main

import (
	"fmt"
	"math"
	"strings"
)

// workloads are what the program serves, and what ftgo does meanwhile.
var workloads = []struct {
	requests string
	ftgo     []string
}{
	{"all", []string{"probe", "--max-rate", "0", "main.f??"}},
	{"all", []string{"probe", "--max-rate", "0", "--reader", "raw", "main.f?0"}},
	{"all", []string{"count", "main.f??"}},
	{"short", []string{"probe", "--max-rate", "0", "main.f5?"}},
	{"short", []string{"probe", "--max-rate", "0", "main.f3?"}},
	{"short", []string{"count", "main.f4?"}},
	{"short", []string{"trace", "main.f40(w.timed)"}},
	{"http", []string{"count", "*"}},
	{"http", []string{"count", "net/http.*"}},
	{"http", []string{"probe", "--max-rate", "0", "net/http.*"}},
}

// costs compares the share of time that probes are said to take with the requests that are
// not served for them.
func costs(dir string, runs int) error {
	var off int
	for range runs {
		for _, w := range workloads {
			t, err := start(dir, "-requests", w.requests)
			if err != nil {
				return err
			}
			const seconds = 1.5
			before, err := t.do("serve", seconds)
			if err != nil {
				return err
			}
			probed, _, summary, err := t.probed(seconds+0.1, w.ftgo...)
			if err != nil {
				return err
			}
			after, err := t.do("serve", seconds)
			if err != nil {
				return err
			}
			t.end()
			// Other programs on the machine take their share of the time, but not of the
			// program's CPU time.
			loss := 1 - rate(probed)/((rate(before)+rate(after))/2)
			verdict := ""
			if math.Abs(summary.Probing.Share-loss) > loss/4 {
				off++
				verdict = ": off"
			}
			fmt.Printf("%-5s  ftgo %-41s  %5.0f, then %5.0f, then %5.0f requests a CPU second (%.2f, %.2f, %.2f CPUs): loss %2.0f%%, share %2.0f%%%s\n", w.requests, strings.Join(w.ftgo, " "),
				rate(before), rate(probed), rate(after), before.CPU/seconds, probed.CPU/seconds, after.CPU/seconds, 100*loss, 100*summary.Probing.Share, verdict)
		}
	}
	if off > 0 {
		return fmt.Errorf("%d of %d differ by more than a quarter", off, runs*len(workloads))
	}
	return nil
}

// rate is the number of requests served per second of CPU time.
func rate(a answer) float64 { return a.Requests / a.CPU }
