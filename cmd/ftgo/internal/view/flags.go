// Package view writes the results of a run: tables of functions, lines and trees of calls, and values of variables.
package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/where"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Options are the flags of views.
type Options struct {
	*cli.Env
	cli.Target
	cli.Output
	TableFlags
	LineFlags
	trace.Limits

	Stack  int    // the number of callers to show
	Calls  uint64 // the number of calls after which the run ends, 0 means no limit
	Sched  bool   // split latencies into running, runnable and waiting
	DryRun bool   // print the parts of --where that the kernel and ftgo evaluate
	Fetch  capture.Limits
}

// TableFlags are the flags of tables.
type TableFlags struct {
	Top       int
	Sort      string // one of orders; "" means sum if --sum is set, else calls
	By, Sum   where.Expr
	FromTrace bool // the run is a recording of trace, which has the values that trace shows
	PerHost   bool // write separate rows for each machine
	Hist      bool
	Errors    bool
	FailIf    where.Expr
	Summaries bool // in JSON, write a summary after each interval
	Merges    bool // the command report merges several runs, so a Table does not write the rows of a single run
}

// LineFlags are the flags of lines. They select calls and the contents of a line.
type LineFlags struct {
	Where      where.Expr
	OnlyErrors bool // --errors of trace
	Min        time.Duration
	Slow       time.Duration // show only trees with a root that took longer; 0 means no limit
	Tree       bool
	Depth      int
	Entries    bool // show only the begins of calls, without probing returns
	Times      bool
	Template   []string // the value of --format: a text, and a name for each of its verbs
	FewFields  bool     // fetch only the fields of structs that a short line shows
	// UserFilter says that ftgo evaluates all of --where, and the kernel none of it. Trees need the calls that the kernel
	// would drop, and in a recording the kernel may not have dropped them.
	UserFilter bool
}

// ManyProcesses reports whether calls may come from several processes, so that lines must name the process.
func (o *Options) ManyProcesses() bool {
	return o.Fork || len(o.PIDs) > 1 || len(o.PIDs) == 0 && len(o.Program) == 0
}

// Trees reports whether a flag asks for trees of calls.
func (o *Options) Trees() bool { return o.Tree || o.Slow > 0 }

// short reports whether lines are text of limited width, with shortened names and values.
func (o *Options) short() bool {
	return o.Format == render.Table && !o.Full && o.Template == nil
}

var templateForm = cli.Form[[]string]{
	Name:      "TEMPLATE NAMES",
	Continues: func(text string) bool { return strings.Contains(strings.ReplaceAll(text, "%%", ""), "%") },
	Write:     func(t []string) string { return strings.Join(t[:min(len(t), 1)], "") },
	Read: func(text string) ([]string, error) {
		text, names, hasNames := strings.Cut(text, "\x00")
		if !hasNames {
			return []string{text}, nil
		}
		return append([]string{text}, printable.SplitOutside(names)...), nil
	},
}

// DefineLines defines the flags of lines.
func (o *Options) DefineLines(fs *cli.Flags) {
	fs.StringVar(&o.Inside, "inside", "", "show only calls that `FUNC` makes, directly or not")
	cli.Define(fs, &o.Where, "where", "", "show only calls for which `EXPR` is true: 'n > 100'", ConditionForm)
	fs.BoolVar(&o.OnlyErrors, "errors", false, "show only calls whose last result is an error")
	cli.Define(fs, &o.Min, "min", "", "show only calls that took `SECONDS` or longer, like 5ms", cli.Seconds)
	cli.Define(fs, &o.Slow, "slow", "", "show only trees whose first call took over `SECONDS`, like 50ms", cli.Seconds)
	fs.BoolVar(&o.Tree, "tree", false, "show calls as trees, with the goroutines that they start")
	fs.IntVarP(&o.Depth, "depth", "D", 0, "show calls nested less than `N` deep")
	fs.BoolVar(&o.Entries, "entries", false, "show only how calls begin, which is much cheaper")
	fs.BoolVarP(&o.Times, "timestamp", "T", false, "begin lines with the time")
	cli.Define(fs, &o.Template, "format", "", "write lines by `TEMPLATE NAMES`: 'key=%q n=%d' key,n", templateForm)
	fs.Check(func(command string) error {
		if o.Template != nil && cli.IsFile(strings.Join(o.Template[1:], ",")) {
			return cli.Usage("%s: --format %q takes the names of its values: %s is a file", command, o.Template[0], strings.Join(o.Template[1:], ","))
		}
		return nil
	})
}

