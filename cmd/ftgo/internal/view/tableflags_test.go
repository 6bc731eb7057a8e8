package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
)

func TestSortRows(t *testing.T) {
	row := func(name string, calls int, ns int64, f stats.Func) stats.Func {
		f.Name, f.Calls = name, uint64(calls)
		if ns > 0 {
			f.Latency = new(stats.Histogram)
			for range calls {
				f.Latency.Record(ns)
			}
		}
		return f.Over(1)
	}
	rows := []stats.Func{
		row("a", 9, 0, stats.Func{}),
		row("b", 5, 1e3, stats.Func{Split: stats.Split{Waiting: 7}}),
		row("c", 5, 5e6, stats.Func{Errors: 1, ReturnsErrors: true}),
		row("d", 1, 9e6, stats.Func{Errors: 2, ReturnsErrors: true}),
		row("e", 5, 1e3, stats.Func{Split: stats.Split{Waiting: 8}}),
	}
	for order, want := range map[string]string{
		"calls": "abced", "rate": "abced", "total": "cdbea", "p99": "dcbea", "p999": "dcbea", "max": "dcbea", "errors": "dcabe", "wait": "ebacd", "name": "abcde",
	} {
		if !slices.Contains(orders, order) {
			t.Errorf("--sort %s is unknown", order)
		}
		sortRows(rows, order)
		got := ""
		for _, r := range rows {
			got += r.Name
		}
		if got != want {
			t.Errorf("%s: %s, want %s", order, got, want)
		}
	}
}

// TestTopRows checks that rows without a value come last in every order, and that --top does not count them.
func TestTopRows(t *testing.T) {
	row := func(value string, rest stats.RowKind, calls uint64, sizes ...int64) stats.Func {
		f := stats.Func{Name: "f", Value: value, Kind: rest, Calls: calls, Amounts: &stats.Amounts{}}
		for _, size := range sizes {
			f.Amounts.Record(size)
		}
		return f
	}
	rows := []stats.Func{row("", stats.Others, 9, 90), row("lost", stats.NoValue, 8), row("b", stats.Valued, 3, 1, 1), row("c", stats.Valued, 1, 7), row("a", stats.Valued, 2, 5)}
	for order, want := range map[string]string{"calls": "b a lost ", "sum": "c a lost ", "name": "a b lost "} {
		sortRows(rows, order)
		got := ""
		for _, r := range topRows(slices.Clone(rows), 2) {
			got += r.Value + " "
		}
		if got != want+" " {
			t.Errorf("%s: %q, want %q", order, got, want)
		}
	}
	for _, c := range []struct{ sum, sort, order, rankBy string }{
		{"", "", "calls", "calls"}, {"n", "", "sum", "sum"}, {"n", "calls", "calls", "calls"}, {"n", "p99", "p99", "time"}, {"", "name", "name", "calls"},
	} {
		flags := Options{TableFlags: TableFlags{Sort: c.sort}}
		flags.Sum.Source = c.sum
		if flags.order() != c.order || flags.rankBy() != c.rankBy {
			t.Errorf("%+v: %s, %s", c, flags.order(), flags.rankBy())
		}
	}
}

// TestStacksBeyond checks the warning about calls whose callers are unknown because there are too many stacks.
func TestStacksBeyond(t *testing.T) {
	for beyond, want := range map[uint64]string{0: "", 7: "ftgo: callers of 7 calls are unknown, because there were more than 100000 different stacks\n"} {
		var out, stderr strings.Builder
		stacks := &engine.Stacks{}
		stacks.Beyond = beyond
		r := &Table{common: common{opt: &Options{Output: cli.Output{Style: render.Style{Format: render.Folded}}}, Scene: &Scene{
			Env: &cli.Env{Stderr: &stderr, Quiet: true}, Out: &out, Stacks: stacks, Plan: &uprobe.Plan{},
		}}}
		if err := r.writeStacks(&trace.Reading{}); err != nil || out.String() != "" || stderr.String() != want {
			t.Errorf("%d: %v, %q, %q", beyond, err, out.String(), stderr.String())
		}
	}
}
