package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/stats"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/where"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

const aboutTrace = `usage: ftgo trace [flags] BINARY FUNC... [-- PROGRAM ARGS...]
       ftgo trace [flags] -p PID FUNC...

Writes a line for each call: goroutine, arguments, results, latency. FUNC may name the
values to show, main.get(key, req.URL.Path); for a program without debug information
it may give their types, 'main.get(key string, n int) (v string, err error)', the
registers, 'main.get(key=goarg1:string)', or a fetcharg, 'main.get(k=+0(%ax):x64)'.
`

// traceOptions are the flags of trace alone.
type traceOptions struct {
	strLen, items int
	tree, begins  bool
	entries       bool
	times         bool
	errors        bool
	startOrder    bool
	template      string
	templateNames string
	where         string
	min           time.Duration
	inside        string
	goid          uint64
}

func (o *traceOptions) define(fs *pflag.FlagSet) {
	fs.StringVar(&o.where, "where", "", "only calls for which `EXPR` is true: 'n > 100 && key == \"bob\"'")
	fs.BoolVar(&o.errors, "errors", false, "only calls whose last result is an error")
	fs.Var(seconds{&o.min}, "min", "only calls that took at least so many `SECONDS`, or 5ms")
	fs.StringVar(&o.inside, "inside", "", "only calls made while `FUNC` was running, on its goroutine")
	fs.Uint64Var(&o.goid, "goid", 0, "only calls on goroutine `N`")
	fs.BoolVar(&o.tree, "tree", false, "indent calls by their depth")
	fs.BoolVar(&o.begins, "begins", false, "a line when a call begins and another when it ends")
	fs.BoolVar(&o.entries, "entries", false, "only how calls begin: no results, no latency, and much cheaper")
	fs.BoolVar(&o.startOrder, "start-order", false, "calls in the order in which they began")
	fs.BoolVarP(&o.times, "timestamp", "T", false, "begin lines with the time")
	fs.StringVar(&o.template, "format", "", "write lines by `TEMPLATE NAMES`: --format 'key=%q n=%d' key,n")
	fs.StringVar(&o.templateNames, "format-names", "", "")
	o.defineFetch(fs)
	fs.MarkHidden("format-names")
}

// defineFetch defines how much is fetched, for watch too.
func (o *traceOptions) defineFetch(fs *pflag.FlagSet) {
	fs.IntVar(&o.strLen, "strlen", 64, "fetch so many `BYTES` of a string, at most 512")
	fs.IntVar(&o.items, "items", 8, "fetch the first `N` elements of a slice, at most 64")
}

// check refuses what makes no sense.
func (o *traceOptions) check() error {
	if err := o.checkFetch("trace"); err != nil {
		return err
	}
	switch {
	case o.entries && (o.inside != "" || o.tree):
		return usage("trace: --entries does not see calls end: no --inside, no --tree")
	case o.entries && (o.errors || o.min > 0):
		return usage("trace: --entries sees no results and no latency: no --errors, no --min")
	case o.entries && o.startOrder, o.begins && o.startOrder:
		return usage("trace: --start-order is for lines of whole calls")
	case o.template != "" && (o.begins || o.tree):
		return usage("trace: --format excludes --begins and --tree")
	}
	return nil
}

// maxStrLen is an array of 64 words.
const maxStrLen = 512

// checkFetch refuses what the kernel does not fetch.
func (o *traceOptions) checkFetch(command string) error {
	switch {
	case o.strLen < 1 || o.strLen > maxStrLen:
		return usage("%s: --strlen %d: not 1 to %d", command, o.strLen, maxStrLen)
	case o.items < 1 || o.items > 64:
		return usage("%s: --items %d: not 1 to 64", command, o.items)
	}
	return nil
}

