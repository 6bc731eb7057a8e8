package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// Variables writes the values of package variables at calls of functions.
type Variables struct {
	stream
	paths []string // the paths of variables or of parts of variables
	at    []string // the functions; at their calls, values are read
}

// NewVariables returns a view of variables. paths select variables or parts of them. at are the functions at
// whose calls the values are read.
func NewVariables(o *Options, paths, at []string) *Variables {
	return &Variables{stream: stream{common: common{opt: o}}, paths: paths, at: at}
}

// Needs requests the entries of functions. If there are intervals, it requests only one call of each process in an
// interval, so that the probe can be removed for the rest of the interval.
func (v *Variables) Needs() Needs {
	needs := Needs{Memory: true}
	needs.Probes.Mode, needs.Values = uprobe.Entries, v.values
	needs.Source.Entries, needs.Source.Once = true, v.opt.Interval > 0
	return needs
}

func (v *Variables) values(s *target.Target, features tracefs.Features) (engine.Values, error) {
	var vars []offsets.Variable
	var paths, names []string
	for i, text := range v.paths {
		path := strings.TrimLeft(text, "*")
		variable, rest, err := findVariable(s.Binary, path)
		if err != nil {
			return nil, err
		}
		names = append(names, strings.TrimSuffix(path, rest))
		variable.Name = fmt.Sprintf("v%d", i) // the dots of a full name would select fields
		vars, paths = append(vars, variable), append(paths, strings.TrimSuffix(text, path)+variable.Name+rest)
	}
	return func(f *offsets.Func, _ *offsets.Sites) (out uprobe.Values, err error) {
		out.Entry, err = capture.NewBuilder(vars, target.FetchOptions(v.opt.Fetch, s.Binary, f, features)).Capture(paths, nil)
		if err != nil {
			text := err.Error()
			for i, name := range slices.Backward(names) { // replace v10 before v1
				text = strings.ReplaceAll(text, vars[i].Name, name)
			}
			return out, cli.Usage("%s", text)
		}
		return out, nil
	}, nil
}

// findVariable returns the variable that a path begins with, and the rest of the path. Among several variables, it returns
// the one with the longest name. A key or type in the path ends the name. The error for an unknown variable suggests
// similar names.
func findVariable(b *offsets.Binary, text string) (v offsets.Variable, rest string, err error) {
	name := text
	if at := strings.IndexAny(name, "\"`("); at > 0 {
		name = name[:at-1]
	}
	var tried []string
	for {
		found, ferr := b.Internals().StaticVariable(name)
		if ferr == nil {
			return found, text[len(name):], nil
		}
		err = cmp.Or(err, ferr)
		tried = append(tried, name)
		cut := strings.LastIndexAny(name, ".[")
		if cut <= strings.LastIndexByte(name, '/') {
			break
		}
		name = name[:cut]
	}
	known, kerr := b.Internals().StaticVariables()
	if kerr != nil {
		return v, "", cli.Nothing("%v", kerr)
	}
	for _, name := range tried {
		near := symname.Nearest(name, slices.Values(known), 3)
		for i := range near {
			near[i] += text[len(name):]
		}
		if len(near) > 0 {
			return v, "", cli.Nothing("%v: did you mean %s?", err, strings.Join(near, ", "))
		}
	}
	return v, "", cli.Nothing("%v", err)
}

func (v *Variables) Begin(s *Scene) error {
	v.begin(s)
	return render.VariableHeader(v.out, v.opt.Format)
}

// Take writes the values that a call fetched.
func (v *Variables) Take(it *pairing.Item) error {
	switch {
	case it.Kind == pairing.Began:
		return v.takeCall(it.Call)
	case it.Kind == pairing.Forgotten:
		v.memory.Forget(it.PID)
	case it.Kind == pairing.Read:
		return v.out.Flush()
	}
	return nil
}

func (v *Variables) takeCall(c *pairing.Call) error {
	values := v.Plan.Funcs[c.Func].Values.Entry.AppendValues(nil, c.Args, v.memory.Process(c))
	for i := range values {
		line := &render.VariableLine{Time: v.Clock.Wall(c.Start), PID: c.PID, Name: v.paths[i], Value: values[i]}
		if err := render.Variable(v.out, v.opt.Format, v.opt.ManyProcesses(), line); err != nil {
			return err
		}
	}
	return v.addWritten(1)
}

func (v *Variables) End(t *trace.Reading) error {
	if err := v.out.Flush(); err != nil {
		return err
	}
	if v.written == 0 {
		v.Env.Say("%s was not called: nothing seen (--at FUNC names another)", strings.Join(v.at, " or "))
	}
	if v.opt.Format != render.JSON && t.Lost == 0 && t.Unparsed == 0 && len(t.Skipped) == 0 {
		return nil
	}
	return writeSummary(v.Env, v.opt.Format, v.Out, nil, t.Summary)
}
