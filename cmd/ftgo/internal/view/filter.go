package view

import (
	"fmt"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/where"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/valuepath"
	"github.com/ftgo/ftgo/internal/valuetext"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/gotype"
)

// funcFilter is --where for the calls of one function.
type funcFilter struct {
	// kernel is the part that the kernel evaluates, pushed what it stands for; rest is
	// what is left.
	kernel string
	pushed []string
	rest   where.Expr
	// atEntry and atReturn are paths that rest needs.
	atEntry, atReturn []string
	// err is the name of the last result if that is an error, else "".
	err string
}

// newFuncFilter splits a filter for a function. The builders are asked for what it needs.
// whole: nothing of it is for the kernel.
func newFuncFilter(e where.Expr, f *offsets.Func, sig *offsets.Signature, entry, ret *capture.Builder, entriesOnly, whole bool) (*funcFilter, error) {
	ff := &funcFilter{}
	if last, ok := lastError(sig); ok {
		ff.err = last.Name
	}
	// side tells where a path's variable is known.
	side := func(path string) *capture.Builder {
		switch {
		case target.HasRoot(sig.Params, path), target.HasRoot(sig.Captured, path):
			return entry
		case target.HasRoot(sig.Results, path):
			return ret
		}
		return nil
	}
	err := e.Check(func(path string) (*gotype.Type, error) {
		b := side(path)
		if b == nil {
			if t, ok := where.Builtin(path); ok {
				if entriesOnly && path == "depth" {
					return nil, fmt.Errorf("--entries does not see calls end: %q", path)
				}
				// Calls that the kernel drops would not count as depth.
				whole = whole || path == "depth"
				return t, nil
			}
			return nil, fmt.Errorf("%s has no variable %q", f.Name, valuepath.Root(path))
		}
		if entriesOnly && b == ret {
			return nil, fmt.Errorf("--entries sees no results: %q", path)
		}
		return b.Type(path)
	})
	if err != nil {
		return nil, cli.WithStatus(cli.ExitUsage, err)
	}
	var pushes []where.Push
	pushes, ff.rest = e.Split(func(r where.Ref) (capture.Field, bool) {
		if whole || side(r.Path) != entry {
			return capture.Field{}, false
		}
		return entry.Field(r.Path, r.Part)
	})
	var texts []string
	for _, p := range pushes {
		room := true
		text := p.Filter(func(r where.Ref, piece where.Piece) string {
			name, ok := entry.Piece(r.Path, piece.Offset, piece.Size)
			room = room && ok
			return name
		})
		if !room {
			// What needs pieces is in rest, too.
			continue
		}
		texts = append(texts, text)
		ff.pushed = append(ff.pushed, p.Expr.String())
	}
	ff.kernel = strings.Join(texts, " && ")
	for _, r := range ff.rest.Refs() {
		path := r.Path
		b := side(path)
		if b == nil && path == "err" && ff.err != "" {
			path, b = ff.err, ret
		}
		switch {
		case b == nil:
		case b == entry:
			ff.atEntry = append(ff.atEntry, path)
		default:
			ff.atReturn = append(ff.atReturn, path)
		}
	}
	return ff, nil
}

// filteredCall is a call as a filter sees it.
type filteredCall struct {
	filter *funcFilter
	line   *render.CallLine
	// entry and ret are the values of filter.atEntry and atReturn; nil if the call has
	// not come there.
	entry, ret []capture.Value
}

// Value is what a path leads to.
func (c *filteredCall) Value(path string) *capture.Value {
	if v := pick(c.filter.atEntry, c.entry, path); v != nil {
		return v
	}
	if v := pick(c.filter.atReturn, c.ret, path); v != nil {
		return v
	}
	t, _ := gotype.Basic("int64")
	v := &capture.Value{Type: t}
	switch l := c.line; path {
	case "ns", "latency":
		if l.End != "return" {
			return nil
		}
		v.Num = uint64(l.NS)
	case "goid":
		v.Num = l.Goid
	case "pid":
		v.Num = uint64(l.PID)
	case "tid":
		v.Num = uint64(l.TID)
	case "cpu":
		v.Num = uint64(l.CPU)
	case "depth":
		v.Num = uint64(l.Depth)
	case "func":
		v.Type, _ = gotype.Basic("string")
		v.Bytes, v.Len = []byte(l.Function), int64(len(l.Function))
	case "err":
		if c.filter.err != "" {
			return pick(c.filter.atReturn, c.ret, c.filter.err)
		}
		v.Type, _ = gotype.Basic("error") // what returns no error never has one
	default:
		return nil
	}
	return v
}

func pick(paths []string, values []capture.Value, path string) *capture.Value {
	for i, p := range paths {
		if p == path && i < len(values) {
			return &values[i]
		}
	}
	return nil
}

// Message is what an error says.
func (c *filteredCall) Message(v *capture.Value) (capture.Value, bool) {
	return valuetext.ErrorMessage(v)
}

// lastError is the last result, if that is an error.
func lastError(sig *offsets.Signature) (v offsets.Variable, ok bool) {
	if n := len(sig.Results); n > 0 {
		v = sig.Results[n-1]
	}
	return v, v.Type != nil && capture.IsError(v.Type)
}
