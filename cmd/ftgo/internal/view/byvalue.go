package view

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/where"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// expressionForm returns the form of a flag that takes an expression. The value "" is no expression.
func expressionForm(parse func(text string) (where.Expr, error)) cli.Form[where.Expr] {
	return cli.Form[where.Expr]{Read: func(text string) (where.Expr, error) {
		if text == "" {
			return where.Expr{}, nil
		}
		return parse(text)
	}, Write: func(e where.Expr) string { return e.Source }}
}

// The forms of the flags that take an expression. ConditionForm is the form of --where.
var (
	ConditionForm = expressionForm(where.Parse)
	rowForm       = expressionForm(where.ParseValue)
	amountForm    = expressionForm(where.ParseNumber)
	failIfForm    = expressionForm(parseFailIf)
)

// UsesValues reports whether --by or --sum is set.
func (o *Options) UsesValues() bool { return o.By.Source != "" || o.Sum.Source != "" }

// exprValues returns the plan of the values to fetch for --by and --sum.
func (v *Table) exprValues(s *target.Target, features tracefs.Features) (engine.Values, error) {
	if len(s.Sites) > 0 {
		return nil, cli.Usage("--by and --sum take functions, not instructions like %s", s.Sites[0].Name)
	}
	entryOnly := "" // the command that does not probe returns
	if v.mode == uprobe.Entries {
		entryOnly = "count"
	}
	fetch := capture.Limits{StrLen: v.strLen(), Items: capture.DefaultLimits.Items}
	if v.opt.FromTrace {
		fetch = v.opt.Fetch
	}
	return func(f *offsets.Func, sites *offsets.Sites) (out uprobe.Values, err error) {
		vf := &funcValues{}
		o := operands{funcValues: vf, f: f, binary: s.Binary}
		sig, _, unknown := s.Signature(f)
		if o.sig = sig; unknown != nil {
			o.sig = &offsets.Signature{}
		}
		if o.entry, o.ret, err = s.Builders(fetch, f, sites, o.sig, v.opt.Stack, features); err != nil {
			return out, err
		}
		for _, flag := range []struct {
			where.Expr
			checked *where.Expr
		}{{v.opt.By, &vf.by}, {v.opt.Sum, &vf.amount}, {v.opt.Where, &vf.filter}} {
			if flag.Source == "" {
				continue
			}
			if *flag.checked, err = o.check(flag.Expr, entryOnly); err != nil && unknown != nil {
				err = fmt.Errorf("%w; %s", unknown, giveTypes)
			}
			if err != nil {
				return out, skipUnlessNamed(s, f, err)
			}
			o.fetch(*flag.checked)
		}
		v.funcs[f] = vf
		if s.Pair != nil { // the values in which the two functions agree come first
			from, to, _ := s.Shown(f, o.sig)
			o.atEntry, o.atReturn = slices.Concat(from, o.atEntry), slices.Concat(to, o.atReturn)
		}
		switch errors := v.opt.Errors && s.Pair == nil; {
		case errors && o.err != "" && (v.opt.FromTrace || len(o.atReturn) > 0):
			o.atReturn, out.Fails = append(o.atReturn, o.err), true
		case errors: // fetch the same word as a table without --by and --sum
			out, err = failing(s, features, o.sig)
		}
		if v.opt.FromTrace { // first plan the values that trace has fetched, so that the expressions use them
			args, results, serr := s.Shown(f, o.sig)
			_, err = o.entry.Capture(args, nil)
			_, rerr := o.ret.Capture(results, nil)
			err = cmp.Or(serr, err, rerr)
		}
		if err == nil && (v.opt.FromTrace || len(o.atEntry) > 0) {
			out.Entry, err = o.entry.Capture([]string{}, o.atEntry)
		}
		if err == nil && (v.opt.FromTrace || len(o.atReturn) > 0) {
			out.Return, err = o.ret.Capture([]string{}, o.atReturn)
		}
		if err != nil {
			err = cli.WithStatus(cli.ExitUsage, err)
		}
		return out, err
	}, nil
}

