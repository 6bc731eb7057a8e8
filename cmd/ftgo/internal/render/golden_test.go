package render

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/schema"
)

// golden compares the output of write with testdata/NAME.golden, or updates the file if FTGO_UPDATE=1 is set.
func golden(t *testing.T, name string, write func(*bytes.Buffer) error) {
	t.Helper()
	var got bytes.Buffer
	fixture.NoError(t, write(&got))
	if schema.IsLines(got.String()) {
		if err := schema.Check(got.String()); err != nil {
			t.Error(err)
		}
	}
	fixture.Golden(t, filepath.Join("testdata", name+".golden"), got.String())
}

// TestGolden compares runs and calls in each format with golden files.
func TestGolden(t *testing.T) {
	type writer = func(*bytes.Buffer) error
	functions := func(rows []stats.Func, o RowOptions) writer {
		return func(b *bytes.Buffer) error { return Functions(b, rows, o) }
	}
	lines := func(o LineOptions, calls ...Line) writer {
		return func(b *bytes.Buffer) error { return writeCalls(b, o, calls...) }
	}
	list := func(rows []target.Listed, f Format, width int) writer {
		return func(b *bytes.Buffer) error { return List(b, rows, Style{Format: f, Width: width}) }
	}
	summary := func(s stats.Summary) writer {
		return func(b *bytes.Buffer) error { return SummaryJSON(b, s, nil) }
	}
	probed := func(p *stats.Probing) stats.Summary {
		return stats.Summary{Hits: 1, Delivered: 1, Probing: p, Seconds: 4, OwnCPU: 500 * time.Millisecond}
	}
	lossy := stats.Summary{
		Hits: 900000, Delivered: 504440, Lost: 395560, Unparsed: 2, Probes: 12, Functions: 4, Seconds: 10.25,
		Skipped: []stats.Skipped{{Function: "main.f<T>", Reason: "undecodable byte at +0x1a"}},
	}
	format, err := ParseCallFormat(`%-28s|%6d|%q|%v|%8s|%s`, []string{"func", "n", "key", "err", "latency", "r0"})
	fixture.NoError(t, err)
	end := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	sum := stats.Func{Name: "main.f", Completed: 2, Latency: histogram(812, 5e6), Amounts: &stats.Amounts{Histogram: *histogram(5, 6)}}
	unwound := Line{Function: "main.f", Thread: Thread{Goid: 7}, End: "unwound"}
	for name, write := range map[string]writer{
		"probe.table":                   functions(ordinary(), RowOptions{Style: Style{Width: 80}, Latency: true}),
		"probe-lossy.table":             functions(eventful(), RowOptions{Style: Style{Width: 80}, Latency: true}),
		"probe-extreme-unlimited.table": functions(extreme(), RowOptions{Latency: true}),
		"probe-empty.table":             functions(nil, RowOptions{Style: Style{Width: 80}, Latency: true}),
		"probe.json":                    functions(eventful(), RowOptions{Style: Style{Format: JSON}, Latency: true}),
		"probe.csv":                     functions(eventful(), RowOptions{Style: Style{Format: CSV}, Latency: true}),
		"count.table":                   functions(counted(), RowOptions{Style: Style{Width: 80}}),
		"count.json":                    functions(append(counted(), ordinary()[0]), RowOptions{Style: Style{Format: JSON}}), // without the latencies of the last row
		"count.csv":                     functions(counted(), RowOptions{Style: Style{Format: CSV}}),
		"interval.csv":                  functions(counted(), RowOptions{Style: Style{Format: CSV}, Interval: &Interval{1, end}}),
		"interval.json":                 functions(counted(), RowOptions{Style: Style{Format: JSON}, Interval: &Interval{3, end}}),
		"split.table":                   functions(splitRows(), RowOptions{Latency: true, Sched: true}),
		"split.csv":                     functions(splitRows(), RowOptions{Style: Style{Format: CSV}, Latency: true, Sched: true}),
		"split.json":                    functions(splitRows(), RowOptions{Style: Style{Format: JSON}, Latency: true, Sched: true}),
		"events.table":                  functions(withEvents(), RowOptions{Events: eventNames}),
		"events.json":                   functions(withEvents(), RowOptions{Style: Style{Format: JSON}, Events: eventNames}),
		"events.csv":                    functions(withEvents(), RowOptions{Style: Style{Format: CSV}, Events: eventNames}),
		// Totals are of all calls, with bounds, or missing. In a table, the mark is before CALLS.
		"budget-table":   functions(budgeted(), RowOptions{Latency: true, Budgeted: true}),
		"budget-json":    functions(budgeted(), RowOptions{Style: Style{Format: JSON}, Latency: true, Budgeted: true}),
		"budget-csv":     functions(budgeted(), RowOptions{Style: Style{Format: CSV}, Latency: true, Budgeted: true}),
		"budget-count":   functions(budgeted(), RowOptions{}),
		"budget-summary": summary(stats.Summary{Hits: 31, Delivered: 31, Seconds: 10, Budget: 0.05}),
		// ≈ marks a correction that is larger than the latency, < raw latencies, and each number has bounds.
		"corrected-table": functions(corrected(), RowOptions{Latency: true}),
		"corrected-json":  functions(corrected(), RowOptions{Style: Style{Format: JSON}, Latency: true}),
		"corrected-csv":   functions(corrected(), RowOptions{Style: Style{Format: CSV}, Latency: true}),
		"summary-probing": summary(probed(probing(3e9))),
		"summary-changes": summary(probed(changing)),
		"summary.json":    summary(lossy),
		"histograms": func(b *bytes.Buffer) error {
			return Histograms(b, append(ordinary(), eventful()...), RowOptions{Hist: true})
		},
		"histograms-of-sum": func(b *bytes.Buffer) error {
			return Histograms(b, []stats.Func{sum}, RowOptions{Hist: true, Amount: "n"})
		},
		"list.table":         list(listed(), Table, 0),
		"list-inlined.table": list(inlinedRows(), Table, 0),
		"list-inlined.json":  list(inlinedRows(), JSON, 0),
		"list.json":          list(listed(), JSON, 0),
		"list.csv":           list(listed(), CSV, 0),
		"calls":              lines(LineOptions{}, calls()...),
		"calls-times":        lines(LineOptions{Times: true, Processes: true}, calls()...),
		"calls-format":       lines(LineOptions{Template: format, Times: true}, calls()...),
		"calls.json":         lines(LineOptions{Style: Style{Format: JSON}}, calls()...),
		"calls.csv":          lines(LineOptions{Style: Style{Format: CSV}}, calls()...),
		"calls-stack.table":  lines(LineOptions{Stacks: true}, stacked()...),
		"calls-stack.json":   lines(LineOptions{Style: Style{Format: JSON}, Stacks: true}, stacked()...),
		"calls-stack.csv":    lines(LineOptions{Style: Style{Format: CSV}, Stacks: true}, stacked()...),
		"calls-split":        lines(LineOptions{Sched: true}, splitLine(), unwound),
		"calls-split.json":   lines(LineOptions{Style: Style{Format: JSON}, Sched: true}, splitLine(), unwound),
		"calls-split.tsv":    lines(LineOptions{Style: Style{Format: TSV}, Sched: true}, splitLine(), unwound),
		// With --entries, there are only lines of begins.
		"begins":        lines(LineOptions{}, begin(get())),
		"begins-format": lines(LineOptions{Template: format}, begin(get())),
		"begins.json":   lines(LineOptions{Style: Style{Format: JSON}}, begin(get())),
		"tree-split": func(b *bytes.Buffer) error {
			line := splitLine()
			return NewCallWriter(b, LineOptions{Sched: true}).Tree(&Tree{First: &line, Lines: []*Line{&line, {Function: "main.g", Level: 1}}})
		},
		"trees.json":         treesJSON,
		"stacks":             func(b *bytes.Buffer) error { return StackText(b, stacks(), "", 0, 0) },
		"stacks-top":         func(b *bytes.Buffer) error { return StackText(b, stacks(), "", 0, 1) },
		"stacks.json":        func(b *bytes.Buffer) error { return StackJSON(b, stacks(), "") },
		"allocations.table":  allocations(AllocationOptions{Sort: 3, Total: stats.Allocations{Values: [4]int64{3: 10000}}}),
		"allocations-narrow": allocations(AllocationOptions{Style: Style{Width: 60}, Lines: true, Sort: 3, Total: stats.Allocations{Values: [4]int64{3: 10000}}}),
		"allocations.json":   allocations(AllocationOptions{Style: Style{Format: JSON}, Lines: true, Changing: true}),
		"allocations.csv":    allocations(AllocationOptions{Style: Style{Format: CSV}}),
		"allocations.folded": func(b *bytes.Buffer) error { return FoldedAllocations(b, allocated(), 3) },
		"stacks.folded":      func(b *bytes.Buffer) error { return FoldedStacks(b, stacks(), "") },
		"stacks.pprof":       func(b *bytes.Buffer) error { return pprofStacks(b, stacks()) },
		"stacks-runnable.pprof": func(b *bytes.Buffer) error { // runnable time has a separate frame
			waited := stacks()[:1]
			waited[0].Runnable = 600_000
			return pprofStacks(b, waited)
		},
		"histograms-units": func(b *bytes.Buffer) error {
			var rows []stats.Func
			for _, of := range [][2]int64{{812, 5e6}, {1000, 5e6}, {1e6, 2e6}, {1e9, 3600e9}, {812, 9e9}, {812, 7200 * 1e9 * 2}, {0, math.MaxInt64}} {
				rows = append(rows, stats.Func{Name: fmt.Sprint(of), Latency: histogram(of[0], of[1])})
			}
			return Histograms(b, rows, RowOptions{Hist: true})
		},
	} {
		golden(t, name, write)
	}
}

