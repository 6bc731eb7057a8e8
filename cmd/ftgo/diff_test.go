package main

import (
	"bytes"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// behaviour is how a function behaves: calls in twenty seconds, their median, and how many of a hundred fail.
type behaviour struct {
	name       string
	calls      int
	median     float64
	failsOf100 int
}

// ranWith is what ftgo probe -o json would write of a run, by chance.
func ranWith(t *testing.T, seed uint64, host string, functions ...behaviour) string {
	t.Helper()
	random := rand.New(rand.NewPCG(5, seed))
	var rows []stats.Func
	for _, b := range functions {
		f := stats.Func{Name: b.name, Calls: uint64(b.calls), Completed: uint64(b.calls), ReturnsErrors: true, Latency: &stats.Histogram{}}
		for range b.calls {
			ns := int64(b.median * math.Exp(0.15*random.NormFloat64()))
			f.Time(stats.Timing{Raw: ns + 900, Net: ns, Low: ns - 200, High: ns + 100, Known: true})
			if random.IntN(100) < b.failsOf100 {
				f.Errors++
			}
		}
		rows = append(rows, f.Over(20))
	}
	var b bytes.Buffer
	err := render.Functions(&b, rows, render.RowOptions{Style: render.Style{Format: render.JSON}, Latency: true, Errors: true})
	if err == nil {
		began := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
		err = render.SummaryJSON(&b, stats.Summary{Host: host, Began: began, Seconds: 20, Hits: 10 + seed, Delivered: 10 + seed}, nil)
	}
	noError(t, err)
	return b.String()
}

// TestDiffPage runs diff as docs/examples/diff.md shows it.
func TestDiffPage(t *testing.T) {
	put := behaviour{"main.put", 200, 12e3, 0}
	names := files(t,
		ranWith(t, 1, "web", behaviour{"main.get", 1000, 76e3, 2}, put), ranWith(t, 3, "web", behaviour{"main.get", 1000, 76e3, 2}, put),
		ranWith(t, 7, "web", behaviour{"main.get", 1000, 76e3, 2}, put), ranWith(t, 2, "web", behaviour{"main.get", 1010, 90e3, 2}, put),
		ranWith(t, 5, "web", behaviour{"main.get", 1010, 90e3, 2}, put))
	page := readFile(t, filepath.Join(fixture.Root(), "docs", "examples", "diff.md"))
	r := ran(t, append(append([]string{"diff", "--compare", "calls,latency,tail"}, names[:3]...), "--", names[3], names[4])...)
	if !strings.Contains(page, "\n```\n"+r.stdout+"```\n") {
		t.Errorf("docs/examples/diff.md does not show\n%s", r.stdout)
	}
}
