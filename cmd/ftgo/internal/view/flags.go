// Package view is what a command makes of what happens in a program: tables, lines, trees of calls, and variables.
package view

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/where"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Options are what views are told by flags.
type Options struct {
	*cli.Env
	cli.Target
	cli.Output
	TableFlags
	Lines LineFlags
	Fetch target.Fetch

	Program  []string
	Fork     bool          // processes that those of -p or PROGRAM start are traced, too
	Stack    int           // how many callers are shown
	Interval time.Duration // 0 for none
	Calls    uint64        // how many are enough, 0 for all
	Sched    bool          // latencies are split by what the scheduler did
	DryRun   bool          // it is told who evaluates what of --where
	// Whole tells that nothing of --where is for the kernel: what that drops is not there for
	// others to be inside of.
	Whole bool
	Adds  bool // a table is added up with others, which are written together
}

// Mixed tells whether several processes may be seen, so that lines must name them.
func (o *Options) Mixed() bool {
	return o.Fork || len(o.PIDs) > 1 || len(o.PIDs) == 0 && len(o.Program) == 0
}

// LineFlags are which calls have lines, and what the lines show.
type LineFlags struct {
	Where    string
	Errors   bool
	Min      time.Duration
	Slow     time.Duration // only trees are wanted that took longer, unless it is 0
	Tree     bool
	Depth    int
	Entries  bool // only begins are shown: calls are not seen to end
	Times    bool
	Template Template
	Live     bool // calls are traced now; recordings have all of their values
}

// Trees tells whether calls are shown as trees.
func (l *LineFlags) Trees() bool { return l.Tree || l.Slow > 0 }

// short tells whether values are for people to read at a glance.
func (o *Options) short() bool {
	return o.Format == render.Table && !o.Full && o.Lines.Template.Text == ""
}

// Template is what --format makes lines of.
type Template struct {
	Text  string
	Names []string // of values: there are none without verbs
}

var templateForm = cli.Form[Template]{
	Name:  "TEMPLATE NAMES",
	More:  func(text string) bool { return strings.Contains(strings.ReplaceAll(text, "%%", ""), "%") },
	Write: func(t Template) string { return t.Text },
	Read: func(text string) (t Template, err error) {
		text, names, _ := strings.Cut(text, "\x00")
		if t.Text = text; names != "" {
			t.Names = printable.SplitOutside(names, ",")
		}
		return t, nil
	},
}

// DefineLines defines the flags that say which calls have lines.
func (o *Options) DefineLines(fs *cli.Flags) {
	l := &o.Lines
	fs.StringVar(&o.Inside, "inside", "", "show only calls that `FUNC` makes, directly or not")
	fs.StringVar(&l.Where, "where", "", "show only calls for which `EXPR` is true: 'n > 100'")
	fs.BoolVar(&l.Errors, "errors", false, "show only calls whose last result is an error")
	cli.Define(fs, &l.Min, "min", "", "show only calls that took `SECONDS` or longer, like 5ms", cli.Seconds)
	cli.Define(fs, &l.Slow, "slow", "", "show only trees whose first call took over `SECONDS`, like 50ms", cli.Seconds)
	fs.BoolVar(&l.Tree, "tree", false, "show calls as trees, with the goroutines that they start")
	fs.IntVarP(&l.Depth, "depth", "D", 0, "show calls nested less than `N` deep")
	fs.BoolVar(&l.Entries, "entries", false, "show only how calls begin, which is much cheaper")
	fs.BoolVarP(&l.Times, "timestamp", "T", false, "begin lines with the time")
	cli.Define(fs, &l.Template, "format", "", "write lines by `TEMPLATE NAMES`: 'key=%q n=%d' key,n", templateForm)
	fs.Check(l.check)
}

func (l *LineFlags) check(command string) error {
	if names := strings.Join(l.Template.Names, ","); cli.IsFile(names) {
		return cli.Usage("%s: --format %q takes the names of its values: %s is a file", command, l.Template.Text, names)
	}
	return nil
}

// maxStrLen is an array of 64 words.
const maxStrLen = 512

// DefineFetch defines the flags that say how much is fetched of what pointers lead to.
func (o *Options) DefineFetch(fs *cli.Flags) {
	fs.IntVar(&o.Fetch.StrLen, "strlen", target.Usual.StrLen, "show up to `BYTES` of a string, at most 512")
	fs.IntVar(&o.Fetch.Items, "items", target.Usual.Items, "show the first `N` elements of a slice, at most 64")
	fs.Check(func(command string) error { return CheckFetch(command, o.Fetch) })
}