func histogram(values ...int64) *stats.Histogram {
	h := new(stats.Histogram)
	for _, v := range values {
		h.Record(v)
	}
	return h
}

// spread returns a histogram of n latencies from lo on, each about a tenth longer than the one before.
func spread(n int, lo int64) *stats.Histogram {
	h := new(stats.Histogram)
	for range n {
		h.Record(lo)
		lo += lo/10 + 1
	}
	return h
}

// ordinary returns the rows of a run without losses.
func ordinary() []stats.Func {
	return []stats.Func{
		{Name: "main.(*Store).Get", Calls: 15501, Completed: 15501, Latency: spread(60, 812), Seconds: 10},
		{Name: "main.fib", Calls: 23, Completed: 23, Latency: spread(23, 95), Seconds: 10},
		{Name: "net/http.(*conn).serve", Calls: 7, Completed: 7, Latency: spread(7, 3e9), Seconds: 10},
		{Name: "main.once", Calls: 1, Completed: 1, Latency: histogram(4350), Seconds: 10},
		{Name: "main.never", Latency: histogram(), Seconds: 10},
	}
}

// valued returns rows of values of one function. If several is set, all rows but the first are of another function.
func valued(several bool) []stats.Func {
	amounts := func(values ...int64) *stats.Amounts { return &stats.Amounts{Histogram: *histogram(values...)} }
	rows := []stats.Func{
		{Value: "/api/users/1234/orders/5678/lines?page=12&size=100", Calls: 120, Completed: 120, Latency: spread(120, 800), Amounts: amounts(1_500_000, 2_500_000)},
		{Value: "\x1b[31m\n=1+1", Calls: 7, Completed: 7, Latency: spread(7, 3e9), Missed: 3, Amounts: amounts(4, 5, 6)},
		{Value: "nil pointer", Kind: stats.NoValue, Calls: 2, Completed: 2, Latency: spread(2, 50), Amounts: &stats.Amounts{Missing: 2}},
		{Kind: stats.Others, Calls: 1000, Completed: 999, Unwound: 1, Latency: spread(100, 95), Amounts: amounts(1, 2, 3)},
	}
	for i := range rows {
		rows[i].Name = "net/http.serverHandler.ServeHTTP"
		if several && i > 0 {
			rows[i].Name, rows[i].Func = "main.handle", 1
		}
	}
	return rows
}

