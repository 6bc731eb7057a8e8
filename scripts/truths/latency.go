package main

import (
	"fmt"
	"slices"
)

// functions is how many the target has.
const functions = 30

// latencies compares the bounds of medians with those that the program measures before and
// after, which differ, too.
func latencies(dir string, runs int) error {
	var all, within, raw int
	for run := range runs {
		end := func() {}
		how := "idle"
		if run%2 == 1 {
			end, how = load(), "loaded"
		}
		n, r, err := latency(dir)
		end()
		if err != nil {
			return err
		}
		all, within, raw = all+functions, within+n, raw+r
		fmt.Printf("run %d, %s: %d of %d functions' medians are within their bounds, %d were shown raw\n", run+1, how, n, functions, r)
	}
	fmt.Printf("%.1f%% of %d are within\n", 100*float64(within)/float64(all), all)
	if within*100 < all*95 {
		return fmt.Errorf("less than 95%% are")
	}
	return nil
}

func latency(dir string) (within, raw int, err error) {
	t, err := start(dir)
	if err != nil {
		return 0, 0, err
	}
	defer t.end()
	var truth [functions][]int64
	learn := func(a answer) {
		for f, ns := range a.Median {
			truth[f] = append(truth[f], ns)
		}
	}
	measure := func() error {
		for range 3 {
			a, err := t.do("time", 1)
			if err != nil {
				return err
			}
			learn(a)
		}
		return nil
	}
	if err := measure(); err != nil {
		return 0, 0, err
	}
	// Other programs may be busier meanwhile than before and after: a copy, of which ftgo
	// knows nothing, tells.
	twin, err := startFile(dir, "twin")
	if err != nil {
		return 0, 0, err
	}
	defer twin.end()
	told := make(chan error, 1)
	var meanwhile answer
	go func() {
		var err error
		meanwhile, err = twin.do("time", 2.5)
		told <- err
	}()
	_, rows, _, err := t.probed(2.5, "probe", "--max-rate", "0", "main.f??")
	if err != nil {
		return 0, 0, err
	}
	if err := <-told; err != nil {
		return 0, 0, err
	}
	learn(meanwhile)
	if err := measure(); err != nil {
		return 0, 0, err
	}
	for f := range truth {
		name := fmt.Sprintf("main.f%d%d", f/5, f%5)
		row := rows[name]
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
	return within, raw, nil
}