// CheckFetch refuses what the kernel does not fetch.
func CheckFetch(command string, f target.Fetch) error {
	switch {
	case f.StrLen < 1 || f.StrLen > maxStrLen:
		return cli.Usage("%s: --strlen %d: not 1 to %d", command, f.StrLen, maxStrLen)
	case f.Items < 1 || f.Items > 64:
		return cli.Usage("%s: --items %d: not 1 to 64", command, f.Items)
	}
	return nil
}

// DefineStack returns what defines --stack, whose help begins with what the command does with callers. The flag takes
// all numbers, to refuse those that are no depth.
func (o *Options) DefineStack(verb string) cli.Group {
	return func(fs *cli.Flags) {
		cli.Define(fs, &o.Stack, "stack", "s", verb+": up to `DEPTH` callers, or 15", cli.Form[int]{
			Name: "DEPTH", Bare: strconv.Itoa(uprobe.MaxStack), Write: strconv.Itoa,
			Read: func(text string) (int, error) {
				n, err := strconv.Atoi(text)
				if err != nil || n < 1 || n > uprobe.MaxStack {
					return 0, fmt.Errorf("parse depth %q: not 1 to %d", text, uprobe.MaxStack)
				}
				return n, nil
			},
		})
	}
}

// TableFlags are what tables show.
type TableFlags struct {
	Top       int
	Sort      string // what the first rows have most of, one of Orders, or "" for calls or the sum
	By, Sum   Value  // what rows are told apart by, and what of calls is added up
	Shown     bool   // a recording has all values that trace would show
	PerHost   bool   // rows of each machine
	Hist      bool
	Errors    bool
	FailIf    Value
	Summaries bool // JSON has one of each interval
}

// Define defines the flags of probe.
func (t *TableFlags) Define(fs *cli.Flags) {
	t.defineRows(fs, Orders...)
	fs.BoolVar(&t.Errors, "errors", false, "also count the calls whose last result was an error")
	fs.BoolVar(&t.Hist, "hist", false, "add a histogram of each function: of --sum, or else of latencies")
	t.defineFailIf(fs, "'calls == 0 || p99 > 10ms'")
	fs.Check(func(string) error {
		t.Errors = t.Errors || t.Sort == "errors" || t.FailIf.asks("errors")
		return nil
	})
}

// DefineCount defines those of them that count has.
func (t *TableFlags) DefineCount(fs *cli.Flags) {
	t.defineRows(fs, "calls", "rate", "sum", "name")
	t.defineFailIf(fs, "'calls == 0 || rate > 1000'")
}

// Orders are what rows of functions can be sorted by. Total is the time of all completed calls
// together, wait what --sched says of it, sum what --sum adds up.
var Orders = []string{"calls", "rate", "total", "mean", "p50", "p90", "p95", "p99", "p999", "max", "errors", "wait", "sum", "name"}

func (t *TableFlags) defineRows(fs *cli.Flags, orders ...string) {
	fs.IntVarP(&t.Top, "top", "t", 0, "show only the first `N` functions")
	cli.Define(fs, &t.Sort, "sort", "", "sort functions by `KEY`, like "+orders[min(2, len(orders)-1)],
		cli.OneOf("KEY", "order", "not "+strings.Join(orders, ", "), orders...))
	cli.Define(fs, &t.By, "by", "", "show a row for each value of `EXPR`: req.URL.Path, 'key[:4]', goid, pid, stack", rowForm)
	cli.Define(fs, &t.Sum, "sum", "", "add up `EXPR`, like a size, over calls", amountForm)
}

func (t *TableFlags) defineFailIf(fs *cli.Flags, example string) {
	cli.Define(fs, &t.FailIf, "fail-if", "", "exit with status 6 if `EXPR` is true of a function: "+example,
		cli.Form[Value]{Read: parseFailIf, Write: func(f Value) string { return f.Text }})
}

// parseFailIf reads the value of --fail-if: a condition on the numbers of a function. What
// is not known, such as latencies of a function that never returned, fails nothing; what a
// command never knows is refused.
func parseFailIf(text string) (f Value, err error) {
	f.Text = text
	if f.expr, err = where.Parse(text); err != nil {
		return f, err
	}
	return f, f.expr.Check(func(path string) (*gotype.Type, error) {
		number, ok := rowNumberOf(path)
		if !ok {
			return nil, fmt.Errorf("unknown number %q: there are %s, and percentiles like p95", path, strings.Join(slices.Sorted(maps.Keys(rowNumbers)), ", "))
		}
		return number.typ, nil
	})
}

