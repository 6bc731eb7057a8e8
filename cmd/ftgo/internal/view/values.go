package view

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/where"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// giveTypes is the advice for functions whose argument types are unknown.
const giveTypes = "types can be given, a receiver's first: 'main.T.Get(t ptr, key string) (n int, err error)'"

// isError reports whether the last result is an error that is not nil.
func isError(results []capture.Value) bool {
	if len(results) == 0 {
		return false
	}
	last := &results[len(results)-1]
	return capture.IsError(last.Type) && last.State != capture.Unfetched && (last.State == capture.Unreadable || !last.Nil())
}

// values returns the plan of the values to fetch from the functions, for their lines and for --where.
func (v *Lines) values(s *target.Target, features tracefs.Features) (engine.Values, error) {
	return func(f *offsets.Func, sites *offsets.Sites) (out uprobe.Values, err error) {
		if s.Roles[f].Hidden {
			return out, nil
		}
		sig, fromUser, err := s.Signature(f)
		switch {
		case errors.Is(err, offsets.ErrNoDebugInfo) && fromUser:
			return out, cli.Usage("%w; %s", err, giveTypes)
		case err != nil && fromUser:
			return out, cli.WithStatus(cli.ExitUsage, err)
		case err != nil && v.opt.Where.Source != "":
			return out, skipUnlessNamed(s, f, err)
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
		// To compare a string with a literal, ftgo needs as many bytes of the string as the literal has.
		fetch.StrLen = min(max(fetch.StrLen, v.opt.Where.Longest()), maxStrLen)
		if v.opt.short() && v.opt.FewFields {
			fetch.Fields = shortFields
		}
		if o.entry, o.ret, err = s.Builders(fetch, f, sites, sig, v.opt.Stack, features); err != nil {
			return out, err
		}
		if out.Filter, err = v.splitFilter(&o, v.opt.UserFilter || s.Roles[f].Inside || s.Pair != nil); err != nil {
			return out, skipUnlessNamed(s, f, err)
		}
		shownArgs, shownResults, err := s.Shown(f, sig)
		if err != nil {
			return out, err
		}
		if s.Pair != nil {
			shownResults, fl.atReturn = []string{}, slices.Concat(shownResults, fl.atReturn)
		}
		if v.opt.Template != nil {
			shownArgs, shownResults = o.divide(v.opt.Template[1:])
		}
		if out.Entry, err = o.entry.Capture(shownArgs, fl.atEntry); err != nil {
			return out, cli.WithStatus(cli.ExitUsage, err)
		}
		if v.opt.Entries {
			return out, nil
		}
		if last := len(sig.Results) - 1; v.opt.OnlyErrors && shownResults != nil && last >= 0 {
			fl.atReturn = append(fl.atReturn, sig.Results[last].Name)
			fl.errorHidden = true
		}
		if out.Return, err = o.ret.Capture(shownResults, fl.atReturn); err != nil {
			return out, cli.WithStatus(cli.ExitUsage, err)
		}
		return out, nil
	}, nil
}

// shownAsWords is the note on functions without debug information. Lines show their arguments as untyped words, and no
// results.
const shownAsWords = "shown as words: no debug information"

// shortFields is the largest number of fields of a struct that a short line shows.
const shortFields = 6

// skipUnlessNamed returns the error for a function to which an expression does not apply: a usage error if FUNC is the
// function's name, else an error that leaves out this function and keeps the others.
func skipUnlessNamed(s *target.Target, f *offsets.Func, err error) error {
	if s.Roles[f].Named {
		return cli.WithStatus(cli.ExitUsage, err)
	}
	return uprobe.SkipFunc(err)
}

// funcValues are the values that ftgo fetches for expressions from the calls of a function.
type funcValues struct {
	atEntry, atReturn []string // the paths that expressions use, fetched at the entry and at the return
	err               string   // the name of the last result if its type is error, else ""

	by, amount  where.Expr   // --by and --sum
	filter      where.Expr   // the part of --where that ftgo evaluates
	note        string       // the reason why some or all arguments are unknown
	errorHidden bool         // the last result is fetched for --errors, but not shown
	last        *render.Line // the last line, reused unless the view keeps lines
}

// operands checks the expressions for a function, and plans the values that they use.
type operands struct {
	*funcValues
	binary     *offsets.Binary
	f          *offsets.Func
	sig        *offsets.Signature
	entry, ret *capture.Builder
}

// builder returns the builder of the values that a path leads into: entry for arguments, ret for results, else nil.
func (o *operands) builder(path string) *capture.Builder {
	switch {
	case target.AtEntry(o.sig, path):
		return o.entry
	case target.AtReturn(o.sig, path):
		return o.ret
	}
	return nil
}

// check replaces names of constants in an expression by their values. It returns an error if the expression could never
// be evaluated. entryOnly is the command or flag that does not probe returns, or "".
func (o *operands) check(e where.Expr, entryOnly string) (where.Expr, error) {
	if last, ok := target.LastError(o.sig); ok {
		o.err = last.Name
	}
	e = e.WithConstants(func(path string) (c capture.Value, ok bool) {
		if o.builder(path) != nil || render.Properties[path] != nil {
			return c, false
		}
		c.Type, c.Num, ok = o.binary.Internals().Constant(path, symname.Split(o.f.Name).Package)
		return c, ok
	})
	err := e.Check(func(path string) (*gotype.Type, error) {
		b := o.builder(path)
		t, ok := render.Properties[path]
		switch {
		case b == nil && path == "err" && o.sig.Untyped:
			return nil, fmt.Errorf("results of %s are not known: no debug information; %s", o.f.Name, giveTypes)
		case b == nil && !ok:
			return nil, target.NoVariable(o.f, o.sig, path, slices.Sorted(maps.Keys(render.Properties))...)
		case entryOnly != "" && (b == o.ret || b == nil && slices.Contains([]string{"depth", "ns", "latency", "err"}, path)):
			return nil, fmt.Errorf("%s does not see calls end: %q", entryOnly, path)
		case b == nil:
			return t, nil
		}
		return b.Type(path)
	})
	if err != nil {
		err = cli.WithStatus(cli.ExitUsage, err)
	}
	return e, err
}

// divide returns the paths that lead into arguments and into results. The line of a call has a marker for any other path
// of --format.
func (o *operands) divide(paths []string) (args, results []string) {
	args, results = []string{}, []string{}
	for _, path := range paths {
		_, path = capture.CutPart(path) // len(x) and cap(x) are read from the value of x
		switch o.builder(path) {
		case nil:
		case o.entry:
			args = append(args, path)
		case o.ret:
			results = append(results, path)
		}
	}
	return args, results
}

// fetch adds the variables of an expression to atEntry and atReturn.
func (o *operands) fetch(e where.Expr) {
	var paths []string
	for _, r := range e.Refs() {
		if r.Path == "err" && o.err != "" && o.builder("err") == nil {
			r.Path = o.err
		}
		paths = append(paths, r.Path)
	}
	args, results := o.divide(paths)
	o.atEntry, o.atReturn = append(o.atEntry, args...), append(o.atReturn, results...)
}

// splitFilter splits --where for a function, and returns the part that the kernel evaluates. o.filter gets the other
// part. If userOnly is true, the other part is all of --where.
func (v *Lines) splitFilter(o *operands, userOnly bool) (kernel string, err error) {
	entryOnly := ""
	if v.opt.Entries {
		entryOnly = "--entries"
	}
	filter, err := o.check(v.opt.Where, entryOnly)
	if err != nil {
		return "", err
	}
	// The depth of a call would not count the callers that the kernel drops.
	userOnly = userOnly || v.opt.Where.Uses("depth") && o.builder("depth") == nil
	kernel, inKernel, rest := filter.Split(func(r where.Ref) (string, *gotype.Type, bool) {
		if userOnly || o.builder(r.Path) != o.entry {
			return "", nil, false
		}
		return o.entry.Field(r.Path, r.Part)
	})
	if v.opt.DryRun && kernel != "" {
		v.opt.Say("%s: in the kernel: %s", o.f.Name, inKernel)
	}
	if text := rest.String(); v.opt.DryRun && text != "" {
		v.opt.Say("%s: in user space: %s", o.f.Name, text)
	}
	o.filter = rest
	o.fetch(rest)
	return kernel, nil
}

// line returns the line of a call without its values. It is valid until the next call of the function.
func (fl *funcValues) line(c *pairing.Call, function string) *render.Line {
	if fl.last == nil {
		fl.last = &render.Line{}
	}
	l := fl.last
	*l = render.Line{Function: function, Thread: render.ThreadOf(c), Depth: c.Depth, Args: l.Args[:0], Results: l.Results[:0]}
	return l
}

// read sets the arguments and results of the line of a call, those that are shown and those for expressions.
func (fl *funcValues) read(line *render.Line, c *pairing.Call, f *uprobe.Probe, memory *engine.Memories) {
	line.ArgsNote, line.ErrorName = fl.note, fl.err
	p := memory.Process(c)
	if f.Values.Entry != nil && c.Args != nil {
		line.Args = f.Values.Entry.AppendValues(line.Args, c.Args, p)
		shown := len(line.Args) - len(fl.atEntry)
		line.Args, line.HiddenArgs = line.Args[:shown], line.Args[shown:]
	}
	if f.Values.Return != nil && c.Results != nil {
		line.Results = f.Values.Return.AppendValues(line.Results, c.Results, p)
		shown := len(line.Results) - len(fl.atReturn)
		line.Results, line.HiddenResults = line.Results[:shown], line.Results[shown:]
	}
}
