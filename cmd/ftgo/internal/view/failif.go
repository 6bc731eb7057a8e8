package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/where"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/offsets/gotype"
)

// FailIf is the value of --fail-if: a condition on the numbers of a function. What
// is not known, such as latencies of a function that never returned, fails nothing; what a
// command never knows is refused.
type FailIf struct {
	Text string
	expr where.Expr
}

func parseFailIf(text string) (f FailIf, err error) {
	f.Text = text
	if f.expr, err = where.Parse(text); err != nil {
		return f, err
	}
	return f, f.expr.Check(func(path string) (*gotype.Type, error) {
		n, ok := rowNumbers[path]
		if !ok {
			return nil, fmt.Errorf("unknown number %q: there are %s", path, strings.Join(rowNumberNames(), ", "))
		}
		t, _ := gotype.Basic(n.typ)
		return t, nil
	})
}

// rowNumber is one number of a row, as conditions name it.
type rowNumber struct {
	typ string // of Go
	of  func(stats.Row) (n uint64, known bool)
}

func counted(of func(stats.Row) uint64) rowNumber {
	return rowNumber{"uint64", func(r stats.Row) (uint64, bool) { return of(r), true }}
}

// taken is a number of nanoseconds that only a function with latencies has.
func taken(of func(stats.Latencies) int64) rowNumber {
	return rowNumber{"int64", func(r stats.Row) (uint64, bool) {
		if r.Latency == nil || r.Latency.Count() == 0 {
			return 0, false
		}
		return uint64(of(r.Latency)), true
	}}
}

// rowNumbers have the names that they have in JSON.
var rowNumbers = map[string]rowNumber{
	"calls":     counted(func(r stats.Row) uint64 { return r.Calls }),
	"completed": counted(func(r stats.Row) uint64 { return r.Completed }),
	"unwound":   counted(func(r stats.Row) uint64 { return r.Unwound }),
	"open":      counted(func(r stats.Row) uint64 { return r.Open }),
	"lost":      counted(func(r stats.Row) uint64 { return r.Lost }),
	"rate":      counted(func(r stats.Row) uint64 { return uint64(r.Rate) }),
	"errors":    {"uint64", func(r stats.Row) (uint64, bool) { return r.Errors, r.ReturnsErrors }},
}

func init() {
	for _, s := range stats.Statistics {
		rowNumbers[s.Name] = taken(s.Of)
	}
}

// CheckKnown refuses a condition on numbers that are not there, since it would never be true:
// latency says that calls are seen to end, errors that their results are looked at, and mend
// what does that.
func (v *FailIf) CheckKnown(latency, errors bool, mend string) error {
	for _, ref := range v.expr.Refs() {
		switch {
		case !latency && ref.Path != "calls" && ref.Path != "rate":
			return cli.Usage("--fail-if %q: only calls and rate are known of calls that are counted: not %s", v.Text, ref.Path)
		case !errors && ref.Path == "errors":
			return cli.Usage("--fail-if %q: errors are counted with %s alone", v.Text, mend)
		}
	}
	return nil
}

func rowNumberNames() []string {
	var names []string
	for name := range rowNumbers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// rowCall makes a row what conditions ask.
type rowCall struct{ row stats.Row }

func (c rowCall) Value(path string) *capture.Value {
	number := rowNumbers[path]
	t, _ := gotype.Basic(number.typ)
	n, known := number.of(c.row)
	if !known {
		return nil
	}
	return &capture.Value{Name: path, Type: t, Num: n}
}

func (c rowCall) Message(*capture.Value) (capture.Value, bool) { return capture.Value{}, false }

// check is an error if the condition is true of one of the rows.
func (v *FailIf) check(rows []stats.Row) error {
	if v.Text == "" {
		return nil
	}
	var failing []string
	for _, row := range rows {
		if v.expr.Eval(rowCall{row}) == where.True {
			failing = append(failing, v.explain(row))
		}
	}
	if len(failing) == 0 {
		return nil
	}
	return cli.WithStatus(cli.ExitFailIf, fmt.Errorf("%s: true of %s%s", v.Text, failing[0], andOthers(len(failing)-1)))
}

func andOthers(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and of %d more", n)
}

// explain is a function with the numbers that the condition asks for.
func (v *FailIf) explain(row stats.Row) string {
	var b strings.Builder
	b.WriteString(printable.Text(row.Name))
	for i, ref := range v.expr.Refs() {
		number := rowNumbers[ref.Path]
		n, known := number.of(row)
		text := fmt.Sprint(n)
		switch {
		case !known:
			text = "not known"
		case number.typ == "int64":
			text = units.Duration(int64(n))
		}
		b.WriteString([]string{" (", ", "}[min(i, 1)] + ref.Path + " " + text)
	}
	b.WriteString(")")
	return b.String()
}