func (o *Options) refs() []where.Ref { return append(o.By.Refs(), o.Sum.Refs()...) }

// UsesVariables reports whether --by or --sum uses an argument, a result or a constant, and not only properties of the
// call itself, like its latency.
func (o *Options) UsesVariables() bool {
	return slices.ContainsFunc(o.refs(), func(r where.Ref) bool { return render.Properties[r.Path] == nil || r.Path == "err" })
}

// strLen returns the number of bytes to fetch from strings: the longest literal or prefix in an expression, and
// --strlen if an expression uses a whole string.
func (v *Table) strLen() int {
	n := max(1, v.opt.By.Longest(), v.opt.Sum.Longest())
	if slices.ContainsFunc(v.opt.refs(), func(r where.Ref) bool { return r.Part == capture.Whole && r.First == 0 }) {
		n = max(n, v.opt.Fetch.StrLen)
	}
	return min(n, maxStrLen)
}

// line returns the line of a call that has ended.
func (v *Table) line(c *pairing.Call) (*funcValues, *render.Line) {
	f := &v.Plan.Funcs[c.Func]
	vf := v.funcs[f.Func]
	if vf == nil { // f stands for a wait reason
		vf = &funcValues{by: v.opt.By, amount: v.opt.Sum}
	}
	call := vf.line(c, f.Name)
	call.End, call.NS = c.Outcome.String(), v.Clock.Took(c).Nanoseconds()
	vf.read(call, c, f, v.memory)
	return vf, call
}

// observe evaluates the expressions for a call, and determines whether the call failed.
func (v *Table) observe(c *pairing.Call) (row stats.RowKey, amount *int64, failed bool) {
	vf, call := v.line(c)
	if call.HiddenResults != nil {
		failed = isError(call.HiddenResults) || len(vf.atReturn) == 0 && c.Results[0] != 0 // the word that failing fetches
	}
	row.Func = c.Func
	if v.opt.By.Source != "" {
		var known bool
		if row.Value, known = vf.by.Text(call); !known {
			row.Value, row.Kind = vf.missingReason(vf.by, call), stats.NoValue
		}
	}
	if v.opt.Sum.Source != "" {
		if n, ok := vf.amount.Number(call); ok && n >= 0 {
			amount = &n
		}
	}
	return row, amount, failed
}

// missingReason returns the reason why the value of an expression is unknown.
func (fl *funcValues) missingReason(e where.Expr, call *render.Line) string {
	for _, r := range e.Refs() {
		switch value := call.Value(r.Path); {
		case value == nil && slices.Contains(fl.atReturn, r.Path), value == nil && r.Path == "err", value == nil && render.Properties[r.Path] != nil:
			return "did not return"
		case value == nil:
			return "not fetched"
		case value.State != capture.Known:
			return cmp.Or(value.Reason, "not readable")
		}
	}
	return "has no value"
}

// rankBy returns the number by which the table ranks values, because only the first [stats.MaxValues] values have rows.
// It is the total of --sum if rows are sorted by sum, the total latency if rows are sorted by a latency, else the number of
// calls.
func (o *Options) rankBy() string {
	switch order := o.order(); {
	case order == "sum":
		return engine.BySum
	case !slices.Contains([]string{"calls", "rate", "errors", "name"}, order):
		return engine.ByTime
	}
	return engine.ByCalls
}

// order returns the key of --sort or its default.
func (o *Options) order() string {
	if o.Sort == "" && o.Sum.Source != "" {
		return "sum"
	}
	return cmp.Or(o.Sort, "calls")
}

// topRows returns the first top rows, and all rows without a value of --by. If top is 0 it returns all rows. It changes
// rows, which must be sorted by sortRows.
func topRows(rows []stats.Func, top int) []stats.Func {
	n := slices.IndexFunc(rows, func(r stats.Func) bool { return r.Kind != stats.Valued })
	if n < 0 {
		n = len(rows)
	}
	if top == 0 || n <= top {
		return rows
	}
	return slices.Delete(rows, top, n)
}
