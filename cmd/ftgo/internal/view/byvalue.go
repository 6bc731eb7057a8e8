package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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

// Value is the value of a flag that takes an expression.
type Value struct {
	Text string
	expr where.Expr
}

// valueForm is how a flag's value is read; "" is none.
func valueForm(parse func(text string) (where.Expr, error)) cli.Form[Value] {
	return cli.Form[Value]{Read: func(text string) (v Value, err error) {
		if v.Text = text; text != "" {
			v.expr, err = parse(text)
		}
		return v, err
	}, Write: func(v Value) string { return v.Text }}
}

var rowForm, amountForm = valueForm(where.ParseValue), valueForm(where.ParseNumber)

// AsksStack tells whether it is about who has called.
func (v *Value) AsksStack() bool {
	return v.Text != "" && slices.Contains(v.expr.Refs(), where.Ref{Path: "stack"})
}

// TakeValues makes --by and --sum what they were.
func (t *TableFlags) TakeValues(by, sum string) (err error) {
	if t.By, err = rowForm.Read(by); err == nil {
		t.Sum, err = amountForm.Read(sum)
	}
	return err
}

// AsksValues tells whether values are asked for.
func (t *TableFlags) AsksValues() bool { return t.By.Text != "" || t.Sum.Text != "" }

// values tell what rows calls are of, and what is added up, by --by and --sum.
type values struct {
	*Scene
	opt     *Options
	entries string // who does not see calls end
	funcs   map[*offsets.Func]*funcValues
	memory  *engine.Memories
	stacks  *engine.Stacks    // nil if nobody asks for them
	texts   map[string]string // of stacks, by the words that tell them
	key     []byte
	seen    seenCall
}

// plan is what to fetch of calls.
func (v *values) plan(s *target.Target, features tracefs.Features) (engine.Values, error) {
	if len(s.Sites) > 0 {
		return nil, cli.Usage("--by and --sum take functions, not instructions like %s", s.Sites[0].Name)
	}
	v.funcs = make(map[*offsets.Func]*funcValues)
	fetch := target.Fetch{StrLen: v.strLen(), Items: target.Usual.Items}
	if v.opt.Shown {
		fetch = v.opt.Fetch
	}
	return func(f *offsets.Func, sites *offsets.Sites) (out uprobe.Values, err error) {
		vf := &funcValues{}
		o := operands{funcValues: vf, f: f, binary: s.Binary, stack: v.opt.By.AsksStack()}
		sig, _, unknown := s.Signature(f)
		if o.sig = sig; unknown != nil {
			o.sig = &offsets.Signature{}
		}
		o.entry, o.ret = fetch.Builders(s.Binary, f, sites, o.sig, v.opt.Stack, features)
		for _, one := range []struct {
			Value
			to *where.Expr
		}{{v.opt.By, &vf.by}, {v.opt.Sum, &vf.amount}} {
			if one.Text == "" {
				continue
			}
			if *one.to, err = o.check(one.expr, v.entries); err != nil && unknown != nil {
				err = fmt.Errorf("%w; %s", unknown, giveTypes)
			}
			if err != nil {
				return out, without(s, f, err)
			}
			o.want(*one.to)
		}
		v.funcs[f] = vf
		switch errors := v.opt.Errors; {
		case errors && o.err != "" && (v.opt.Shown || len(o.atReturn) > 0):
			o.atReturn, out.Fails = append(o.atReturn, o.err), true
		case errors: // as without values, which recordings have
			out, err = failing(s, features, o.sig)
		}
		if v.opt.Shown { // what is wanted is looked for in what trace has fetched
			args, results, serr := s.Shown(f, o.sig)
			_, err = o.entry.Capture(args, nil)
			_, rerr := o.ret.Capture(results, nil)
			err = cmp.Or(serr, err, rerr)
		}
		if err == nil && (v.opt.Shown || len(o.atEntry) > 0) {
			out.Entry, err = o.entry.Capture([]string{}, o.atEntry)
		}
		if err == nil && (v.opt.Shown || len(o.atReturn) > 0) {
			out.Return, err = o.ret.Capture([]string{}, o.atReturn)
		}
		if err != nil {
			err = cli.WithStatus(cli.ExitUsage, err)
		}
		return out, err
	}, nil
}

// refs are the variables of all expressions.
func (t *TableFlags) refs() []where.Ref { return append(t.By.expr.Refs(), t.Sum.expr.Refs()...) }

