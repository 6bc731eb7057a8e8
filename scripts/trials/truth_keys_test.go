package trials

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// keys has "ftgo probe" count a million calls, made without a pause, with and without a row for each of
// 100,000 keys, and prints a Markdown table. It fails if calls are missing, or if with rows more events
// are lost in the run that loses least.
func keys(t *testing.T) {
	const calls = 1_000_000
	skewed := fixture.Build(t, "skewed")
	fmt.Println("| probe | events lost | memory |\n|---|---|---|")
	for _, reader := range []string{"pipe", "raw"} {
		least := make(map[string]float64)
		for range cmp.Or(*runs, 5) {
			for _, by := range []string{"", "--by=key"} {
				c := command(t, childLimit, fixture.Command(t, "cmd/ftgo"), append(strings.Fields("probe -o json "+by),
					skewed, "main.lookup", "--", skewed, "-n", fmt.Sprint(calls), "-of", "100000")...)
				c.Env = append(os.Environ(), "FTGO_READER="+reader)
				c.Stdin = strings.NewReader(strings.Repeat("\n", calls/10000))
				o, err := c.run()
				check(t, err)
				var sum, lost float64
				for line := range strings.Lines(o.stdout) {
					var row struct {
						Type        string
						Calls, Lost float64
					}
					check(t, json.Unmarshal([]byte(line), &row))
					if sum += row.Calls; row.Type == "summary" {
						lost = row.Lost
					}
				}
				if sum != calls {
					t.Errorf("%s %s: %.0f calls", reader, by, sum)
				}
				if known, ok := least[by]; !ok || lost < known {
					least[by] = lost
				}
				fmt.Printf("| %s %s | %.0f | %.0f MB |\n", reader, by, lost, o.maxRSS/(1<<20))
			}
		}
		if least["--by=key"] > least[""] {
			t.Errorf("%s: %.0f events are lost with rows, %.0f without", reader, least["--by=key"], least[""])
		}
	}
}
