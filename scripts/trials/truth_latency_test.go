package trials

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// functions is how many the target has.
const functions = 30

// latencies compares the bounds of medians with those that the program measures before and
// after, which differ, too.
func latencies(t *testing.T) {
	n := cmp.Or(*runs, 20)
	all, within := n*functions, 0
	for run := range n {
		end, how := func() {}, "idle"
		if run%2 == 1 {
			end, how = load(t), "loaded"
		}
		right, raw := latency(t)
		end()
		within += right
		fmt.Printf("run %d, %s: %d of %d functions' medians are within their bounds, %d were shown raw\n", run+1, how, right, functions, raw)
	}
	fmt.Printf("%.1f%% of %d are within\n", 100*float64(within)/float64(all), all)
	if within*100 < all*95 {
		t.Error("less than 95% are")
	}
}

func latency(t *testing.T) (within, raw int) {
	file := fixture.Build(t, "selftimed")
	s := startSelftimed(t, file)
	defer s.end()
	var truth [functions][]int64
	learn := func(a answer) {
		for f, ns := range a.Median {
			truth[f] = append(truth[f], ns)
		}
	}
	measure := func() {
		for range 3 {
			learn(s.do("time", 1))
		}
	}
	measure()
	// Other programs may be busier meanwhile than before and after: a copy, of which ftgo
	// knows nothing, tells. A file of its own has no probes.
	twinFile := filepath.Join(t.TempDir(), "twin")
	text, err := os.ReadFile(file)
	check(t, err)
	check(t, os.WriteFile(twinFile, text, 0o755))
	twin := startSelftimed(t, twinFile)
	defer twin.end()
	var meanwhile answer
	told := make(chan error, 1)
	go func() {
		var err error
		meanwhile, err = twin.told("time", 2.5)
		told <- err
	}()
	_, x := s.probed(2.5, "probe", "--budget", "0", "main.f??")
	check(t, <-told)
	learn(meanwhile)
	measure()
	for f := range truth {
		name := fmt.Sprintf("main.f%d%d", f/5, f%5)
		row := x.functions[name]
		least, most := slices.Min(truth[f]), slices.Max(truth[f])
		if row.Raw {
			raw++
		}
		if most >= row.Low.P50 && least <= row.High.P50 {
			within++
		} else {
			fmt.Printf("  %s takes %d to %d ns, is said to take %d to %d (%d, raw %v)\n", name, least, most, row.Low.P50, row.High.P50, row.NS.P50, row.Raw)
		}
	}
	return within, raw
}