// joinFormat makes one word of "--format TEMPLATE NAMES", which is two behind the flag.
func joinFormat(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return append(out, args[i:]...)
		}
		var text string
		var ok bool
		if a == "--format" && i+1 < len(args) {
			i++
			text, ok = args[i], true
		} else if len(a) > len("--format=") && a[:len("--format=")] == "--format=" {
			text, ok = a[len("--format="):], true
		}
		if !ok {
			out = append(out, a)
			continue
		}
		out = append(out, "--format="+text)
		if strings.Contains(strings.ReplaceAll(text, "%%", ""), "%") && i+1 < len(args) && args[i+1] != "--" {
			i++
			out = append(out, "--format-names="+args[i])
		}
	}
	return out
}

func trace(ctx context.Context, e *env, args []string) error {
	o, err := parseFlags(e, "trace", aboutTrace, selectFlags|runFlags|traceFlags, joinFormat(args))
	if err != nil {
		return err
	}
	if o.interval > 0 || o.top > 0 {
		return usage("trace: -i and -t are for tables: use probe")
	}
	if err := o.trace.check(); err != nil {
		return err
	}
	if o.format != render.Table && (o.trace.template != "" || o.trace.begins || o.trace.tree) {
		return usage("trace: --format, --begins and --tree are for text: no -o %s", o.format)
	}
	v, err := newCallLines(e, o)
	if err != nil {
		return err
	}
	mode := uprobe.Latency
	if o.trace.entries {
		mode = uprobe.Entries
	}
	return observe(ctx, e, o, mode, v)
}

// callLines is the view of trace: a line for each call.
type callLines struct {
	env    *env
	opt    *options
	t      *tracing
	out    *flushWriter
	calls  *render.CallWriter
	order  startOrder
	memory *memories
	lines  uint64
	where  *where.Expr
	funcs  map[*offsets.Func]*funcLines
	// undecided is the number of calls of which the filter could not tell.
	undecided uint64
	// unknown counts functions whose arguments are not known, by the reason.
	unknown map[string]int
}

// funcLines is what makes lines of the calls of one function.
type funcLines struct {
	note   string
	filter *funcFilter
}

func newCallLines(e *env, o *options) (*callLines, error) {
	v := &callLines{env: e, opt: o, funcs: make(map[*offsets.Func]*funcLines), unknown: make(map[string]int)}
	if o.trace.where != "" {
		expr, err := where.Parse(o.trace.where)
		if err != nil {
			return nil, &statusError{exitUsage, err}
		}
		v.where = &expr
	}
	return v, nil
}

func (v *callLines) begin(ctx context.Context, t *tracing, fsys *tracefs.FS, out io.Writer) error {
	v.t = t
	v.memory = newMemories(t.sel.binary, t.bias)
	v.out = newFlushWriter(out)
	opt := render.CallOptions{
		Format: v.opt.format, TwoLines: v.opt.trace.begins, Entries: v.opt.trace.entries, Times: v.opt.trace.times, Tree: v.opt.trace.tree,
		Processes: v.opt.mixed(),
	}
	if v.opt.trace.template != "" {
		var err error
		if opt.Line, err = render.ParseCallFormat(v.opt.trace.template, v.opt.trace.names()); err != nil {
			return &statusError{exitUsage, err}
		}
	}
	for reason, n := range v.unknown {
		v.env.say("arguments of %s %s; types can be given: 'main.get(key string, n int) (v string, err error)'", plural(n, "function"), reason)
	}
	inside := make(map[int]bool)
	for i := range t.plan.Funcs {
		if t.sel.inside[t.plan.Funcs[i].Func] {
			inside[i] = true
		}
	}
	if v.opt.trace.inside != "" {
		t.inside = inside
	}
	v.calls = render.NewCallWriter(v.out, opt)
	if err := v.calls.Header(); err != nil {
		return err
	}
	t.onCall = v.ended
	if v.opt.trace.begins || v.opt.trace.entries || v.opt.trace.startOrder {
		t.onEnter = v.entered
	}
	t.onRead = v.out.flushLate
	return nil
}

// entered gets a call that begins.
func (v *callLines) entered(c *parse.Call) error {
	if v.opt.trace.startOrder {
		v.order.begin(c)
		return nil
	}
	line, ok := v.line(c, false)
	if !ok {
		return nil
	}
	return v.write(line)
}

