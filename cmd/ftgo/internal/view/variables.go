package view

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// Variables writes a line for each value of a variable that is seen.
type Variables struct {
	stream
	wanted []string
	at     []string                                // functions
	last   map[int]map[string]*render.VariableLine // by process and name

	globbed map[string]bool // names in wanted that a glob selected
	sayLeft sync.Once
}

// NewVariables returns the view of variables, and parts of them, as they are when functions are
// called.
func NewVariables(o *Options, wanted, at []string) *Variables {
	return &Variables{stream: stream{opt: o}, wanted: wanted, at: at, last: make(map[int]map[string]*render.VariableLine), globbed: make(map[string]bool)}
}

// Needs asks for one call of each process in an interval: the probe then rests.
func (v *Variables) Needs() Needs {
	needs := Needs{Memory: true}
	needs.Probes.Mode, needs.Values = uprobe.Entries, v.values
	needs.Source.Entries, needs.Source.Once = true, v.opt.Interval > 0
	return needs
}

func (v *Variables) values(s *target.Target, features tracefs.Features) (engine.Values, error) {
	var vars []offsets.Variable
	var paths, names []string
	more, err := v.expand(s.Binary)
	if err != nil {
		return nil, err
	}
	for i, text := range v.wanted {
		path := strings.TrimLeft(text, "*")
		variable, rest, err := findVariable(s.Binary, path)
		if err != nil {
			return nil, err
		}
		names = append(names, strings.TrimSuffix(path, rest))
		variable.Name = fmt.Sprintf("v%d", i) // dots in its name are no fields
		vars, paths = append(vars, variable), append(paths, strings.TrimSuffix(text, path)+variable.Name+rest)
	}
	return func(f *offsets.Func, _ *offsets.Sites) (out uprobe.Values, err error) {
		out.Entry, err = capture.NewBuilder(vars, v.opt.Fetch.Options(s.Binary, f, features)).Capture(paths, nil)
		if err != nil {
			text := err.Error()
			for i, name := range names {
				text = strings.ReplaceAll(text, vars[i].Name, name)
			}
			return out, cli.Usage("%s", text)
		}
		left := more
		for i, name := range v.wanted {
			if v.globbed[name] && !out.Entry.Fetches(i) {
				left++
			}
		}
		text := printable.Plural(left, "variable") + " left out: of types that are not known, or more than a probe can fetch (a glob that selects fewer has room)"
		switch {
		case left == len(v.wanted)+more:
			return out, cli.Nothing("%s", text)
		case left > 0:
			v.sayLeft.Do(func() { v.opt.Say("%s", text) })
		}
		return out, nil
	}, nil
}

// maxGlobbed is more than one probe can fetch.
const maxGlobbed = 128

// expand replaces globs by the package variables that they select, the program's own module first. A path like
// *main.pointer is no glob. more counts the variables beyond maxGlobbed.
func (v *Variables) expand(b *offsets.Binary) (more int, err error) {
	var wanted []string
	for _, text := range v.wanted {
		if _, _, err := findVariable(b, strings.TrimLeft(text, "*")); err == nil || !isGlob(text) {
			wanted = append(wanted, text)
			continue
		}
		pattern, err := symname.Compile(text, false)
		if err != nil {
			return 0, cli.Usage("%v", err)
		}
		names, _, err := target.Variables(b)
		if err != nil {
			return 0, cli.Nothing("%v", err)
		}
		selected, unmatched := symname.Select(slices.Values(names), []symname.Pattern{pattern}, nil)
		if len(unmatched) > 0 {
			return 0, cli.Nothing("%s: no variable matches %q", printable.Text(b.File().Path()), text)
		}
		for _, i := range selected[0] {
			switch name := names[i]; {
			case slices.Contains(wanted, name):
			case len(v.globbed) == maxGlobbed:
				more++
			default:
				wanted, v.globbed[name] = append(wanted, name), true
			}
		}
	}
	v.wanted = wanted
	return more, nil
}

// isGlob tells a glob from a path, in which stars lead, or are of a type or a key.
func isGlob(text string) bool {
	return strings.ContainsAny(text, "*?") && !strings.ContainsAny(text, "\"`([")
}

// findVariable finds the variable that a path begins with: the longest name that is one, before any key
// or type. The error names the one that is most like it.
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

// Take writes the values that a call has found.
func (v *Variables) Take(it *pairing.Item) error {
	switch {
	case it.What == pairing.Began:
		return v.seen(it.Call)
	case it.What == pairing.Gone:
		v.memory.Forget(it.PID)
		delete(v.last, it.PID)
	case it.What == pairing.Read:
		return v.flush()
	}
	return nil
}

func (v *Variables) seen(c *pairing.Call) error {
	entry := v.Plan.Funcs[c.Func].Values.Entry
	values := entry.Append(nil, c.Args, v.memory.Process(c))
	for i := range values {
		if v.globbed[v.wanted[i]] && !entry.Fetches(i) {
			continue
		}
		line := &render.VariableLine{Time: v.Clock.Wall(c.Start), PID: c.PID, Name: v.wanted[i], Value: values[i]}
		line.PerSecond = v.change(line)
		if err := render.Variable(v.out, v.opt.Format, v.opt.Mixed(), line); err != nil {
			return err
		}
	}
	return v.wrote(1)
}

// change is the difference per second to the value before, nil if there is none.
func (v *Variables) change(l *render.VariableLine) *float64 {
	number, ok := numberOf(&l.Value)
	if !ok || v.opt.Interval == 0 {
		return nil
	}
	if v.last[l.PID] == nil {
		v.last[l.PID] = make(map[string]*render.VariableLine)
	}
	before, ok := v.last[l.PID][l.Name]
	v.last[l.PID][l.Name] = l
	if !ok {
		return nil
	}
	was, _ := numberOf(&before.Value)
	elapsed := l.Time.Sub(before.Time).Seconds()
	perSecond := (number - was) / elapsed
	if elapsed <= 0 || math.IsNaN(perSecond) || math.IsInf(perSecond, 0) {
		return nil
	}
	return &perSecond
}

// numberOf is a number, or the length of what has one.
func numberOf(v *capture.Value) (float64, bool) {
	if v.State != capture.Known {
		return 0, false
	}
	switch v.Type.Kind {
	case reflect.Int:
		return float64(int64(v.Num)), true
	case reflect.Uint:
		return float64(v.Num), true
	case reflect.Float64:
		return v.Number().(float64), true
	case reflect.String, reflect.Slice, reflect.Map, reflect.Chan:
		return float64(v.Len), true
	}
	return 0, false
}

func (v *Variables) End(t *engine.Table) error {
	if err := v.out.Flush(); err != nil {
		return err
	}
	if v.count == 0 {
		v.Env.Say("%s was not called: nothing seen (--at FUNC names another)", strings.Join(v.at, " or "))
	}
	if v.opt.Format != render.JSON && t.Lost == 0 && t.Unparsed == 0 && len(t.Skipped) == 0 {
		return nil
	}
	return conclude(v.Env, v.opt.Format, v.Out, nil, t.Summary)
}
