package view

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/where"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// giveTypes is what helps where the types of arguments are not known.
const giveTypes = "types can be given, a receiver's first: 'main.T.Get(t ptr, key string) (n int, err error)'"

// isError tells whether the last result is an error that is not nil.
func isError(results []capture.Value) bool {
	if len(results) == 0 {
		return false
	}
	last := &results[len(results)-1]
	return capture.IsError(last.Type) && last.State != capture.Unfetched && (last.State == capture.Unreadable || !last.Nil())
}

// values plans what to fetch for the functions' lines and for the filter.
func (v *Lines) values(s *target.Target, features tracefs.Features) (engine.Values, error) {
	return func(f *offsets.Func, sites *offsets.Sites) (out uprobe.Values, err error) {
		if s.Roles[f].Hidden {
			return out, nil
		}
		sig, told, err := s.Signature(f)
		switch {
		case errors.Is(err, offsets.ErrNoDebugInfo) && told:
			return out, cli.Usage("%w; %s", err, giveTypes)
		case err != nil && told:
			return out, cli.WithStatus(cli.ExitUsage, err)
		case err != nil && v.opt.Lines.Where != "":
			return out, without(s, f, err)
		case err != nil:
			v.funcs[f] = &funcValues{note: target.Note(err)}
			v.unknown[target.Note(err)]++
			return out, nil
		}
		if sig.Untyped {
			v.unknown[shownAsWords]++
		}
		fl := &funcValues{note: sig.Note}
		v.funcs[f] = fl
		o := operands{funcValues: fl, sig: sig, f: f, binary: s.Binary}
		fetch := v.opt.Fetch
		// A string can only be told from the constant if as much of it is fetched.
		fetch.StrLen = min(max(fetch.StrLen, v.where.Longest()), maxStrLen)
		if v.opt.short() && v.opt.Lines.Live {
			fetch.Fields = shortFields
		}
		o.entry, o.ret = fetch.Builders(s.Binary, f, sites, sig, v.opt.Stack, features)
		if out.Filter, err = v.filter(&o, v.opt.Whole || s.Roles[f].Inside); err != nil {
			return out, without(s, f, err)
		}
		shownArgs, shownResults, err := s.Shown(f, sig)
		if err != nil {
			return out, err
		}
		if v.opt.Lines.Template.Text != "" {
			shownArgs, shownResults = templatePaths(v.opt.Lines.Template.Names, sig)
		}
		if out.Entry, err = o.entry.Capture(shownArgs, fl.atEntry); err != nil {
			return out, cli.WithStatus(cli.ExitUsage, err)
		}
		v.suggestParts(s, f, sig, told, out.Entry.Large)
		if v.opt.Lines.Entries {
			return out, nil
		}
		if last := len(sig.Results) - 1; v.opt.Lines.Errors && shownResults != nil && last >= 0 {
			fl.atReturn = append(fl.atReturn, sig.Results[last].Name)
			fl.errorBeside = true
		}
		if out.Return, err = o.ret.Capture(shownResults, fl.atReturn); err != nil {
			return out, cli.WithStatus(cli.ExitUsage, err)
		}
		return out, nil
	}, nil
}

// shownAsWords is why results are not known, and of arguments no types.
const shownAsWords = "shown as words: no debug information"

// shortFields is how many fields are shown of a struct.
const shortFields = 6

// suggestParts says what to type for parts of arguments that are too large to be shown. told: FUNC has
// the types, where it can't have parts.
func (v *Lines) suggestParts(s *target.Target, f *offsets.Func, sig *offsets.Signature, told bool, large []capture.Large) {
	if len(large) == 0 || !s.Roles[f].Named || v.suggested >= maxSuggestions {
		return
	}
	v.suggested++
	var parts, fields []string
	for _, p := range sig.Params {
		part := p.Name
		if i := slices.IndexFunc(large, func(l capture.Large) bool { return l.Name == p.Name }); i >= 0 {
			part = large[i].Part
			fields = append(fields, fmt.Sprintf("%s has %d fields", p.Name, large[i].Fields))
		}
		parts = append(parts, part)
	}
	name := printable.Short(symname.Plain(f.Name)) // its end will do
	ask := fmt.Sprintf("'%s(%s)'", name, strings.Join(parts, ", "))
	if told {
		ask = fmt.Sprintf("--format '%s' %s", strings.TrimSpace(strings.Repeat("%v ", len(parts))), strings.Join(parts, ","))
	}
	v.opt.Say("%s: ask for parts, %s, or --full", strings.Join(fields, ", "), ask)
}

// maxSuggestions is for how many functions that is said.
const maxSuggestions = 3

// without says what becomes of a function that --where can't be applied to: it is left out,
// unless it was asked for by name.
func without(s *target.Target, f *offsets.Func, err error) error {
	if s.Roles[f].Named {
		return cli.WithStatus(cli.ExitUsage, err)
	}
	return uprobe.LeaveOut(err)
}

// templatePaths are what --format names of a function's arguments and results; what it has
// not, the line will say.
func templatePaths(names []string, sig *offsets.Signature) (args, results []string) {
	args, results = []string{}, []string{}
	for _, path := range names {
		_, path = capture.CutPart(path) // it comes with the value
		switch {
		case target.AtEntry(sig, path):
			args = append(args, path)
		case target.AtReturn(sig, path):
			results = append(results, path)
		}
	}
	return args, results
}

// filters are the flags that leave out calls.
func (v *Lines) filters() string {
	var given []string
	o := &v.opt.Lines
	for _, f := range []struct {
		name  string
		given bool
	}{{"--where", o.Where != ""}, {"--errors", o.Errors}, {"--min " + o.Min.String(), o.Min > 0}, {"--slow " + o.Slow.String(), o.Slow > 0}, {"--depth", o.Depth > 0}, {"--inside", v.opt.Inside != ""}} {
		if f.given {
			given = append(given, f.name)
		}
	}
	return strings.Join(given, ", ")
}

// funcValues are what is fetched of the calls of a function, and what that is for.
type funcValues struct {
	// The paths of variables that expressions need where calls begin and where they return, and the name of the last
	// result if that is an error, else "".
	atEntry, atReturn []string
	err               string

	by, amount where.Expr // of tables
	rest       where.Expr // of lines: what is left of --where for us
	note       string     // why arguments are not known, or not all
	// errorBeside: the last result is fetched for --errors, and not shown.
	errorBeside bool
	once        seenCall // again and again, of lines that are written at once
}

// operands are what expressions can be about in calls of a function.
type operands struct {
	*funcValues
	binary     *offsets.Binary
	f          *offsets.Func
	stack      bool // who has called is known
	sig        *offsets.Signature
	entry, ret *capture.Builder
}

// side is where the variable of a path is known.
func (o *operands) side(path string) *capture.Builder {
	switch {
	case target.AtEntry(o.sig, path):
		return o.entry
	case target.AtReturn(o.sig, path):
		return o.ret
	}
	return nil
}

// resultRE is a path that begins with a result without a name.
var resultRE = regexp.MustCompile(`^\*?r[0-9]+\b`)

// check refuses an expression that could never be decided, and has constants in the place of their
// names. entries says who does not see calls end.
func (o *operands) check(e where.Expr, entries string) (where.Expr, error) {
	if last, ok := target.LastError(o.sig); ok {
		o.err = last.Name
	}
	e = e.WithConstants(func(path string) (c capture.Value, ok bool) {
		if o.side(path) != nil || builtins[path] != nil || path == "stack" && o.stack {
			return c, false
		}
		c.Type, c.Num, ok = o.binary.Internals().Constant(path, symname.Split(o.f.Name).Package)
		return c, ok
	})
	err := e.Check(func(path string) (*gotype.Type, error) {
		b := o.side(path)
		t, ok := builtins[path]
		switch {
		case b == nil && (path == "err" || resultRE.MatchString(path)) && o.sig.Untyped:
			return nil, fmt.Errorf("results of %s are not known: no debug information; %s", o.f.Name, giveTypes)
		case b == nil && path == "stack" && o.stack:
			return builtins["func"], nil
		case b == nil && !ok:
			return nil, target.NoVariable(o.f, o.sig, path, slices.Sorted(maps.Keys(builtins))...)
		case b == nil && entries != "" && slices.Contains([]string{"depth", "ns", "latency", "err"}, path):
			return nil, fmt.Errorf("%s does not see calls end: %q", entries, path)
		case b == nil:
			return t, nil
		case b == o.ret && entries != "":
			return nil, fmt.Errorf("%s sees no results: %q", entries, path)
		}
		return b.Type(path)
	})
	if err != nil {
		err = cli.WithStatus(cli.ExitUsage, err)
	}
	return e, err
}

// want has fetched what an expression needs.
func (o *operands) want(e where.Expr) {
	for _, r := range e.Refs() {
		path := r.Path
		b := o.side(path)
		if b == nil && path == "err" && o.err != "" {
			path, b = o.err, o.ret
		}
		switch b {
		case nil:
		case o.entry:
			o.atEntry = append(o.atEntry, path)
		case o.ret:
			o.atReturn = append(o.atReturn, path)
		}
	}
}

// filter splits --where for a function, and returns the part that the kernel evaluates. The
// builders are asked for what it needs. whole: nothing of it is for the kernel.
func (v *Lines) filter(o *operands, whole bool) (kernel string, err error) {
	entries := ""
	if v.opt.Lines.Entries {
		entries = "--entries"
	}
	filter, err := o.check(v.where, entries)
	if err != nil {
		return "", err
	}
	// Calls that the kernel drops would not count as depth.
	whole = whole || slices.Contains(v.where.Refs(), where.Ref{Path: "depth"}) && o.side("depth") == nil
	entry := o.entry
	kernel, inKernel, rest := filter.Split(func(r where.Ref) (string, *gotype.Type, bool) {
		if whole || o.side(r.Path) != entry {
			return "", nil, false
		}
		return entry.Field(r.Path, r.Part)
	})
	if kernel != "" {
		v.explain("%s: in the kernel: %s", o.f.Name, inKernel)
	}
	if text := rest.String(); text != "" {
		v.explain("%s: in user space: %s", o.f.Name, text)
	}
	o.rest = rest
	o.want(rest)
	return kernel, nil
}

// explain says with --dry-run who evaluates what.
func (v *Lines) explain(format string, args ...any) {
	if v.opt.DryRun {
		v.opt.Say(format, args...)
	}
}

// seenCall is a call as expressions see it.
type seenCall struct {
	*funcValues
	line render.Line
	// entry and ret are the values of atEntry and atReturn; nil if the call has not come there.
	entry, ret []capture.Value
	stack      string // who has called, the innermost first, or ""
}

// Value is what a path leads to.
func (c *seenCall) Value(path string) *capture.Value {
	if v := cmp.Or(pick(c.atEntry, c.entry, path), pick(c.atReturn, c.ret, path)); v != nil {
		return v
	}
	t := builtins[path]
	if number, ok := callNumbers[path]; ok && (c.line.End == "return" || path != "ns" && path != "latency") {
		return &capture.Value{Type: t, Num: number(&c.line)}
	}
	switch {
	case path == "func":
		return &capture.Value{Type: t, Bytes: []byte(c.line.Function), Len: int64(len(c.line.Function))}
	case path == "stack" && c.stack != "":
		return &capture.Value{Type: builtins["func"], Bytes: []byte(c.stack), Len: int64(len(c.stack))}
	case path == "err" && c.err != "":
		return pick(c.atReturn, c.ret, c.err)
	case path == "err":
		return &capture.Value{Type: t} // what returns no error never has one
	}
	return nil
}

// builtins are the types of what filters call a property of the call itself: its numbers, func
// (its name) and err (its last result). A variable of that name goes first.
var builtins = make(map[string]*gotype.Type)

func init() {
	builtins["func"], _ = gotype.Basic("string")
	builtins["err"], _ = gotype.Basic("error")
	for name := range callNumbers {
		builtins[name], _ = gotype.Basic("int64")
	}
}

// callNumbers are the numbers of a call; latency and ns, a duration, only if it returned.
var callNumbers = map[string]func(*render.Line) uint64{
	"latency": func(l *render.Line) uint64 { return uint64(l.NS) },
	"ns":      func(l *render.Line) uint64 { return uint64(l.NS) },
	"goid":    func(l *render.Line) uint64 { return l.Goid },
	"pid":     func(l *render.Line) uint64 { return uint64(l.PID) },
	"tid":     func(l *render.Line) uint64 { return uint64(l.TID) },
	"cpu":     func(l *render.Line) uint64 { return uint64(l.CPU) },
	"depth":   func(l *render.Line) uint64 { return uint64(l.Depth) },
}

func pick(paths []string, values []capture.Value, path string) *capture.Value {
	if i := slices.Index(paths, path); i >= 0 && i < len(values) {
		return &values[i]
	}
	return nil
}