// ended gets a call that has ended.
func (v *callLines) ended(c *parse.Call) error {
	line, ok := v.line(c, true)
	if v.opt.trace.startOrder {
		return v.order.end(c, line, ok, v.write)
	}
	if !ok {
		return nil
	}
	return v.write(line)
}

func (v *callLines) write(line *render.CallLine) error {
	if err := v.calls.Call(line); err != nil {
		return err
	}
	// Of begins and ends, the ends are what -n counts.
	if line.End == "" && !v.opt.trace.entries {
		return nil
	}
	if v.lines++; v.opt.calls > 0 && v.lines >= v.opt.calls {
		return errors.Join(v.out.Flush(), errEnough)
	}
	return nil
}

// line makes the line of a call; ok is false if it is not wanted.
func (v *callLines) line(c *parse.Call, ended bool) (line *render.CallLine, ok bool) {
	o := &v.opt.trace
	f := &v.t.plan.Funcs[c.Func]
	if v.t.sel.onlyInside[f.Func] || o.goid != 0 && c.Goid != o.goid || o.inside != "" && !c.Inside {
		return nil, false
	}
	base := v.t.session.Timebase()
	line = &render.CallLine{
		Function: f.Name, Goid: c.Goid, PID: c.PID, TID: c.TID, CPU: c.CPU, Depth: c.Depth,
		Time: base.Wall(c.Start),
	}
	if ended {
		line.End = c.Outcome.String()
		if c.Outcome != parse.Open {
			line.Ended = base.Wall(c.End)
		}
		if c.Outcome == parse.Returned {
			line.NS = base.Duration(c.Start, c.End).Nanoseconds()
		}
		if o.min > 0 && (c.Outcome != parse.Returned || time.Duration(line.NS) < o.min) {
			return nil, false
		}
	}
	fl := v.funcs[f.Func]
	if fl == nil {
		return line, true // a single instruction has no arguments
	}
	line.ArgsNote = fl.note
	seen := filteredCall{filter: fl.filter, line: line}
	p := v.memory.process(c)
	if f.Values.Entry != nil && c.Args != nil {
		values := f.Values.Entry.Decode(c.Args, p)
		shown := len(values) - len(fl.filter.atEntry)
		line.Args, seen.entry = values[:shown], values[shown:]
	}
	if f.Values.Return != nil && c.Results != nil {
		values := f.Values.Return.Decode(c.Results, p)
		shown := len(values) - len(fl.filter.atReturn)
		line.Results, seen.ret = values[:shown], values[shown:]
	}
	if o.errors && ended && !isError(line.Results) {
		return nil, false
	}
	if v.where != nil {
		switch fl.filter.rest.Eval(&seen) {
		case where.False:
			return nil, false
		case where.Unknown:
			if ended || o.entries {
				v.undecided++
				return nil, false
			}
		}
	}
	return line, true
}

func (v *callLines) final(t *tracing, funcs []stats.Function, summary stats.Summary) error {
	if !errors.Is(t.callErr, errEnough) {
		if err := v.order.flush(v.write); err != nil && !errors.Is(err, errEnough) {
			return err
		}
	}
	if err := v.out.Flush(); err != nil {
		return err
	}
	if v.undecided > 0 {
		v.env.say("%s left out: a value that --where needs was not readable, not whole, or not there", plural(int(v.undecided), "call"))
	}
	if v.opt.format == render.JSON {
		return render.SummaryJSON(v.out.w, summary)
	}
	rows := make([]stats.Row, len(funcs))
	for i, f := range funcs {
		rows[i] = stats.NewRow(f, summary.Seconds)
	}
	return render.Footer(v.env.stderr, rows, summary)
}

// names are those of --format: there are none without verbs.
func (o *traceOptions) names() []string {
	if o.templateNames == "" {
		return nil
	}
	return strings.Split(o.templateNames, ",")
}
