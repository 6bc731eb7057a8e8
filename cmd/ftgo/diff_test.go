package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
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
	err := render.Functions(&b, rows, render.Options{Format: render.JSON, Latency: true, Errors: true})
	if err == nil {
		began := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
		err = render.SummaryJSON(&b, stats.Summary{Host: host, Began: began, Seconds: 20, Hits: 10 + seed, Delivered: 10 + seed}, nil)
	}
	noError(t, err)
	return b.String()
}

func TestDiff(t *testing.T) {
	put := behaviour{"main.put", 200, 12e3, 0}
	names := files(t,
		ranWith(t, 1, "web", behaviour{"main.get", 1000, 76e3, 2}, put),
		ranWith(t, 2, "web", behaviour{"main.get", 1010, 90e3, 2}, put),
		ranWith(t, 3, "web", behaviour{"main.get", 1000, 76e3, 2}, put),
		ranWith(t, 4, "web", behaviour{"main.get", 1000, 76e3, 40}, behaviour{"main.post", 500, 1e6, 0}, put),
		"{", madeUp,
		ranWith(t, 5, "web", behaviour{"main.get", 1010, 90e3, 2}, put),
		ranWith(t, 6, "web", behaviour{"main.get", 1000, 76e3, 40}, behaviour{"main.post", 500, 1e6, 0}, put),
		ranWith(t, 7, "web", behaviour{"main.get", 1000, 76e3, 2}, put))
	old, slower, same, other, cut, recording, slow2, other2, third := names[0], names[1], names[2], names[3], names[4], names[5], names[6], names[7], names[8]
	const tooFew = "ftgo: one run a side is too few to call anything changed, because runs differ by themselves: give three or more, ftgo diff OLD... -- NEW...\n"
	for _, c := range []struct {
		scenario string
		args     []string
		want     string // of what is written
		code     int
	}{
		{"slower", []string{old, same, third, "--", slower, slow2}, "CHANGED\nmain.get  ", 0},
		{"slower, to a script", []string{"--fail", "-o", "json", old, same, third, "--", slower, slow2}, "1 of 2 functions changed (--fail), first main.get", cli.ExitFailIf},
		{"only errors compared", []string{"--fail", "--compare", "errors,calls", old, same, "--", slower}, "0 of 2 functions changed", 0},
		{"no change", []string{"--fail", old, "--", same, third}, "0 of 2 functions changed: of those that did not, at most 1% are called so\nold: 1 run on 1 host, 20.0s together\n", 0},
		{"much", []string{"-o", "csv", old, same, "--", other, other2}, "main.post,calls,", 0},
		{"more errors", []string{"-o", "json", "-q", old, same, third, "--", other, other2}, `{"type":"difference","function":"main.get","changed":["errors"],`, 0},
		{"new", []string{old, same, third, "--", other, other2}, "calls new", 0},
		{"gone", []string{other, other2, "--", old, same, third}, "calls gone", 0},
		{"first one", []string{"-t", "1", "-q", old, same, third, "--", other, other2}, "main.post", 0},
		{"runs of a side", []string{old, same, "--", slower, other}, "old: 2 runs on 1 host, 40.0s together", 0},
		{"one run a side", []string{old, slower}, tooFew, 0},
		{"one run a side, to a script", []string{"-q", "--fail", "-o", "json", old, other}, tooFew, 0},
		{"one run a side, quietly", []string{"-q", old, slower}, "  ~\nmain.put", 0},
		{"a recording", []string{recording, recording}, "latencies are as they were seen", 0},
		{"too few calls", []string{recording, recording}, "main.f    500ms→500ms  500ms→500ms  1.00→1.00  ~", 0},
		{"one side", []string{old}, "diff: takes OLD... -- NEW..., or OLD NEW", cli.ExitUsage},
		{"no side", nil, "diff: takes OLD... -- NEW..., or OLD NEW", cli.ExitUsage},
		{"three without a border", []string{old, same, slower}, "diff: takes OLD... -- NEW..., or OLD NEW", cli.ExitUsage},
		{"cut", []string{old, cut}, cut + ":1: the line is cut, or no JSON", cli.ExitFailed},
		{"a run twice", []string{old, old, "--", same}, "add up " + old + ": the run on web", cli.ExitFailed},
		{"an output that is read", []string{"-w", same, old, same}, "which is in use", cli.ExitUsage},
		{"no aspect", []string{"--compare", "speed", old, same}, `parse aspect "speed": not calls, errors, latency, tail`, cli.ExitUsage},
		{"stacks", []string{"-o", "pprof", old, same}, "diff: -o pprof is for probe", cli.ExitUsage},
	} {
		r := ftgo(t, append([]string{"diff"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stdout+r.stderr, c.want) {
			t.Errorf("%s: status %d, want %d with %q\n%s%s", c.scenario, r.code, c.code, c.want, r.stdout, r.stderr)
		}
	}
	evil := files(t, ranWith(t, 1, "\x1b[2J", behaviour{"main.\x1b[2Jget", 500, 76e3, 2}))[0]
	for _, format := range []string{"table", "json", "csv", "tsv"} {
		if r := ftgo(t, "diff", "-o", format, "--fail", old, same, third, "--", evil); strings.Contains(r.stdout+r.stderr, "\x1b") || r.code != cli.ExitFailIf {
			t.Errorf("-o %s: status %d\n%q\n%q", format, r.code, r.stdout, r.stderr)
		}
	}
	page := readFile(t, filepath.Join(fixture.Root(), "docs", "examples", "diff.md"))
	if r := ftgo(t, "diff", "--compare", "calls,latency,tail", old, same, third, "--", slower, slow2); !strings.Contains(page, "\n```\n"+r.stdout+"```\n") {
		t.Errorf("docs/examples/diff.md does not show\n%s", r.stdout)
	}
}

// TestDiffEqualsReport: the numbers of a side are those that report adds up.
func TestDiffEqualsReport(t *testing.T) {
	names := files(t, ranWith(t, 1, "a", behaviour{"main.get", 500, 5e4, 1}), ranWith(t, 2, "b", behaviour{"main.get", 700, 6e4, 3}))
	diff := ftgo(t, append([]string{"diff", "-o", "json", names[0], "--"}, names...)...)
	sum := ftgo(t, append([]string{"report", "-o", "json"}, names...)...)
	var p50, p99, errors uint64
	row := sum.stdout[strings.Index(sum.stdout, `"ns":`):]
	if _, err := fmt.Sscanf(row[strings.Index(row, `"p50":`):], `"p50":%d`, &p50); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(row[strings.Index(row, `"p99":`):], `"p99":%d`, &p99); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(sum.stdout[strings.Index(sum.stdout, `"errors":`):], `"errors":%d`, &errors); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"new_calls":1200`, fmt.Sprintf(`"new":%d,`, p50), fmt.Sprintf(`"new":%d,`, p99), fmt.Sprintf(`"new":%v,`, float64(errors)/1200), `"new":30,`,
	} {
		if !strings.Contains(diff.stdout, want) {
			t.Errorf("no %s in %s", want, diff.stdout)
		}
	}
}