// maxStrLen is the limit of --strlen in bytes: an array argument of the kernel has at most 64 words of 8 bytes.
const maxStrLen = 512

// DefineFetch defines the flags that limit the fetched part of strings and slices.
func (o *Options) DefineFetch(fs *cli.Flags) {
	fs.IntVar(&o.Fetch.StrLen, "strlen", capture.DefaultLimits.StrLen, "show up to `BYTES` of a string, at most 512")
	fs.IntVar(&o.Fetch.Items, "items", capture.DefaultLimits.Items, "show the first `N` elements of a slice, at most 64")
	fs.Check(func(command string) error {
		switch l := o.Fetch; { // an array argument of the kernel holds no more
		case l.StrLen < 1 || l.StrLen > maxStrLen:
			return cli.Usage("%s: --strlen %d: not 1 to %d", command, l.StrLen, maxStrLen)
		case l.Items < 1 || l.Items > 64:
			return cli.Usage("%s: --items %d: not 1 to 64", command, l.Items)
		}
		return nil
	})
}

// DefineStack returns the group of the flag --stack. Its help begins with purpose, the command's use of callers.
func (o *Options) DefineStack(purpose string) cli.Group {
	return func(fs *cli.Flags) {
		cli.Define(fs, &o.Stack, "stack", "s", purpose+": up to `DEPTH` callers, or 15", cli.Form[int]{
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

// DefineTable defines the flags of the table of probe.
func (o *Options) DefineTable(fs *cli.Flags) {
	o.defineRows(fs, orders...)
	fs.BoolVar(&o.Errors, "errors", false, "also count the calls whose last result was an error")
	fs.BoolVar(&o.Hist, "hist", false, "add a histogram: of --sum, or else of latencies")
	o.defineFailIf(fs, "'calls == 0 || p99 > 10ms'")
	fs.Check(func(string) error {
		o.Errors = o.Errors || o.Sort == "errors" || o.FailIf.Uses("errors")
		return nil
	})
}

// DefineCount defines the flags of count.
func (o *Options) DefineCount(fs *cli.Flags) {
	o.defineRows(fs, "calls", "rate", "sum", "name")
	o.defineFailIf(fs, "'calls == 0 || rate > 1000'")
}

// orders are the keys of --sort. Total is the total latency, wait the part of it in which calls waited, and sum the
// total of --sum.
var orders = []string{"calls", "rate", "total", "mean", "p50", "p90", "p95", "p99", "p999", "max", "errors", "wait", "sum", "name"}

func (o *Options) defineRows(fs *cli.Flags, orders ...string) {
	fs.IntVarP(&o.Top, "top", "t", 0, "show only the first `N` functions")
	cli.Define(fs, &o.Sort, "sort", "", "sort functions by `KEY`, like "+orders[min(2, len(orders)-1)],
		cli.OneOf("KEY", "order", orders...))
	cli.Define(fs, &o.By, "by", "", "show a row per value of `EXPR`: r.Host, label:KEY", rowForm)
	cli.Define(fs, &o.Sum, "sum", "", "add up `EXPR`, like a size, over calls", amountForm)
}

func (o *Options) defineFailIf(fs *cli.Flags, example string) {
	cli.Define(fs, &o.FailIf, "fail-if", "", "exit with status 6 if `EXPR` is true of a function: "+example,
		failIfForm)
}