// eventful returns the rows of a run with lost, unwound and open calls.
func eventful() []stats.Func {
	return []stats.Func{
		{Name: "main.hot", Calls: 450000, Completed: 252220, Lost: 197780, Latency: spread(90, 300), Seconds: 10},
		{Name: "main.(*Parser).MustParse", Calls: 101, Completed: 98, Unwound: 3, Latency: spread(98, 1000), Seconds: 10},
		{Name: "main.serve", Calls: 2, Open: 2, Latency: histogram(), Seconds: 10},
		{Name: "main.exit", Calls: 1, Note: "entry only: no return site", Latency: histogram(), Seconds: 10},
	}
}

// extreme returns rows with the longest numbers, names of 30 columns, and every column.
func extreme() []stats.Func {
	const trillion = 1_000_000_000_000
	long := histogram(999, 3_600_000_000_000, 9_999_499_999_999, 90_000_000_000_000)
	return []stats.Func{
		{Name: "github.com/a/pkg.(*Type).Do30c", Calls: trillion, Completed: trillion, Latency: long, Seconds: 1000.1},
		{Name: "github.com/a/b/c/pkg.(*VeryLongTypeName).VeryLongMethodName", Calls: trillion,
			Unwound: trillion, Open: trillion, Lost: trillion, Latency: long, Seconds: 8.1e6},
		{Name: "main.Map[go.shape.int,go.shape.string]", Calls: 1, Latency: histogram(4350, 4350, 4351, 12345678)},
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken pipe")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }
