package view

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/where"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// parseFailIf parses the value of --fail-if, a condition on the numbers of a function. It returns an error for an
// unknown number. See [Options.CheckFailIf] for numbers that only some commands measure.
func parseFailIf(text string) (where.Expr, error) {
	e, err := where.Parse(text)
	if err != nil {
		return e, err
	}
	return e, e.Check(func(path string) (*gotype.Type, error) {
		switch {
		case rowCounts[path] != nil:
			return countType, nil
		case rowLatency(path) != nil:
			return nsType, nil
		}
		names := slices.Collect(maps.Keys(rowCounts))
		for _, s := range stats.Statistics {
			names = append(names, s.Name)
		}
		slices.Sort(names)
		return nil, fmt.Errorf("unknown number %q (want %s, or a percentile like p95)", path, strings.Join(names, ", "))
	})
}

var (
	countType, _ = gotype.Basic("uint64")
	nsType, _    = gotype.Basic("int64")
)

// rowCounts are the counts of a row that --fail-if and --sort can use, by their names in JSON.
var rowCounts = map[string]func(stats.Func) uint64{
	"calls":     func(r stats.Func) uint64 { return uint64(r.Number()) },
	"completed": func(r stats.Func) uint64 { return r.Completed },
	"unwound":   func(r stats.Func) uint64 { return r.Unwound },
	"open":      func(r stats.Func) uint64 { return r.Open },
	"lost":      func(r stats.Func) uint64 { return r.Lost },
	"rate":      func(r stats.Func) uint64 { return uint64(r.Rate()) },
	"errors":    func(r stats.Func) uint64 { return r.Errors },
}

// rowLatency returns the latency of a row with a name in JSON, or a percentile with two to six digits, like p95 and p999.
// It returns nil for an unknown name.
func rowLatency(name string) func(stats.Func) int64 {
	if name == "sum" {
		return func(r stats.Func) int64 { return scaled(r, r.ShownLatency().Sum()) }
	}
	for _, s := range stats.Statistics {
		if s.Name == name {
			return func(r stats.Func) int64 { return s.Of(r.ShownLatency()) }
		}
	}
	digits, isPercentile := strings.CutPrefix(name, "p")
	q, err := strconv.ParseFloat("0."+digits, 64)
	if !isPercentile || err != nil || len(digits) < 2 || len(digits) > 6 || strings.Trim(digits, "0123456789") != "" {
		return nil
	}
	return func(r stats.Func) int64 { return r.ShownLatency().Quantile(q) }
}

// exprRow is a row as a [where.Call], so that conditions can be evaluated for it.
type exprRow struct{ stats.Func }

// Value returns a number of the row, nil if it is unknown: a latency if no call returned, or the number of errors if the
// function does not return an error.
func (c exprRow) Value(path string) *capture.Value {
	switch count := rowCounts[path]; {
	case count != nil && (path != "errors" || c.ReturnsErrors):
		return &capture.Value{Name: path, Type: countType, Num: count(c.Func)}
	case count == nil && c.Latency != nil && c.Latency.Count() > 0:
		return &capture.Value{Name: path, Type: nsType, Num: uint64(rowLatency(path)(c.Func))}
	}
	return nil
}

// sortRows sorts rows by a key of --sort, the largest first, or by name. Rows with equal keys are sorted by the number
// of calls, and then by name, host and value. Rows with an unknown latency or number of errors come last. In every
// order, rows without a value of --by come after rows with a value.
func sortRows(rows []stats.Func, order string) {
	less := func(a, b stats.Func) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Host, b.Host), strings.Compare(a.Value, b.Value))
	}
	if order == "name" {
		slices.SortStableFunc(rows, func(a, b stats.Func) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), less(a, b)) })
		return
	}
	key := func(r stats.Func) int64 {
		switch {
		case order == "wait":
			return scaled(r, r.ShownSplit().Waiting)
		case order == "sum":
			n, _, _ := r.AmountTotal()
			return n
		}
		if n := (exprRow{r}).Value(strings.Replace(order, "total", "sum", 1)); n != nil {
			return int64(n.Num)
		}
		return -1
	}
	slices.SortStableFunc(rows, func(a, b stats.Func) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(key(b), key(a)), cmp.Compare(b.Number(), a.Number()), less(a, b))
	})
}

// scaled extrapolates a sum over the timed calls to all calls. It returns 0 if the number of all calls is unknown.
func scaled(r stats.Func, sum int64) int64 {
	if scale := r.Scale(); !math.IsNaN(scale) {
		return int64(float64(sum) * scale)
	}
	return 0
}

// CheckFailIf returns an error if --fail-if uses a number that the run does not measure, because the condition could never
// be true. If latency is true, the run measures latencies. If errors is true, it counts errors. errorFlag is the command
// and flag that would count errors.
func (o *Options) CheckFailIf(latency, errors bool, errorFlag string) error {
	for _, ref := range o.FailIf.Refs() {
		switch {
		case !latency && ref.Path != "calls" && ref.Path != "rate":
			return cli.Usage("--fail-if %q: only calls and rate are known of calls that are counted: not %s", o.FailIf.Source, ref.Path)
		case !errors && ref.Path == "errors":
			return cli.Usage("--fail-if %q: errors are counted with %s alone", o.FailIf.Source, errorFlag)
		}
	}
	return nil
}

// failIf returns an error with status [cli.ExitFailIf] if the condition of --fail-if is true for a row. The error has the
// numbers of the first such row that the condition uses. An unknown number makes no comparison true.
func (o *Options) failIf(rows []stats.Func) error {
	if o.FailIf.Source == "" {
		return nil
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(row stats.Func) bool { return o.FailIf.Eval(exprRow{row}) != where.True })
	if len(rows) == 0 {
		return nil
	}
	var numbers []string
	for _, ref := range o.FailIf.Refs() {
		text := "not known"
		if n := (exprRow{rows[0]}).Value(ref.Path); n != nil && n.Type == nsType {
			text = printable.Duration(int64(n.Num))
		} else if n != nil {
			text = fmt.Sprint(n.Num)
		}
		numbers = append(numbers, ref.Path+" "+text)
	}
	others := ""
	if n := len(rows) - 1; n > 0 {
		others = fmt.Sprintf(", and of %d more", n)
	}
	name := printable.Text(strings.TrimSpace(rows[0].Name + " " + rows[0].Value))
	return cli.WithStatus(cli.ExitFailIf, fmt.Errorf("%s: true of %s (%s)%s", o.FailIf.Source, name, strings.Join(numbers, ", "), others))
}
