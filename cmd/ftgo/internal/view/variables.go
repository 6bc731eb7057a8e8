package view

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/internal/valuetext"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/tracefs"
)

// Variables writes a line for each value of a variable that is seen.
type Variables struct {
	stream
	wanted []string
	at     []string // functions
	last   map[watchKey]*render.VariableLine
}

type watchKey struct {
	pid  int
	name string
}

// NewVariables returns the view of variables, and parts of them, as they are when functions are
// called.
func NewVariables(o *Options, wanted, at []string) *Variables {
	return &Variables{stream: stream{opt: o}, wanted: wanted, at: at, last: make(map[watchKey]*render.VariableLine)}
}

// Needs asks for one call of each process in an interval: the probe then rests.
func (v *Variables) Needs() run.Needs {
	return run.Needs{Mode: uprobe.Entries, Entries: true, Once: v.opt.Every > 0, Memory: true}
}

func (v *Variables) Values(s *target.Target, features tracefs.Features) (run.Values, error) {
	var vars []offsets.Variable
	var paths, names []string
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
		out.Entry, err = capture.NewBuilder(vars, target.Fetch(v.opt.Fetch).Options(s.Binary, f, features)).Capture(paths, nil)
		if err != nil {
			text := err.Error()
			for i, name := range names {
				text = strings.ReplaceAll(text, vars[i].Name, name)
			}
			return out, cli.Usage("%s", text)
		}
		return out, nil
	}, nil
}

// findVariable finds the variable that a path begins with: the longest name that is one, before any key
// or type.
func findVariable(b *offsets.Binary, text string) (v offsets.Variable, rest string, err error) {
	name := text
	if at := strings.IndexAny(name, "\"`("); at > 0 {
		name = name[:at-1]
	}
	for {
		found, ferr := b.StaticVariable(name)
		if ferr == nil {
			return found, text[len(name):], nil
		}
		err = cmp.Or(err, ferr)
		cut := strings.LastIndexAny(name, ".[")
		if cut <= strings.LastIndexByte(name, '/') {
			return v, "", cli.Nothing("%v", err)
		}
		name = name[:cut]
	}
}

func (v *Variables) Begin(s *run.Scene) error {
	v.begin(s)
	if !v.opt.Header {
		return nil
	}
	return render.VariableHeader(v.out, v.opt.Format)
}

func (v *Variables) Entry(c *pairing.Call) error {
	values := v.Plan.Funcs[c.Func].Values.Entry.Decode(c.Args, v.memory.Process(c))
	for i := range values {
		line := &render.VariableLine{Time: v.Clock.Wall(c.Start), PID: c.PID, Name: v.wanted[i], Value: values[i]}
		line.PerSecond = v.change(line)
		if err := render.Variable(v.out, v.opt.Format, v.opt.Mixed, line); err != nil {
			return err
		}
	}
	return v.wrote(1)
}

// change is the difference per second to the value before, nil if there is none.
func (v *Variables) change(l *render.VariableLine) *float64 {
	number, ok := numberOf(&l.Value)
	if !ok || v.opt.Every == 0 {
		return nil
	}
	key := watchKey{l.PID, l.Name}
	before, ok := v.last[key]
	v.last[key] = l
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
		return valuetext.Float(v.Num, v.Type.Size), true
	case reflect.String, reflect.Slice, reflect.Map, reflect.Chan:
		return float64(v.Len), true
	}
	return 0, false
}

func (v *Variables) ProcessEnded(pid int) {
	v.stream.ProcessEnded(pid)
	maps.DeleteFunc(v.last, func(key watchKey, _ *render.VariableLine) bool { return key.pid == pid })
}

func (v *Variables) End(t *trace.Table) error {
	if t == nil {
		return nil
	}
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