// rowNumber is a number of a row.
type rowNumber struct {
	typ *gotype.Type
	of  func(stats.Func) uint64
}

var (
	countType, _ = gotype.Basic("uint64")
	nsType, _    = gotype.Basic("int64")
)

// rowNumbers have the names that they have in JSON.
var rowNumbers = map[string]rowNumber{
	"calls":     {countType, func(r stats.Func) uint64 { return uint64(r.Number()) }},
	"completed": {countType, func(r stats.Func) uint64 { return r.Completed }},
	"unwound":   {countType, func(r stats.Func) uint64 { return r.Unwound }},
	"open":      {countType, func(r stats.Func) uint64 { return r.Open }},
	"lost":      {countType, func(r stats.Func) uint64 { return r.Lost }},
	"rate":      {countType, func(r stats.Func) uint64 { return uint64(r.Rate()) }},
	"errors":    {countType, func(r stats.Func) uint64 { return r.Errors }},
}

func init() {
	for _, s := range stats.Statistics {
		rowNumbers[s.Name] = rowNumber{nsType, func(r stats.Func) uint64 { return uint64(s.Of(r.Shown())) }}
	}
	rowNumbers["sum"] = rowNumber{nsType, func(r stats.Func) uint64 { return uint64(times(r, r.Shown().Sum())) }}
}

// rowNumberOf is a number by its name: one of rowNumbers, or another percentile, p95 or p999.
func rowNumberOf(path string) (n rowNumber, ok bool) {
	digits, isPercentile := strings.CutPrefix(path, "p")
	if n, ok = rowNumbers[path]; ok || !isPercentile || len(digits) < 2 || len(digits) > 6 || strings.Trim(digits, "0123456789") != "" {
		return n, ok
	}
	q, err := strconv.ParseFloat("0."+digits, 64)
	return rowNumber{nsType, func(r stats.Func) uint64 { return uint64(r.Shown().Quantile(q)) }}, err == nil
}

// rowCall makes a row what conditions ask.
type rowCall struct{ stats.Func }

func (c rowCall) Value(path string) *capture.Value {
	n, _ := rowNumberOf(path)
	if n.typ == nsType && (c.Latency == nil || c.Latency.Count() == 0) || path == "errors" && !c.ReturnsErrors {
		return nil
	}
	return &capture.Value{Name: path, Type: n.typ, Num: n.of(c.Func)}
}

// sortRows puts the rows first that have most of what an order is by, and then those with most calls.
// Rows of which that is not known come last, and behind them those of no value.
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
			return times(r, r.Spent().Waiting)
		case order == "sum":
			n, _, _ := r.AmountTotal()
			return n
		}
		if n := (rowCall{r}).Value(strings.Replace(order, "total", "sum", 1)); n != nil {
			return int64(n.Num)
		}
		return -1
	}
	slices.SortStableFunc(rows, func(a, b stats.Func) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(key(b), key(a)), cmp.Compare(b.Number(), a.Number()), less(a, b))
	})
}

// times is a sum over timed calls for all calls, 0 if that is not known.
func times(r stats.Func, sum int64) int64 {
	if scale := r.Scale(); !math.IsNaN(scale) {
		return int64(float64(sum) * scale)
	}
	return 0
}

// asks tells whether a condition is about a number.
func (v *Value) asks(number string) bool {
	return slices.Contains(v.expr.Refs(), where.Ref{Path: number})
}

// CheckKnown refuses a condition on numbers that are not there, since it would never be true:
// latency says that calls are seen to end, errors that their results are looked at, and mend
// what does that.
func (v *Value) CheckKnown(latency, errors bool, mend string) error {
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
func (v *Value) check(rows []stats.Func) error {
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
func (v *Value) explain(row stats.Func) string {
	var numbers []string
	for _, ref := range v.expr.Refs() {
		text := "not known"
		if n := (rowCall{row}).Value(ref.Path); n != nil && n.Type == nsType {
			text = printable.Duration(int64(n.Num))
		} else if n != nil {
			text = fmt.Sprint(n.Num)
		}
		numbers = append(numbers, ref.Path+" "+text)
	}
	return fmt.Sprintf("%s (%s)", printable.Text(strings.TrimSpace(row.Name+" "+row.Value)), strings.Join(numbers, ", "))
}
