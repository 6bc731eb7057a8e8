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
		if !slices.Contains(rowNumbers, path) {
			return nil, fmt.Errorf("unknown number %q: there are %s", path, strings.Join(rowNumbers, ", "))
		}
		return numberType(path), nil
	})
}

// rowNumbers are the numbers of a row, by the names that they have in JSON.
var rowNumbers = func() []string {
	names := []string{"calls", "completed", "unwound", "open", "lost", "rate", "errors"}
	for _, s := range stats.Statistics {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}()

func statistic(name string) int {
	return slices.IndexFunc(stats.Statistics[:], func(s stats.Statistic) bool { return s.Name == name })
}

// numberType is int64 for nanoseconds.
func numberType(name string) *gotype.Type {
	t, _ := gotype.Basic("uint64")
	if statistic(name) >= 0 {
		t, _ = gotype.Basic("int64")
	}
	return t
}

// rowCall makes a row what conditions ask.
type rowCall struct{ row stats.Row }

func (c rowCall) Value(path string) *capture.Value {
	v := &capture.Value{Name: path, Type: numberType(path)}
	switch i := statistic(path); {
	case i >= 0 && (c.row.Latency == nil || c.row.Latency.Count() == 0):
		return nil
	case i >= 0:
		v.Num = uint64(stats.Statistics[i].Of(c.row.Latency))
	case path == "errors" && !c.row.ReturnsErrors:
		return nil
	case path == "rate":
		v.Num = uint64(c.row.Rate)
	default:
		v.Num = map[string]uint64{
			"calls": c.row.Calls, "completed": c.row.Completed, "unwound": c.row.Unwound, "open": c.row.Open,
			"lost": c.row.Lost, "errors": c.row.Errors,
		}[path]
	}
	return v
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
		if v.expr.Eval(rowCall{row}) == where.True {
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
		if n := (rowCall{row}).Value(ref.Path); n != nil && statistic(ref.Path) >= 0 {
			text = units.Duration(int64(n.Num))
		} else if n != nil {
			text = fmt.Sprint(n.Num)
		}
		numbers = append(numbers, ref.Path+" "+text)
	}
	return fmt.Sprintf("%s (%s)", printable.Text(row.Name), strings.Join(numbers, ", "))
}