// TakesVariables tells whether anything is asked for that is no property of the call itself.
func (t *TableFlags) TakesVariables() bool {
	return slices.ContainsFunc(t.refs(), func(r where.Ref) bool { return builtins[r.Path] == nil && r.Path != "stack" || r.Path == "err" })
}

// strLen is how much of strings is fetched: no more than is needed.
func (v *values) strLen() int {
	n := max(1, v.opt.By.expr.Longest(), v.opt.Sum.expr.Longest())
	if slices.ContainsFunc(v.opt.refs(), func(r where.Ref) bool { return r.Part == capture.Whole && r.First == 0 }) {
		n = max(n, v.opt.Fetch.StrLen)
	}
	return min(n, maxStrLen)
}

func (v *values) begin(s *Scene) {
	v.Scene = s
	v.memory = engine.NewMemories(s.Target.Binary, !s.Recorded.IsZero())
	if v.opt.By.AsksStack() {
		v.stacks = engine.NewStacks(s.Target.Binary)
	}
}

// observe is what a call is and has, by the expressions.
func (v *values) observe(c *pairing.Call) (o engine.Observed) {
	f := &v.Plan.Funcs[c.Func]
	line := render.Line{Function: f.Name, Thread: render.ThreadOf(c), Depth: c.Depth, End: c.Outcome.String(), NS: v.Clock.Took(c).Nanoseconds()}
	vf := v.funcs[f.Func]
	if vf == nil { // a wait
		vf = &funcValues{by: v.opt.By.expr, amount: v.opt.Sum.expr}
	}
	seen := &v.seen
	*seen = seenCall{funcValues: vf, line: line}
	if f.Values.Entry != nil && c.Args != nil {
		seen.entry = f.Values.Entry.Append(nil, c.Args, v.memory.Process(c))
	}
	if f.Values.Return != nil && c.Results != nil {
		seen.ret = f.Values.Return.Append(nil, c.Results, v.memory.Process(c))
		o.Failed = isError(seen.ret) || len(vf.atReturn) == 0 && c.Results[0] != 0 // see failing
	}
	if v.stacks != nil {
		seen.stack = v.stack(c, f.Name)
	}
	if v.opt.By.Text != "" {
		var known bool
		if o.Value, known = vf.by.Text(seen); !known {
			o.Value, o.Kind = whyNot(vf.by, seen), stats.NoValue
		}
	}
	if v.opt.Sum.Text != "" {
		if n, ok := vf.amount.Number(seen); ok && n >= 0 {
			o.Amount, o.Counts = n, true
		}
	}
	return o
}

// whyNot says why a value is not known.
func whyNot(e where.Expr, seen *seenCall) string {
	for _, r := range e.Refs() {
		switch value := seen.Value(r.Path); {
		case value == nil && slices.Contains(seen.atReturn, r.Path), value == nil && r.Path == "err", value == nil && builtins[r.Path] != nil:
			return "did not return"
		case value == nil:
			return "not fetched"
		case value.State != capture.Known:
			return cmp.Or(value.Why, "not readable")
		}
	}
	return "has no value"
}

// maxTexts is how many texts of stacks are remembered.
const maxTexts = 10_000

// stack is who has called, the innermost first.
func (v *values) stack(c *pairing.Call, callee string) string {
	v.key = v.stacks.AppendKey(v.key[:0], c)
	if text, known := v.texts[string(v.key)]; known {
		return text
	}
	var names []string
	for _, l := range v.stacks.Callers(c, callee) {
		if l.Addr == 0 {
			names = append(names, "…")
		}
		for _, f := range l.Frames {
			names = append(names, f.Function)
		}
	}
	text := cmp.Or(strings.Join(names, stats.Calls), "…")
	if v.texts == nil || len(v.texts) == maxTexts {
		v.texts = make(map[string]string)
	}
	v.texts[string(v.key)] = text
	return text
}

// keptBy is what rows of values are kept for: what they are sorted by, as far as that adds up.
func (t *TableFlags) keptBy() string {
	switch order := t.order(); {
	case order == "sum":
		return engine.BySum
	case !slices.Contains([]string{"calls", "rate", "errors", "name"}, order):
		return engine.ByTime
	}
	return engine.ByCalls
}

// order is what rows are sorted by.
func (t *TableFlags) order() string {
	if t.Sort == "" && t.Sum.Text != "" {
		return "sum"
	}
	return cmp.Or(t.Sort, "calls")
}

// topRows are the first rows, and those that are of no value.
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
