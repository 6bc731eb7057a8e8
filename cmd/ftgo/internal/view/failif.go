package view

import (
	"fmt"
	"maps"
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
		number, ok := rowNumbers[path]
		if !ok {
			return nil, fmt.Errorf("unknown number %q: there are %s", path, strings.Join(slices.Sorted(maps.Keys(rowNumbers)), ", "))
		}
		return number.typ, nil
	})
}

// rowNumber is a number of a row.
type rowNumber struct {
	typ *gotype.Type
	of  func(stats.Row) uint64
}

var (
	countType, _ = gotype.Basic("uint64")
	nsType, _    = gotype.Basic("int64")
)

// rowNumbers have the names that they have in JSON.
var rowNumbers = map[string]rowNumber{
	"calls":     {countType, func(r stats.Row) uint64 { return r.Calls }},
	"completed": {countType, func(r stats.Row) uint64 { return r.Completed }},
	"unwound":   {countType, func(r stats.Row) uint64 { return r.Unwound }},
	"open":      {countType, func(r stats.Row) uint64 { return r.Open }},
	"lost":      {countType, func(r stats.Row) uint64 { return r.Lost }},
	"rate":      {countType, func(r stats.Row) uint64 { return uint64(r.Rate) }},
	"errors":    {countType, func(r stats.Row) uint64 { return r.Errors }},
}

func init() {
	for _, s := range stats.Statistics {
		rowNumbers[s.Name] = rowNumber{nsType, func(r stats.Row) uint64 { return uint64(s.Of(r.Latency)) }}
	}
}

// rowCall makes a row what conditions ask.
type rowCall stats.Row

func (c rowCall) Value(path string) *capture.Value {
	n := rowNumbers[path]
	if n.typ == nsType && (c.Latency == nil || c.Latency.Count() == 0) || path == "errors" && !c.ReturnsErrors {
		return nil
	}
	return &capture.Value{Name: path, Type: n.typ, Num: n.of(stats.Row(c))}
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

// check is an error if the condition is true of one of the rows.
func (v *FailIf) check(rows []stats.Row) error {
	if v.Text == "" {
		return nil
	}
	var failing []string
	for _, row := range rows {
		if v.expr.Eval(rowCall(row)) == where.True {
			failing = append(failing, v.explain(row))
		}
	}
	if len(failing) == 0 {
		return nil
	}
	others := ""
	if n := len(failing) - 1; n > 0 {
		others = fmt.Sprintf(", and of %d more", n)
	}
	return cli.WithStatus(cli.ExitFailIf, fmt.Errorf("%s: true of %s%s", v.Text, failing[0], others))
}

// explain is a function with the numbers that the condition asks for.
func (v *FailIf) explain(row stats.Row) string {
	var numbers []string
	for _, ref := range v.expr.Refs() {
		text := "not known"
		if n := rowCall(row).Value(ref.Path); n != nil && n.Type == nsType {
			text = units.Duration(int64(n.Num))
		} else if n != nil {
			text = fmt.Sprint(n.Num)
		}
		numbers = append(numbers, ref.Path+" "+text)
	}
	return fmt.Sprintf("%s (%s)", printable.Text(row.Name), strings.Join(numbers, ", "))
}
